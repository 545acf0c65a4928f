import { readdirSync, readFileSync, symlinkSync } from 'node:fs'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openPlatform } from '../../src/platform.js'
import { folderWith } from '../command.js'
import { liveWith } from '../recordings/live.js'
import { hello, platformWith, type Scene } from '../scene.js'
import { didYouMean } from '../sentences.js'

const replies = '/__standin/replies'
const bare = { bearer: null } as const

type Client = Pick<Scene, 'ask' | 'chat'>

const post = ({ ask }: Pick<Scene, 'ask'>, path: string, body: object) =>
  ask(replies + path, {
    ...bare,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

const errorOf = async (response: Response) => [response.status, ((await response.json()) as { error: string }).error]

async function lastId({ ask }: Pick<Scene, 'ask'>) {
  const response = await ask('/__standin/journal?limit=1', bare)
  return ((await response.json()) as { data: readonly [{ id: string }] }).data[0].id
}

interface Draft {
  readonly yaml: string
  readonly name: string
  readonly remarks: readonly string[]
}

/** A draft from the last exchange. */
async function draftOfLast(platform: Client): Promise<Draft> {
  const response = await post(platform, '/draft', { exchange: await lastId(platform) })
  expect(response.status).toBe(200)
  return (await response.json()) as Draft
}

const messageIn = async (response: Response) => {
  const { choices } = (await response.json()) as { choices: readonly { message: object }[] }
  return choices[0]?.message
}

/** Standin in front of a live platform that returns these answers one after the other. */
async function inFrontOf(...answers: readonly object[]) {
  const left = [...answers]
  const live = await liveWith((_request, response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(left.shift())),
  )
  return platformWith({ mode: 'proxy', upstream: { baseUrl: live.url, apiKey: 'sk-live' } })
}

const completion = (message: object, more: object = {}) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'gpt-4o-mini',
  choices: [{ index: 0, message: { role: 'assistant', content: null, ...message }, finish_reason: 'stop', ...more }],
})

test('a rule drafted from an exchange can be added, and gives the same answer', async () => {
  const platform = await inFrontOf(completion({ content: 'Paris, of course.' }))
  const request = { ...hello, messages: [{ role: 'user', content: 'What is the capital of France?' }] }
  const first = await messageIn(await platform.chat(request))
  const { yaml, name, remarks } = await draftOfLast(platform)
  expect(yaml).toBe(`- name: what-is-the-capital-of-france
  when:
    model: gpt-4o-mini
    user:
      exact: What is the capital of France?
  reply:
    text: Paris, of course.
`)
  expect([name, remarks]).toEqual(['what-is-the-capital-of-france', []])
  platform.switchMode('emulate')
  expect((await post(platform, '/written', { yaml })).status).toBe(201)
  expect(await messageIn(await platform.chat(request))).toMatchObject(first ?? {})
})

test('a rule drafted from a prompt does not match a longer prompt that contains it', async () => {
  const platform = await inFrontOf(completion({ content: 'Not found.' }), completion({ content: 'An error.' }))
  const drafts: string[] = []
  for (const content of ['err404', 'err']) {
    await messageIn(await platform.chat({ ...hello, messages: [{ role: 'user', content }] }))
    drafts.push((await draftOfLast(platform)).yaml)
  }
  platform.switchMode('emulate')
  for (const yaml of drafts) await post(platform, '/written', { yaml })
  const again = await platform.chat({ ...hello, messages: [{ role: 'user', content: 'err404' }] })
  expect(await messageIn(again)).toMatchObject({ content: 'Not found.' })
})

test.each([
  ['several lines', 'One\n  two\n\nthree: "four" # five\n'],
  ['text that looks like a template', 'Write {{ name }} and {% if %} into it.'],
  ['characters of many scripts', 'Zürich 🌍 日本 \u0007'],
])('a rule drafted from %s repeats it exactly', async (_what, content) => {
  const platform = await inFrontOf(completion({ content }))
  await messageIn(await platform.chat(hello))
  const { yaml } = await draftOfLast(platform)
  platform.switchMode('emulate')
  expect(await errorOf(await post(platform, '/written', { yaml }))).toEqual([201, undefined])
  expect(await messageIn(await platform.chat(hello))).toMatchObject({ content })
})

test('a drafted rule that calls a tool does not match the result of that call', async () => {
  const call = { id: 'call_1', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Oslo"}' } }
  const platform = await inFrontOf(
    completion({ tool_calls: [call] }, { finish_reason: 'tool_calls' }),
    completion({ content: 'It rains.' }),
  )
  const tools = [{ type: 'function', function: { name: 'get_weather' } }]
  const first = { ...hello, tools, messages: [{ role: 'user', content: 'Weather in Oslo?' }] }
  const second = {
    ...first,
    messages: [
      ...first.messages,
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'call_1', content: 'rain' },
    ],
  }
  const drafts: string[] = []
  for (const request of [first, second]) {
    await messageIn(await platform.chat(request))
    drafts.push((await draftOfLast(platform)).yaml)
  }
  platform.switchMode('emulate')
  for (const yaml of drafts) expect((await post(platform, '/written', { yaml })).status).toBe(201)
  expect(await messageIn(await platform.chat(first))).toMatchObject({
    content: null,
    tool_calls: [{ function: { name: 'get_weather', arguments: '{"city":"Oslo"}' } }],
  })
  expect(await messageIn(await platform.chat(second))).toMatchObject({ content: 'It rains.' })
})

test('a rule drafted from a stream has its text, its tool calls and its pace', async () => {
  const deltas = [
    { role: 'assistant', content: 'Let me ' },
    { content: 'look.' },
    { tool_calls: [{ index: 0, id: 'a', type: 'function', function: { name: 'find', arguments: '' } }] },
    { tool_calls: [{ index: 0, function: { arguments: '{"q":' } }] },
    { tool_calls: [{ index: 0, function: { arguments: '"whales"}' } }] },
  ]
  const live = await liveWith(async (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const delta of deltas) {
      const event = JSON.stringify({ choices: [{ index: 0, delta, finish_reason: null }] })
      await new Promise<void>(sent => response.write(`data: ${event}\n\n`, () => setTimeout(sent, 25)))
    }
    response.end('data: [DONE]\n\n')
  })
  const platform = await platformWith({ mode: 'proxy', upstream: { baseUrl: live.url, apiKey: 'sk-live' } })
  await (await platform.chat({ ...hello, stream: true })).text()
  const { yaml } = await draftOfLast(platform)
  expect(yaml).toContain(`  reply:
    text: Let me look.
    toolCalls:
      - name: find
        arguments:
          q: whales
`)
  expect(yaml).toMatch(/ {2}pace:\n {4}firstTokenMs: \d+\n {4}tokensPerSecond: \d+\n$/)
  // The live platform pauses for at least 25 ms: at most 40 pieces a second, apart from the first and the last.
  const perSecond = Number(/tokensPerSecond: (\d+)/.exec(yaml)?.[1])
  expect(perSecond).toBeGreaterThan(0)
  expect(perSecond).toBeLessThan(60)
})

test('an error from the live platform becomes a fault', async () => {
  const live = await liveWith((_request, response) =>
    response
      .writeHead(429, { 'retry-after': '7', 'content-type': 'application/json' })
      .end('{"error":{"message":"Slow down."}}'),
  )
  const platform = await platformWith({ mode: 'proxy', upstream: { baseUrl: live.url, apiKey: 'sk-live' } })
  await (await platform.chat(hello)).text()
  const { yaml } = await draftOfLast(platform)
  expect(yaml).toContain(`  reply:
    fault:
      status: 429
      message: Slow down.
      retryAfter: 7
`)
  platform.switchMode('emulate')
  await post(platform, '/written', { yaml })
  const again = await platform.chat(hello)
  expect([again.status, again.headers.get('retry-after')]).toEqual([429, '7'])
})

test('secrets stay out of the draft, and out of its conditions', async () => {
  const secret = 'sk-proj-Zk3v9Qx7Lm2Tn8Rb5Wd1Yc6Hf4Js0Pg'
  const platform = await inFrontOf(completion({ content: `Your key is ${secret}.` }))
  const request = { ...hello, messages: [{ role: 'user', content: `${secret} is my key, is it good?` }] }
  await messageIn(await platform.chat(request))
  const { yaml, remarks } = await draftOfLast(platform)
  expect(yaml).not.toContain(secret)
  expect(yaml).toContain('contains: is my key, is it good?')
  expect(yaml).toContain('text: Your key is [key-1].')
  expect(remarks).toEqual(['It matches only part of the user message, because the rest is long or secret.'])
  platform.switchMode('emulate')
  await post(platform, '/written', { yaml })
  expect(await messageIn(await platform.chat(request))).toMatchObject({ content: 'Your key is [key-1].' })
})

test('only a chat completion can become a rule', async () => {
  const platform = await platformWith()
  await (await platform.ask('/v1/models')).text()
  expect(await errorOf(await post(platform, '/draft', { exchange: await lastId(platform) }))).toEqual([
    409,
    "No rule can be created from this exchange, because the platform's document defines the answers of this endpoint.",
  ])
  expect(await errorOf(await post(platform, '/draft', { exchange: '4711' }))).toEqual([
    404,
    expect.stringContaining('"4711"'),
  ])
})

test('a check of a draft gives the line and the column of each mistake', async () => {
  const platform = await platformWith()
  const check = async (yaml: string) => (await (await post(platform, '/check', { yaml })).json()) as object
  const good = '- when: { user: hi }\n  reply: { text: Hello }\n'
  expect(await check(good)).toEqual({ problems: [] })
  const bad = '- when: { usr: hi }\n  reply: { text: Hello }\n- reply: {}\n'
  expect(await check(bad)).toEqual({
    problems: [
      { line: 1, column: 11, sentence: expect.stringContaining(didYouMean('user')) },
      { line: 3, column: 3, sentence: expect.stringContaining('is empty') },
    ],
  })
  expect(await check('- reply: { text: "{{ nope | }}" }')).toMatchObject({ problems: [{ line: 1, column: 12 }] })
  expect(await check('- {')).toMatchObject({ problems: [{ line: 1 }] })
  expect(await check('# nothing\n')).toEqual({ problems: [{ line: 1, column: 1, sentence: 'There is no rule here.' }] })
  expect(await errorOf(await post(platform, '/written', { yaml: bad }))).toEqual([
    400,
    expect.stringMatching(/^Line 1, column 11: .*usr .*"user"\?/),
  ])
  expect((await platform.ask(replies, bare).then(r => r.json())) as object).toEqual({ data: [] })
})

test('a rule sent to the API cannot read files of this machine', async () => {
  const platform = await platformWith()
  const yaml = '- reply: { file: /etc/hostname }\n'
  for (const [call, more] of [
    ['/written', {}],
    ['/try', { prompt: 'hi' }],
    ['/keep', { name: 'x' }],
  ] as const) {
    const refused = [400, expect.stringContaining('A rule that is sent cannot use files')]
    expect(await errorOf(await post(platform, call, { yaml, ...more }))).toEqual(refused)
  }
})

/** A platform with a configuration on disk. */
async function configured(config: string, files: Readonly<Record<string, string>> = {}) {
  const cwd = folderWith({ 'platform.config.yaml': `port: 0\nstate: memory\n${config}`, ...files })
  const platform = await openPlatform({ cwd })
  onTestFinished(() => platform.stop())
  const ask: Scene['ask'] = (path, { bearer: _, ...init } = {}) => fetch(platform.url + path, init)
  return { cwd, platform, ask }
}

const kept = '- when:\n    user: hi\n  reply:\n    text: Hello\n'

test.each([
  ['', 'fixtures/replies/hi.yaml'],
  ['replies: rules/**/*.yml\n', 'rules/hi.yml'],
  ['replies: [more.yaml, "*.rules.yaml", "said/*.{yaml,yml}"]\n', 'said/hi.yaml'],
])('with %j a rule is saved where rules are read', async (config, file) => {
  const { cwd, platform, ask } = await configured(config, {
    ...{ 'more.yaml': '', 'a.rules.yaml': '', 'said/x.yml': '', 'rules/x.yml': '' },
  })
  const response = await post({ ask }, '/keep', { yaml: kept, name: 'hi' })
  expect([response.status, await response.json()]).toEqual([201, { file }])
  expect(readFileSync(path.join(cwd, file), 'utf8')).toBe(kept)
  await platform.reload()
  expect((await platform.rules.list()).map(({ place }) => place)).toContain(`${file}:1`)
})

test('an existing file is never overwritten, not even through a link', async () => {
  const { cwd, ask } = await configured('', { 'fixtures/replies/hi.yaml': kept, 'elsewhere.yaml': 'mine' })
  symlinkSync(path.join(cwd, 'elsewhere.yaml'), path.join(cwd, 'fixtures/replies/linked.yaml'))
  for (const name of ['hi', 'linked']) {
    expect(await errorOf(await post({ ask }, '/keep', { yaml: kept, name }))).toEqual([
      409,
      `The rule was not saved. fixtures/replies/${name}.yaml exists already. Choose another name.`,
    ])
  }
  expect(readFileSync(path.join(cwd, 'elsewhere.yaml'), 'utf8')).toBe('mine')
})

test.each(['../hi', '/tmp/hi', '', 'a\0b'])('%j is refused as a file name', async name => {
  const { cwd, ask } = await configured('')
  expect((await post({ ask }, '/keep', { yaml: kept, name })).status).toBe(400)
  expect(readdirSync(cwd)).toEqual(['platform.config.yaml'])
})

test('without a folder in the configuration nothing is saved, and the error says why', async () => {
  const { ask } = await configured('replies: rules.yaml\n', { 'rules.yaml': '' })
  expect(await errorOf(await post({ ask }, '/keep', { yaml: kept, name: 'hi' }))).toEqual([
    409,
    'The rule was not saved. The option replies names no folder in which any file is read, only rules.yaml. Add one such as fixtures/replies/*.yaml.',
  ])
  expect(await errorOf(await post(await platformWith(), '/keep', { yaml: kept, name: 'hi' }))).toEqual([
    409,
    expect.stringContaining('This platform reads no rules from files.'),
  ])
})

test('rules can be searched by name, place, conditions and text, and paged through', async () => {
  const rules = Array.from({ length: 30 }, (_, i) => ({
    name: `rule-${i}`,
    when: { user: `question ${i}` },
    reply: { text: `Whales, ${i} of them.` },
  }))
  const platform = await platformWith({ rules })
  const list = async (query: string) =>
    (await (await platform.ask(replies + query, bare)).json()) as {
      readonly data: readonly { readonly title: string; readonly yaml: string }[]
      readonly total: number
    }
  expect(await list('?search=WHALES%2029')).toMatchObject({ total: 1, data: [{ title: 'rule "rule-29"' }] })
  const page = await list('?limit=20&offset=20')
  expect([page.total, page.data.length]).toEqual([30, 10])
  expect(page.data[0]?.yaml).toBe(
    '- name: rule-20\n  when:\n    user: question 20\n  reply:\n    text: Whales, 20 of them.\n',
  )
  expect((await list('')).data).toHaveLength(30)
})
