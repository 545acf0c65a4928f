import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { expect } from 'vitest'
import { folderWith, forAll, start } from '../command.js'
import { browserForPrograms, inBrowser } from '../dashboard/browser.js'
import { verdictsIn } from './apps.js'

const here = (name: string) => fileURLToPath(new URL(`session-app/${name}`, import.meta.url))

const browser = forAll(browserForPrograms)

const rules = `
- on: POST /notes
  reply: { status: 201, json: { id: 1 } }
- on: GET /notes
  reply: { json: [] }
- on: GET /profiles/*
  reply: { json: { name: Ada } }
`

/** Runs the app below the adversary: a page with Supabase's client, and a server that knows the session by its cookies. */
async function tried(isWrong: boolean, ...flags: readonly string[]) {
  const page = `${folderWith()}/page.js`
  const bundle = await rolldown({ input: here('page.js'), platform: 'browser' })
  await bundle.write({ file: page, format: 'iife' })
  const settings = JSON.stringify({ page, browser: await browser(), isWrong })
  return start(['exec', '--adversary', ...flags, '--', process.execPath, here('server.js'), settings], {
    files: { 'platform.config.yaml': "auth: { testOtp: '123456' }", 'fixtures/replies/rules.yaml': rules },
  }).ended
}

const found = (end: Parameters<typeof verdictsIn>[0]) => [
  ...new Set(verdictsIn(end).map(({ fault, code, isBug }) => `${fault}: ${code}${isBug ? '' : ' (note)'}`)),
]

inBrowser('the seven bugs of a page and its server with sessions are found', { timeout: 300_000 }, async () => {
  const faults = ['link-used', 'refresh-429', 'refresh-503', 'refresh-lost', 'revoked', 'clock-ahead']
  const end = await tried(true, '--json', '--faults', faults.map(name => `session-${name}`).join(','))
  expect(found(end).toSorted()).toEqual([
    'session-clock-ahead: stale-session-used',
    'session-clock-ahead: work-lost',
    'session-link-used: retry-storm',
    'session-refresh-429: signed-out-by-429',
    'session-refresh-503: refresh-storm',
    'session-refresh-lost: signed-out',
    'session-revoked: served-after-revocation',
  ])
})

inBrowser('a page and a server that do everything right get no verdict', { timeout: 300_000 }, async () => {
  const end = await tried(false, '--faults', 'session')
  expect(end.stdout).toMatch(/\n17 runs with a fault: nothing to report/)
  expect(end.stdout).not.toContain('not tried')
  expect(end.code).toBe(0)
})
