import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { recordingIn } from '../../src/recordings/file-text.js'
import { bodyOf } from '../../src/recordings/index.js'
import { folderWith } from '../command.js'
import { nameOfRecording, recordingOf } from '../dashboard/lists.js'
import { liveWith, saying, tape } from '../recordings/live.js'
import { eventsOf, hello, platformWith, type Scene, textOfChunks } from '../scene.js'

const recordings = '/__standin/recordings'
const json = { 'content-type': 'application/json' }

interface Listed {
  readonly file: string
  readonly said?: string
  readonly used?: boolean
  readonly stale?: boolean
  readonly problem?: string
}

interface List {
  readonly folder: string
  readonly data: readonly Listed[]
  readonly total: number
}

const bare = { bearer: null } as const

const listed = async ({ ask }: Scene, query = '') => (await (await ask(recordings + query, bare)).json()) as List

const lastId = async ({ ask }: Scene) => {
  const response = await ask('/__standin/journal?limit=1', bare)
  return ((await response.json()) as { data: readonly [{ id: string }] }).data[0].id
}

const make = (scene: Scene, exchange: string, more: object = {}) =>
  scene.ask(recordings, { ...bare, method: 'POST', headers: json, body: JSON.stringify({ exchange, ...more }) })

/** Makes a recording of the last exchange. */
const makeOfLast = async (scene: Scene, more: object = {}) => make(scene, await lastId(scene), more)

const fileOf = async (response: Response | Promise<Response>) =>
  ((await (await response).json()) as { file: string }).file

const errorOf = async (response: Response) => [response.status, ((await response.json()) as { error: string }).error]

const rules = [{ name: 'greeting', when: { user: 'hello' }, reply: { text: 'Hi from a rule, one word at a time.' } }]

/** A platform with rules, and a folder without recordings so far. */
async function emulating(more = {}) {
  const { dir, files, text } = tape()
  const platform = await platformWith({ rules, recordings: { dir }, ...more })
  return { platform, dir, files, text }
}

test('the answer of a rule can become a recording, and replay finds it', async () => {
  const { platform, files } = await emulating()
  const first = await (await platform.chat(hello)).text()
  const made = await makeOfLast(platform)
  expect(made.status).toBe(201)
  const file = await fileOf(made)
  expect(file).toMatch(/^chat-completions\/gpt-4o-mini-hello-[0-9a-f]{12}\.yaml$/)
  expect(files()).toEqual([file])
  platform.switchMode('replay')
  expect(await (await platform.chat(hello)).text()).toBe(first)
})

test('a recording made from the journal is the same file that mode record would write', async () => {
  const live = await platformWith({ rules })
  const recorded = tape(live.url)
  const recording = await recorded.recording({ upstream: { apiKey: live.apiKey } })
  await (await recording.chat(hello)).text()
  await recording.stop()
  const passed = tape(live.url)
  const proxy = await platformWith({
    mode: 'proxy',
    upstream: { baseUrl: live.url, apiKey: live.apiKey },
    recordings: { dir: passed.dir },
  })
  await (await proxy.chat(hello)).text()
  await makeOfLast(proxy)
  expect(passed.files()).toEqual(recorded.files())
  const withoutTimes = (text: string) =>
    text.replace(/(recordedAt|headMs|endMs): .*|chatcmpl-\w+|req_\w+|"created":\d+|created: \d+/g, '')
  expect(withoutTimes(passed.text())).toBe(withoutTimes(recorded.text()))
})

test('a stream is recorded piece by piece, with the times at which the pieces were sent', async () => {
  const { platform, text } = await emulating({ pace: { firstTokenMs: 30, tokensPerSecond: 100, jitter: 0 } })
  const request = { ...hello, stream: true, stream_options: { include_usage: true } }
  const received = await (await platform.chat(request)).text()
  await makeOfLast(platform)
  const { response } = recordingIn(text(), 'it')
  expect(bodyOf(response).toString()).toBe(received)
  const times = response.chunks.map(({ atMs }) => atMs)
  expect(times.length).toBeGreaterThan(5)
  expect(times).toEqual(times.toSorted((a, b) => a - b))
  expect(times[0]).toBeGreaterThanOrEqual(25)
  // A first piece that a busy machine sends late leaves less time for the others, but none is sent early.
  expect(times.at(-1)).toBeGreaterThan(65)
  expect(response.endMs).toBeGreaterThanOrEqual(times.at(-1) ?? 0)
})

test('a stream without any pause is recorded event by event', async () => {
  const { platform, text } = await emulating()
  const received = await (await platform.chat({ ...hello, stream: true })).text()
  await makeOfLast(platform)
  const { response } = recordingIn(text(), 'it')
  expect(bodyOf(response).toString()).toBe(received)
  expect(response.chunks).toHaveLength(received.split('\n\n').length - 1)
  platform.switchMode('replay')
  const { chunks } = eventsOf(await (await platform.chat({ ...hello, stream: true })).text())
  expect(textOfChunks(chunks)).toBe('Hi from a rule, one word at a time.')
})

test('a stream of the live platform is recorded with the times at which its pieces arrived', async () => {
  const live = await liveWith(async (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const n of [1, 2, 3]) {
      await new Promise<void>(sent => response.write(`data: {"n":${n}}\n\n`, () => setTimeout(sent, 30)))
    }
    response.end('data: [DONE]\n\n')
  })
  const { dir, text } = tape()
  const platform = await platformWith({
    mode: 'proxy',
    upstream: { baseUrl: live.url, apiKey: 'sk-live' },
    recordings: { dir },
  })
  const received = await (await platform.chat({ ...hello, stream: true })).text()
  await makeOfLast(platform)
  const { response } = recordingIn(text(), 'it')
  expect(bodyOf(response).toString()).toBe(received)
  expect((response.headMs ?? 0) + (response.chunks.at(-1)?.atMs ?? 0)).toBeGreaterThan(50)
})

test('no secret gets into the file', async () => {
  const { platform, text } = await emulating()
  const secret = 'sk-proj-Zk3v9Qx7Lm2Tn8Rb5Wd1Yc6Hf4Js0Pg'
  const request = { ...hello, messages: [{ role: 'user', content: `hello ${secret} and ${platform.apiKey}` }] }
  await (await platform.chat(request)).text()
  await makeOfLast(platform)
  expect(text()).toContain('hello [key-1] and [credential]')
  expect(text()).not.toContain(secret)
  expect(text()).not.toContain(platform.apiKey)
})

test('a request that is already recorded is refused unless the caller says to replace or to append', async () => {
  const { platform, files } = await emulating({
    rules: [{ replies: [{ text: 'one' }, { text: 'two' }, { text: 'three' }] }],
  })
  const made: string[] = []
  for (const more of [{}, { existing: 'append' }]) {
    await (await platform.chat(hello)).text()
    made.push(await fileOf(makeOfLast(platform, more)))
  }
  expect(made[1]).toBe(made[0]?.replace('.yaml', '-2.yaml'))
  await (await platform.chat(hello)).text()
  expect(await errorOf(await makeOfLast(platform))).toEqual([
    409,
    `This request is already recorded, in ${made[0]} and 1 more. Say whether to replace it or to append to it.`,
  ])
  expect(files()).toHaveLength(2)
  expect(await fileOf(makeOfLast(platform, { existing: 'replace' }))).toBe(made[0])
  expect(files()).toEqual([made[0]])
  platform.switchMode('replay')
  expect(await (await platform.chat(hello)).json()).toMatchObject({ choices: [{ message: { content: 'three' } }] })
})

test('recordings of one request that are made at the same time get different names', async () => {
  const { platform, files } = await emulating()
  await (await platform.chat(hello)).text()
  const id = await lastId(platform)
  const all = await Promise.all([1, 2, 3].map(() => make(platform, id, { existing: 'append' })))
  expect(all.map(({ status }) => status)).toEqual([201, 201, 201])
  expect(files()).toHaveLength(3)
})

test.each([
  ['with an invalid credential', { bearer: 'sk-wrong' }, {}, /error of Standin's own \(.*API key.*\)/],
  ['that no rule matches', {}, { strict: true, rules: [] }, /error of Standin's own \(.* rule matches/],
  ['with a truncated answer', { headers: { 'x-standin-fault': 'truncate' } }, {}, /because a fault changed its answer/],
  [
    'with an error from a fault',
    { headers: { 'x-standin-fault': 'status=503' } },
    {},
    /A rule can give the same answer/,
  ],
])('a request %s cannot be recorded, and the error says why', async (_name, ask, options, why) => {
  const { platform, files } = await emulating(options)
  await (await platform.chat(hello, ask)).text()
  const response = await makeOfLast(platform)
  expect(response.status).toBe(409)
  expect(await response.json()).toEqual({ error: expect.stringMatching(why) })
  expect(files()).toEqual([])
})

test('neither an answer of the auth backend nor an unknown exchange can be recorded', async () => {
  const { platform } = await emulating()
  await (await platform.ask('/auth/v1/health', { bearer: null, headers: { apikey: platform.anonKey } })).text()
  expect(await errorOf(await makeOfLast(platform))).toEqual([409, expect.stringContaining('auth backend')])
  expect(await errorOf(await make(platform, '4711'))).toEqual([404, expect.stringContaining('no exchange "4711"')])
  expect((await make(platform, '../../x')).status).toBe(400)
  expect((await make(platform, '1', { existing: 'maybe' })).status).toBe(400)
})

test('an answer of the live platform cannot be recorded when the journal has only its beginning', async () => {
  const live = await liveWith(saying({ long: 'x'.repeat(100_000) }))
  const { dir, files } = tape()
  const platform = await platformWith({
    mode: 'proxy',
    upstream: { baseUrl: live.url, apiKey: 'sk-live' },
    recordings: { dir },
  })
  await (await platform.ask('/v1/models')).text()
  expect(await errorOf(await makeOfLast(platform))).toEqual([
    409,
    expect.stringContaining('only the beginning of its answer'),
  ])
  expect(files()).toEqual([])
})

test('an answer that the client did not wait for cannot be recorded', async () => {
  const { platform, files } = await emulating({ pace: { firstTokenMs: 5, tokensPerSecond: 20 } })
  const leaving = new AbortController()
  const response = await platform.chat({ ...hello, stream: true }, { signal: leaving.signal })
  await (response.body as ReadableStream<Uint8Array>).getReader().read()
  leaving.abort()
  await expect
    .poll(async () => (await (await platform.ask('/__standin/journal', bare)).json()) as object)
    .toMatchObject({
      data: [{ complete: false }],
    })
  expect(await errorOf(await makeOfLast(platform))).toEqual([409, expect.stringContaining('its answer broke off')])
  expect(files()).toEqual([])
})

async function withRecordings(files: Readonly<Record<string, string>>, more = {}) {
  const dir = folderWith(files)
  return { dir, platform: await platformWith({ recordings: { dir, ...more } }) }
}

test('recordings can be searched by prompt, model, path and name, and paged through', async () => {
  const files = Object.fromEntries(
    Array.from({ length: 30 }, (_, i) => [nameOfRecording(i), recordingOf(`question ${i} on whales`)]),
  )
  const { platform } = await withRecordings({
    ...files,
    [nameOfRecording(99)]: recordingOf('What does a penguin eat?'),
  })
  expect(await listed(platform, '?search=PENGUIN%20eat')).toMatchObject({
    total: 1,
    data: [{ file: nameOfRecording(99), said: 'What does a penguin eat?' }],
  })
  expect(await listed(platform, `?search=${'63.yaml'}`)).toMatchObject({ total: 1 })
  expect(await listed(platform, '?search=gpt-4o%20completions&limit=1')).toMatchObject({ total: 31 })
  expect(await listed(platform, '?search=nowhere')).toMatchObject({ total: 0, data: [] })
  const page = await listed(platform, '?limit=10&offset=25')
  expect([page.total, page.data.length, page.data[0]?.said]).toEqual([31, 6, 'question 25 on whales'])
  expect((await platform.ask(`${recordings}?limit=0`, bare)).status).toBe(400)
})

test('the list shows which recordings were used in this run, are too old, or cannot be read', async () => {
  const { platform } = await withRecordings(
    {
      [nameOfRecording(1)]: recordingOf('old', 'recordedAt: 2020-01-31T12:00:00.000Z\n'),
      [nameOfRecording(2)]: 'request: [',
    },
    { maxAge: '30d' },
  )
  await (await platform.chat(hello)).text()
  await makeOfLast(platform)
  const { data } = await listed(platform)
  expect(data.map(({ used, stale, problem }) => [used, stale, problem])).toEqual([
    [true, false, undefined],
    [false, true, undefined],
    [undefined, undefined, expect.stringMatching(/not valid YAML/)],
  ])
})

test('without a folder the list is empty, and listing does not count as use', async () => {
  const dir = path.join(folderWith(), 'not-there')
  const platform = await platformWith({ recordings: { dir } })
  expect(await listed(platform)).toMatchObject({ data: [], total: 0, folder: expect.stringContaining('not-there') })
  expect(platform.receipt()).toBeUndefined()
})

test('a recording can be read exactly as written, and deleted', async () => {
  const { platform } = await withRecordings({ [nameOfRecording(1)]: recordingOf('one') })
  const one = `${recordings}/${encodeURIComponent(nameOfRecording(1))}`
  expect(await (await platform.ask(one, bare)).json()).toEqual({ file: nameOfRecording(1), text: recordingOf('one') })
  expect((await platform.ask(one, { ...bare, method: 'DELETE' })).status).toBe(204)
  expect(await errorOf(await platform.ask(one, { ...bare, method: 'DELETE' }))).toEqual([
    404,
    `There is no recording "${nameOfRecording(1)}".`,
  ])
  expect((await listed(platform)).total).toBe(0)
})

test('no name leads out of the folder: neither dots, nor an absolute path, nor a link', async () => {
  const { dir, platform } = await withRecordings({ [nameOfRecording(1)]: recordingOf('one') })
  const outside = folderWith({
    [nameOfRecording(7)]: recordingOf('kept outside'),
    'secret-0123456789ab.yaml': recordingOf('kept outside'),
  })
  symlinkSync(path.join(outside, 'secret-0123456789ab.yaml'), path.join(dir, 'link-0123456789ab.yaml'))
  symlinkSync(path.join(outside, 'chat-completions'), path.join(dir, 'linked'))
  const names = [
    `../${path.basename(outside)}/${nameOfRecording(7)}`,
    path.join(outside, nameOfRecording(7)),
    `chat-completions/../../${path.basename(outside)}/${nameOfRecording(7)}`,
    'link-0123456789ab.yaml',
    nameOfRecording(7).replace('chat-completions', 'linked'),
    '%00',
  ]
  for (const name of names) {
    for (const method of ['GET', 'DELETE']) {
      const response = await platform.ask(`${recordings}/${encodeURIComponent(name)}`, { ...bare, method })
      expect([name, method, response.status]).toEqual([name, method, 404])
    }
  }
  expect(JSON.stringify(await listed(platform))).not.toContain('kept outside')
})

test('a folder that is not writable is reported in one sentence', async () => {
  const dir = folderWith({ 'chat-completions': 'a file where a folder has to be' })
  const platform = await platformWith({ rules, recordings: { dir } })
  await (await platform.chat(hello)).text()
  expect(await errorOf(await makeOfLast(platform))).toEqual([
    409,
    expect.stringMatching(/^Cannot write to .* \((EEXIST|ENOTDIR)\)\.$/),
  ])
})

test('the list follows recordings that are added and deleted on disk', async () => {
  const { dir, platform } = await withRecordings({
    [nameOfRecording(1)]: recordingOf('one'),
    [nameOfRecording(2)]: recordingOf('two'),
  })
  expect((await listed(platform)).total).toBe(2)
  rmSync(path.join(dir, nameOfRecording(1)))
  mkdirSync(path.join(dir, 'more'))
  writeFileSync(path.join(dir, 'more/three-0123456789ab.yaml'), recordingOf('three'))
  expect((await listed(platform)).data.map(({ said }) => said)).toEqual(['two', 'three'])
})

test('a folder that cannot be read is reported with its name', async () => {
  const dir = path.join(folderWith({ 'a-file': '' }), 'a-file')
  const platform = await platformWith({ recordings: { dir } })
  expect(await errorOf(await platform.ask(recordings, bare))).toEqual([
    409,
    expect.stringMatching(/a-file: .*\(ENOTDIR\)\.$/),
  ])
})
