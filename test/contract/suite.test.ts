/** The contract as a suite: for handlers and addresses, in any test runner. */
import { spawnSync } from 'node:child_process'
import http from 'node:http'
import path from 'node:path'
import express from 'express'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { ContractError, contractSuite, contractTests } from '../../src/contract/index.js'
import { folderWith } from '../command.js'
import { platformWith } from '../scene.js'
import { mustBe } from '../sentences.js'
import { breaking, type Change } from './breaking.js'
import { otherProcess } from './other-process.js'

/** Handles requests like a stand-in, except for one change. */
async function handling(change: Change = () => undefined) {
  const base = await platformWith()
  const { apiKey, anonKey } = base
  return { handler: breaking(base, change), apiKey, anonKey }
}

const shortVersion: Change = (_, answer) => ({
  ...answer,
  text: answer.text.replace('"version":"1.0.0"', '"version":"1"'),
})

const outcomes = async (tests: ReturnType<typeof contractTests>) =>
  Object.fromEntries(await Promise.all(tests.map(async ({ clause, judge }) => [clause.id, (await judge()).kind])))

test('a listener, an Express app and a server can each be a target without an address', async () => {
  const { handler, ...keys } = await handling()
  const app = express().use(handler)
  const server = http.createServer(handler)
  onTestFinished(() => void server.close())
  for (const one of [handler, app, server]) {
    const tests = contractTests({ target: { handler: one, ...keys }, only: 'HEALTH-1,EP-*' })
    expect(await outcomes(tests)).toEqual({
      'EP-1': 'held',
      'EP-2': 'held',
      'EP-3': 'held',
      'EP-4': 'held',
      'HEALTH-1': 'held',
    })
  }
})

test('a broken clause fails with what was expected, what came, and what the document says', async () => {
  const target = await handling(shortVersion)
  const [version] = contractTests({ target, only: 'HEALTH-3' })
  const error = await version?.run().catch(error => error)
  expect(error).toBeInstanceOf(ContractError)
  expect(error.message.split('\n')).toEqual([
    'HEALTH-3 The health response has a version: a string of three numbers separated by dots.',
    'Expected: a version such as 1.0.0',
    mustBe('Received: version', 'three numbers separated by dots', '1'),
    'The document says: | version | string | Service version in dotted numeric form <major.minor.patch>. |',
    'The document says: The health response carries a version string field.',
    'Request: GET /health (no credential)',
    'Response: 200, content-type: application/json',
    '{"status":"ok","version":"1"}',
  ])
})

test('a decided clause that a target breaks fails only in strict mode', async () => {
  const target = await handling((_, answer) => ({ ...answer, headers: {} }))
  const cors = (strict: boolean) => contractTests({ target, only: 'CORS-D1', strict })[0]
  expect(await cors(false)?.run()).toMatch(/^Differs from what Standin does: no such header, not /)
  await expect(cors(true)?.run()).rejects.toThrow(
    'CORS-D1 Web pages on the same machine, such as http://localhost:3000, may call the platform.',
  )
})

test('a clause that cannot be checked is skipped with the reason', async () => {
  const { apiKey: _, ...target } = await handling()
  const [chat] = contractTests({ target, only: 'CHAT-1' })
  expect(await chat?.run()).toBe('Skipped: no API key is given.')
})

test('each request is sent once, in whatever order and however often the tests run', async () => {
  const requests: string[] = []
  const target = await handling(({ method, path }) => void requests.push(`${method} ${path}`))
  const tests = contractTests({ target, only: 'HEALTH-*' })
  await Promise.all([...tests.toReversed(), ...tests].map(({ run }) => run()))
  expect(requests).toEqual(['GET /health'])
})

test('clauses are selected by id, section or source, and selecting none is an error', async () => {
  const idsOf = (only: string) =>
    contractTests({ target: { url: 'http://127.0.0.1' }, only }).map(({ clause }) => clause.id)
  expect(idsOf('health-*, LIMIT-D1')).toEqual(['HEALTH-1', 'HEALTH-2', 'HEALTH-3', 'HEALTH-D1', 'LIMIT-D1'])
  expect(idsOf('limits')).toEqual(['LIMIT-D1'])
  expect(idsOf('documented').filter(id => id.includes('-D'))).toEqual([])
  expect(idsOf('documented').length + idsOf('decided').length).toBe(idsOf('*').length)
  expect(() => idsOf('HEALTH-9')).toThrow(RangeError)
  expect(() => idsOf('')).toThrow(RangeError)
})

test('a runner without skipping gets a warning on the console, and its tests take no parameter', async () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
  onTestFinished(() => warn.mockRestore())
  const defined: (() => Promise<void>)[] = []
  contractSuite({
    target: { url: 'http://127.0.0.1:9' },
    only: 'EP-3',
    describe: (_, define) => define(),
    test: (_, run) => void defined.push(run),
  })
  expect(defined.map(({ length }) => length)).toEqual([0])
  await defined[0]?.()
  expect(warn.mock.calls).toEqual([[expect.stringMatching(/^EP-3 .* Skipped: no API key is given\.$/)]])
})

describe('the built package', () => {
  const contract = new URL('../../dist/contract.js', import.meta.url)
  const script = (only: string) => `
    import { describe, test } from 'node:test'
    import { contractSuite } from ${JSON.stringify(contract)}
    const { URL: url, API_KEY: apiKey, ANON_KEY: anonKey } = process.env
    contractSuite({ target: { url, apiKey, anonKey }, only: ${JSON.stringify(only)}, test, describe })`

  /** Runs the suite with node's own runner. */
  function ran(only: string, env: Record<string, string>) {
    const dir = folderWith({ 'contract.test.mjs': script(only) })
    const args = ['--test-reporter=tap', '--test', path.join(dir, 'contract.test.mjs')]
    return spawnSync(process.execPath, args, { encoding: 'utf8', env: { PATH: process.env.PATH, ...env } })
  }

  test("node's own runner runs the suite, and reports what was skipped", async () => {
    // spawnSync blocks this process, so the target has to be in another one.
    const { url, apiKey, anonKey, stop } = await otherProcess()
    onTestFinished(stop)
    const { status, stdout } = ran('HEALTH-*,AUTH-2', { URL: url, API_KEY: apiKey, ANON_KEY: anonKey })
    expect(stdout).toMatch(/ok \d+ - HEALTH-3 /)
    expect(stdout).toMatch(/ok \d+ - AUTH-2 .* # SKIP Skipped: no email and password are given\./)
    expect(status).toBe(0)
  })

  test("node's own runner fails if a clause is broken", () => {
    const { status, stdout } = ran('EP-1', { URL: 'http://127.0.0.1:1' })
    expect(stdout).toMatch(/not ok \d+ - EP-1 /)
    expect(status).toBe(1)
  })
})
