import { fork } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { folderWith, forAll } from '../command.js'
import { platformWith, type Scene } from '../scene.js'

const config = fileURLToPath(new URL('conformance.yaml', import.meta.url))
const suite = path.join(import.meta.dirname, 'suite.mjs')
const forNode20 = pathToFileURL(path.join(import.meta.dirname, 'node-20.mjs')).href

/** Runs the suite with these arguments; resolves to its output. All tests share one process. */
const runner = forAll(async until => {
  const execArgv = 'globSync' in process.getBuiltinModule('node:fs') ? [] : ['--import', forNode20]
  const child = fork(suite, { cwd: folderWith({}, until), execArgv, stdio: ['ignore', 'inherit', 'ignore', 'ipc'] })
  until(() => void child.kill())
  const ended = once(child, 'exit').then(([code]) => Promise.reject(new Error(`The suite ended with ${code}.`)))
  // It may end after the tests.
  ended.catch(() => {})
  const outputs: ((output: string) => void)[] = []
  child.on('message', ({ id, output }: { id: number; output: string }) => outputs[id]?.(output))
  return (args: readonly string[]) => {
    const output = new Promise<string>(resolve => child.send({ id: outputs.push(resolve) - 1, args }))
    return Promise.race([output, ended])
  }
})

/** Runs what a revision of the specification requires. Resolves to the failing scenarios and the number of passing ones. */
async function requirements(revision: string, url: string) {
  const run = await runner()
  const output = await run(['server', '--url', `${url}/mcp`, '--requirements', revision])
  const [scored = ''] = output.split('=== SUMMARY ===').slice(1).join('').split('\nTotal:')
  const optional = new Set([...output.matchAll(/^ {2}[✓✗] (\S+) \(/gm)].map(([, name]) => name))
  const required = [...scored.matchAll(/^([✓✗]) ([\w-]+):/gm)].filter(([, , name]) => !optional.has(name))
  const failing = required.filter(([, mark]) => mark === '✗').map(([, , name = '']) => name)
  return { failing, passing: required.length - failing.length, output: failing.length > 0 ? output : '' }
}

const revisions = [
  ['2025-11-25', 30],
  ['2026-07-28', 37],
] as const

/** Does this for both revisions in parallel, since most of the time is spent waiting. */
const withEach = (work: (revision: string, scenarios: number) => Promise<void>) =>
  Promise.all(revisions.map(([revision, scenarios]) => work(revision, scenarios)))

/** For a machine with all cores busy. The suite itself times out some calls after half a second, so a failure is retried once. */
const patient = { timeout: 300_000, retry: 1 }

const passed = (scenarios: number) => ({ failing: [], passing: scenarios, output: '' })

/** The options of a platform between the suite and the server `live`. */
const inFrontOf = (live: Scene) =>
  ({ mcp: { '/mcp': { access: 'anyone' } }, upstream: { baseUrl: live.url, apiKey: live.apiKey } }) as const

test('the conformance suite passes with both revisions, from one YAML file, and in mode proxy', patient, async () => {
  const live = await platformWith({ config, port: 0, state: 'memory' })
  const between = await platformWith({ mode: 'proxy', ...inFrontOf(live) })
  await withEach(async (revision, scenarios) => {
    const results = await Promise.all([live, between].map(({ url }) => requirements(revision, url)))
    expect(results).toEqual([passed(scenarios), passed(scenarios)])
  })
})

// All scenarios can be recorded, the subscriptions of 2026-07-28 too: their streams are replayed as far as they were recorded.
test(
  'the conformance suite passes with both revisions while it is recorded, and from the recording',
  patient,
  async () => {
    const live = await platformWith({ config, port: 0, state: 'memory' })
    await withEach(async (revision, scenarios) => {
      const between = { ...inFrontOf(live), recordings: { dir: folderWith(), speed: 0 } }
      const recorder = await platformWith({ mode: 'record', ...between })
      expect(await requirements(revision, recorder.url)).toEqual(passed(scenarios))
      await recorder.stop()
      const { url } = await platformWith({ mode: 'replay', ...between })
      expect(await requirements(revision, url)).toEqual(passed(scenarios))
    })
  },
)
