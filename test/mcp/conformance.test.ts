import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { folderWith } from '../command.js'
import { platformWith } from '../scene.js'

const suite = fileURLToPath(import.meta.resolve('@modelcontextprotocol/conformance/dist/index.js'))
const config = fileURLToPath(new URL('conformance.yaml', import.meta.url))
const forNode20 = new URL('node-20.mjs', import.meta.url).href

/** Runs what a revision of the specification requires. Resolves to the scenarios that fail, and how many there are. */
function requirements(revision: string, url: string) {
  const globSync = 'globSync' in process.getBuiltinModule('node:fs') ? [] : ['--import', forNode20]
  const args = [...globSync, suite, 'server', '--url', `${url}/mcp`, '--requirements', revision]
  return new Promise<{ failing: string[]; passing: number; output: string }>(resolve => {
    execFile(process.execPath, args, { cwd: folderWith(), maxBuffer: 2 ** 26 }, (_error, stdout) => {
      const [scored = ''] = stdout.split('=== SUMMARY ===').slice(1).join('').split('\nTotal:')
      const optional = new Set([...stdout.matchAll(/^ {2}[✓✗] (\S+) \(/gm)].map(([, name]) => name))
      const required = [...scored.matchAll(/^([✓✗]) ([\w-]+):/gm)].filter(([, , name]) => !optional.has(name))
      const failing = required.filter(([, mark]) => mark === '✗').map(([, , name = '']) => name)
      resolve({ failing, passing: required.length - failing.length, output: failing.length > 0 ? stdout : '' })
    })
  })
}

test.each([
  ['2025-11-25', 30],
  ['2026-07-28', 37],
])('the conformance suite passes with %s, from one YAML file', async (revision, scenarios) => {
  const platform = await platformWith({ config, port: 0, state: 'memory' })
  expect(await requirements(revision, platform.url)).toEqual({ failing: [], passing: scenarios, output: '' })
})

// All of them can be recorded, the subscriptions of 2026-07-28 too: their streams are played as long as they were heard.
test.each([
  ['2025-11-25', 30],
  ['2026-07-28', 37],
])(
  'and through a second Standin that records it, and again from the recording, with %s',
  async (revision, scenarios) => {
    const live = await platformWith({ config, port: 0, state: 'memory' })
    const between = {
      mcp: { '/mcp': { access: 'anyone' } },
      recordings: { dir: folderWith(), speed: 0 },
      upstream: { baseUrl: live.url, apiKey: live.apiKey },
    } as const
    const recorder = await platformWith({ mode: 'record', ...between })
    const all = { failing: [], passing: scenarios, output: '' }
    expect(await requirements(revision, recorder.url)).toEqual(all)
    await Promise.all([recorder.stop(), live.stop()])
    const { url } = await platformWith({ mode: 'replay', ...between })
    expect(await requirements(revision, url)).toEqual(all)
  },
)
