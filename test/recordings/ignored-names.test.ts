import { expect, test } from 'vitest'
import type { PlatformOptions } from '../../src/index.js'
import { type IgnoreOption, ignoreFrom } from '../../src/recordings/ignore.js'
import { requestKey } from '../../src/recordings/key.js'
import { folderWith, run } from '../command.js'
import { hello } from '../scene.js'
import { liveWith, saying, tape } from './live.js'
import { asking } from './scene.js'

const same = (ignore: readonly IgnoreOption[], [one, other]: readonly unknown[]) => {
  const key = (content: unknown) => requestKey(asking({ model: 'm', user: content }), ignoreFrom(ignore))
  return key(one) === key(other)
}

test.each([
  ['dates', ['It is 2026-11-28.', 'It is 2027-01-02.']],
  ['dates', ['Today is Saturday, 28 November 2026', 'Today is Sunday, 6 December 2026']],
  ['dates', ['on November 28, 2026 (Saturday)', 'on Dec. 1st, 2026 (Tue)']],
  ['dates', ['28/11/2026 and 2026/11/28', '01/12/2026 and 2026/12/1']],
  ['dates', ['28.11.2026, 11/28/26', '1.12.2026, 12/01/26']],
  ['dates', ['Since May 2026', 'Since August 2025']],
  ['times', ['at 14:05', 'at 9:30:12']],
  ['times', ['at 2:05 PM CET', 'at 11 am']],
  ['times', ['2026-11-28T14:05:33.123Z', '2026-11-28T09:00:00+01:00']],
  ['times', ['job 1764330000, 1764330000123', 'job 1799999999, 1799999999000']],
  ['times', [1764330000, 1764330001]],
  ['uuids', ['user-550e8400-e29b-41d4-a716-446655440000', 'user-0190b6fe-7c3b-7f5e-9c1d-2f6a1b3c4d5e']],
  ['uuids', ['550e8400e29b41d4a716446655440000', '0190b6fe7c3b7f5e9c1d2f6a1b3c4d5e']],
  ['ids', ['call_2xjgftHyYpODTyaquK1la2PI', 'call_C9iW16PqMRkzskjudk2YhiBR']],
  ['ids', ['req_ad721c7225f19227 V1StGXR8_Z5jdHi6B-myT', 'req_6d930f49b484e53a drYoQ7xsMmCkgV3jR6Evl']],
  ['ids', ['01ARZ3NDEKTSV4RRFFQ69G5FAV 5041cef664b7ad23', '01BX5ZZKBKACTAV9WEVGEMMVRZ f63322371a590f4b']],
] as const)('%s: %j count as the same', (name, pair) => {
  expect(same([name], pair)).toBe(true)
  expect(same([{ path: 'user', pattern: name }], pair)).toBe(true)
  expect(same([{ path: 'model', pattern: name }], pair)).toBe(false)
  expect(same([], pair)).toBe(false)
})

test('what Date prints has a date and a time', () => {
  const pair = [new Date(0), new Date(1_764_330_000_000)]
  for (const form of ['toString', 'toUTCString', 'toISOString', 'toLocaleString'] as const) {
    const texts = pair.map(date => date[form]())
    expect([same(['dates', 'times'], texts), same(['dates'], texts)]).toEqual([true, false])
  }
})

test.each([
  ['gpt-4o-2024-08-06', 'gpt-4o-2024-11-20'],
  ['Book a table on Friday', 'Book a table on Saturday'],
  ['Is it May?', 'Is it June?'],
  ['4155550123', '4155550124'],
  ['call_center_north', 'call_center_south'],
  ['getUserByEmailAddress', 'getTeamByEmailAddress'],
  ['text-embedding-3-large', 'text-embedding-3-small'],
  ['1.2.3', '1.2.4'],
])('%s and %s are never the same', (one, other) => {
  expect(same(['dates', 'times', 'uuids', 'ids'], [one, other])).toBe(false)
})

test('names do not apply to models and versions, and a field of such a name is written with $', () => {
  const ignore = ignoreFrom(['dates'])
  const key = (body: object, query = '') => requestKey(asking(body, { query }), ignore)
  expect(key({ model: '2024-08-06' })).not.toBe(key({ model: '2024-11-20' }))
  expect(key({}, 'api-version=2024-08-06')).not.toBe(key({}, 'api-version=2024-11-20'))
  expect(key({}, 'day=2024-08-06')).toBe(key({}, 'day=2024-11-20'))
  expect(ignoreFrom(['$.dates']).inJson({ dates: [1] })).toEqual({})
})

/** A tape with the answer to one request, as `before`, which is asked again as `now`. */
async function askedAgain(
  before: object,
  now: object,
  ignore: NonNullable<PlatformOptions['recordings']>['ignore'] = [],
) {
  const live = await liveWith(saying({ id: 'live' }))
  const scene = tape(live.url)
  const recording = await scene.recording()
  await (await recording.chat(before)).text()
  await recording.stop()
  const platform = await scene.replaying({ recordings: { ignore } })
  const response = await platform.chat(now)
  return { ...scene, platform, status: response.status, said: await response.text() }
}

const on = (day: string, more: object = {}) => ({
  ...hello,
  messages: [{ role: 'system', content: `Answer briefly.\n${day}` }, ...hello.messages],
  ...more,
})

test.each([
  ['Only a date differs.', '[dates]', on('2026-11-28'), on('2026-11-29')],
  ['Only a date and a time differ.', '[dates, times]', on('28 Nov 2026 14:05'), on('1 Dec 2026 9:30')],
  ['Only an id differs.', '[ids]', on('run_2xjgftHyYpODTyaq'), on('run_C9iW16PqMRkzskju')],
  [
    'Only metadata.requestId differs.',
    '[metadata.requestId]',
    { ...hello, metadata: { requestId: 'r-1' } },
    { ...hello, metadata: { requestId: 'r-2' } },
  ],
  [
    'Only a date and user differ.',
    '[dates, user]',
    on('2026-11-28', { user: '550e8400-e29b-41d4-a716-446655440000' }),
    on('2026-11-29', { user: '0190b6fe-7c3b-7f5e-9c1d-2f6a1b3c4d5e' }),
  ],
])('a miss that says "%s" is none with the line that it suggests', async (sentence, line, before, now) => {
  const { platform, status, said } = await askedAgain(before, now)
  const advice = `${sentence} Add to platform.config.yaml: recordings.ignore: ${line}`
  expect(status).toBe(424)
  expect(said).toContain(advice)
  await expect(platform.expectNoMisses()).rejects.toThrow(`\n→ ${advice}`)
  expect((await platform.journal.last())?.advice).toBe(advice)
  const again = await askedAgain(before, now, [...((await platform.misses())[0]?.nearest?.ignore ?? [])])
  expect(again.status).toBe(200)
})

test('a date in a path is one that can be ignored, and so is a parameter of the query', async () => {
  const live = await liveWith(saying({ id: 'live' }))
  const { recording, replaying } = tape(live.url)
  const { ask, stop } = await recording()
  await (await ask('/v1/reports/2026-11-28?nonce=1')).text()
  await stop()
  const platform = await replaying()
  expect((await platform.ask('/v1/reports/2026-11-28?nonce=2')).status).toBe(424)
  expect((await platform.ask('/v1/reports/2026-11-29?nonce=2')).status).toBe(404)
  const advice =
    'Only a date and query.nonce differ. Add to platform.config.yaml: recordings.ignore: [dates, { query: nonce }]'
  await expect(platform.expectNoMisses()).rejects.toThrow(advice)
  const ignoring = await replaying({ recordings: { ignore: ['dates', { query: 'nonce' }] } })
  expect((await ignoring.ask('/v1/reports/2026-11-29?nonce=2')).status).toBe(200)
})

test.each([
  ['another question', on('2026-11-28'), { ...on('2026-11-29'), temperature: 0 }],
  ['another model', { ...hello, model: 'gpt-4o-2024-08-06' }, { ...hello, model: 'gpt-4o-2024-11-20' }],
  ['another unit', { ...hello, metadata: { unit: 'm' } }, { ...hello, metadata: { unit: 'km' } }],
])('a miss because of %s is not to be ignored', async (_, before, now) => {
  const { platform, said } = await askedAgain(before, now)
  expect(said).not.toContain('recordings.ignore')
  expect(await platform.misses()).toMatchObject([{ nearest: { file: expect.any(String) } }])
  expect((await platform.misses())[0]?.nearest).not.toHaveProperty('ignore')
})

test('standin exec says once what to ignore, and not to record it again', async () => {
  const { dir } = await askedAgain(on('2026-11-28'), hello)
  const program = `for (const day of ['2026-11-29', '2026-11-30']) await fetch(process.env.OPENAI_BASE_URL + '/chat/completions', {
    method: 'POST',
    headers: { authorization: 'Bearer ' + process.env.OPENAI_API_KEY, 'content-type': 'application/json' },
    body: JSON.stringify(${JSON.stringify(on('DAY'))}).replace('DAY', day),
  })`
  const cwd = folderWith({ 'child.mjs': program })
  const { stderr } = await run([
    'exec',
    '--mode',
    'replay',
    '--recordings',
    dir,
    '--',
    process.execPath,
    `${cwd}/child.mjs`,
  ])
  expect(stderr.split('→ Only a date differs. Add to platform.config.yaml: recordings.ignore: [dates]')).toHaveLength(2)
  expect(stderr).toContain('2 missed')
  expect(stderr).not.toContain('Record what is missing')
})
