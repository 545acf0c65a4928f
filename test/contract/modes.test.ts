/** The same contract in every mode: emulated, carried to another process, and played from what was recorded there. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { clauses, contractSuite, createTarget, judgeAll, type ReceivedAnswer } from '../../src/contract/index.js'
import { developmentUser } from '../../src/core/secrets.js'
import { type Platform, type PlatformOptions, startPlatform } from '../../src/index.js'
import { otherProcess } from './other-process.js'
import { overhearing, overSupertest } from './overheard.js'

let live: Awaited<ReturnType<typeof otherProcess>>
let dir: string
const opened: Platform[] = []

/** A platform that asks the other process, or plays what that has said. */
async function inMode(mode: 'emulate' | 'proxy' | 'record' | 'replay') {
  const { url: baseUrl, apiKey, anonKey } = live
  const options: PlatformOptions = { mode, upstream: { baseUrl, apiKey, anonKey }, recordings: { dir, speed: 0 } }
  const platform = await startPlatform(options)
  opened.push(platform)
  return platform
}

/** What the contract says of a platform, and what that said to each call. */
async function judged({ url, apiKey, anonKey }: Pick<Platform, 'url' | 'apiKey' | 'anonKey'>) {
  const { send, heard } = overhearing(url)
  const target = createTarget({ url, apiKey, anonKey, ...developmentUser, send })
  const findings = await judgeAll({ target, table: clauses, wanted: clauses })
  return { verdicts: findings.map(({ clause, verdict }) => [clause.id, verdict]), heard }
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

describe('emulated, asked with supertest', () => {
  const target = async () => {
    const platform = await inMode('emulate')
    return { ...platform, ...developmentUser, send: overSupertest(platform.url) }
  }
  contractSuite({ target, strict: true, test, describe })
})

describe('carried to another process', () => {
  const target = async () => ({ ...(await inMode('proxy')), ...developmentUser })
  contractSuite({ target, strict: true, test, describe })
})

describe('played from recordings', () => {
  const target = async () => ({ ...(await inMode('replay')), ...developmentUser })
  contractSuite({ target, strict: true, test, describe })
})

const bytesOf = (heard: ReadonlyMap<string, ReceivedAnswer>) =>
  [...heard]
    .map(([call, { status, headers, text }]) => [call, status, headers.get('content-type'), text] as const)
    .sort(([one], [other]) => (one < other ? -1 : 1))

test('what is played is what was recorded, byte for byte', async () => {
  const played = await judged(await inMode('replay'))
  expect(bytesOf(played.heard)).toEqual(bytesOf(recorded.heard))
  expect(played.heard.size).toBeGreaterThan(40)
  expect(played.verdicts).toEqual(recorded.verdicts)
})

test('through the proxy all is as the other process says it itself, but for the ids and times of completions', async () => {
  const [direct, proxied] = [await judged(live), await judged(await inMode('proxy'))]
  const timeless = (heard: ReadonlyMap<string, ReceivedAnswer>) =>
    bytesOf(heard).map(([call, status, type, text]) => [
      call,
      status,
      type,
      text.replaceAll(/"chatcmpl-\w+"/g, '"id"').replaceAll(/"created":\d+/g, '"created":0'),
    ])
  expect(timeless(proxied.heard)).toEqual(timeless(direct.heard))
  expect(proxied.verdicts).toEqual(direct.verdicts)
})
