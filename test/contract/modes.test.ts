/** The same contract in every mode: emulated, proxied to another process, and replayed from recordings of that process. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { clauses, createTarget, judgeAll, type ReceivedAnswer } from '../../src/contract/index.js'
import { developmentUser } from '../../src/core/secrets.js'
import { type Platform, type PlatformOptions, startPlatform } from '../../src/index.js'
import { otherProcess } from './other-process.js'
import { rememberingSend } from './senders.js'

let live: Awaited<ReturnType<typeof otherProcess>>
let dir: string
const opened: Platform[] = []

/** A platform that calls the other process, or replays its recorded answers. */
async function inMode(mode: 'emulate' | 'proxy' | 'record' | 'replay') {
  const { url: baseUrl, apiKey, anonKey } = live
  const options: PlatformOptions = { mode, upstream: { baseUrl, apiKey, anonKey }, recordings: { dir, speed: 0 } }
  const platform = await startPlatform(options)
  opened.push(platform)
  return platform
}

/** The verdicts on a platform, and its answer to each call. */
async function judged({ url, apiKey, anonKey }: Pick<Platform, 'url' | 'apiKey' | 'anonKey'>) {
  const { send, answers } = rememberingSend(url)
  const target = createTarget({ url, apiKey, anonKey, ...developmentUser, send })
  const findings = await judgeAll({ target, table: clauses, wanted: clauses })
  return { verdicts: findings.map(({ clause, verdict }) => [clause.id, verdict] as const), answers }
}

let recorded: Awaited<ReturnType<typeof judged>>

beforeAll(async () => {
  live = await otherProcess()
  dir = mkdtempSync(path.join(tmpdir(), 'standin-'))
  const recorder = await inMode('record')
  recorded = await judged(recorder)
  await recorder.stop()
})

afterAll(async () => {
  await Promise.all(opened.map(platform => platform.stop()))
  await live.stop()
  rmSync(dir, { recursive: true, force: true })
})

/** The clauses that do not hold. */
const notHeld = ({ verdicts }: typeof recorded) => verdicts.filter(([, { kind }]) => kind !== 'held')

test('every clause holds in mode emulate', async () => {
  expect(notHeld(await judged(await inMode('emulate')))).toEqual([])
})

const bytesOf = (answers: ReadonlyMap<string, ReceivedAnswer>) =>
  [...answers]
    .map(([call, { status, headers, text }]) => [call, status, headers.get('content-type'), text] as const)
    .sort(([one], [other]) => (one < other ? -1 : 1))

test('every clause holds in modes record and replay, and a replayed answer is the recorded one, byte for byte', async () => {
  expect(notHeld(recorded)).toEqual([])
  const replayed = await judged(await inMode('replay'))
  expect(bytesOf(replayed.answers)).toEqual(bytesOf(recorded.answers))
  expect(replayed.answers.size).toBeGreaterThan(40)
  expect(replayed.verdicts).toEqual(recorded.verdicts)
})

test('every clause holds in mode proxy, which returns the answers of the other process, except for the ids and times of completions', async () => {
  const [direct, proxied] = [await judged(live), await judged(await inMode('proxy'))]
  const timeless = (answers: ReadonlyMap<string, ReceivedAnswer>) =>
    bytesOf(answers).map(([call, status, type, text]) => [
      call,
      status,
      type,
      text.replaceAll(/"chatcmpl-\w+"/g, '"id"').replaceAll(/"created":\d+/g, '"created":0'),
    ])
  expect(notHeld(proxied)).toEqual([])
  expect(timeless(proxied.answers)).toEqual(timeless(direct.answers))
  expect(proxied.verdicts).toEqual(direct.verdicts)
})
