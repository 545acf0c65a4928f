import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { liveWith } from '../recordings/live.js'
import { hello, platformWith, type Scene } from '../scene.js'

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

/** A draft from the last exchange. */
async function draftOfLast(platform: Client): Promise<string> {
  const response = await platform.ask(`/__standin/journal/${await lastId(platform)}/rule`, bare)
  expect(response.status).toBe(200)
  return response.text()
}

/** Adds the rules of a draft, as if they were in a file. */
const add = (platform: Pick<Scene, 'ask'>, yaml: string) => post(platform, '', parse(yaml))

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
  const yaml = await draftOfLast(platform)
  expect(parse(yaml)).toEqual([
    {
      name: 'what-is-the-capital-of-france',
      when: { fingerprint: expect.any(String) },
      reply: { text: 'Paris, of course.' },
    },
  ])
  expect(yaml).not.toContain('#')
  await platform.switchMode('emulate')
  expect((await add(platform, yaml)).status).toBe(201)
  expect(await messageIn(await platform.chat(request))).toMatchObject(first ?? {})
})

test('an answer with template tags, also with the end of raw text, is drafted and said again as it was', async () => {
  const content = 'Use {% raw %}{{ name }}{% endraw %}, {%- endraw -%} or {{ name }}.'
  const platform = await inFrontOf(completion({ content }))
  await messageIn(await platform.chat(hello))
  const yaml = await draftOfLast(platform)
  await platform.switchMode('emulate')
  expect((await add(platform, yaml)).status).toBe(201)
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
    drafts.push(await draftOfLast(platform))
  }
  await platform.switchMode('emulate')
  for (const yaml of drafts) expect((await add(platform, yaml)).status).toBe(201)
  expect(await messageIn(await platform.chat(first))).toMatchObject({
    content: null,
    tool_calls: [{ function: { name: 'get_weather', arguments: '{"city":"Oslo"}' } }],
  })
  expect(await messageIn(await platform.chat(second))).toMatchObject({ content: 'It rains.' })
})

test('secrets stay out of the draft, which still answers the whole request and no other', async () => {
  const secret = 'sk-proj-Zk3v9Qx7Lm2Tn8Rb5Wd1Yc6Hf4Js0Pg'
  const platform = await inFrontOf(completion({ content: `Your key is ${secret}.` }))
  const request = { ...hello, messages: [{ role: 'user', content: `${secret} is my key, is it good?` }] }
  await messageIn(await platform.chat(request))
  const yaml = await draftOfLast(platform)
  expect(yaml).not.toContain(secret)
  expect(yaml).toContain('text: Your key is [key-1].')
  await platform.switchMode('emulate')
  await add(platform, yaml)
  expect(await messageIn(await platform.chat(request))).toMatchObject({ content: 'Your key is [key-1].' })
  const other = { ...hello, messages: [{ role: 'user', content: `${secret.slice(0, -1)}X is my key, is it good?` }] }
  expect(await messageIn(await platform.chat(other))).not.toMatchObject({ content: 'Your key is [key-1].' })
})

test('only a chat completion can become a rule', async () => {
  const platform = await platformWith()
  await (await platform.ask('/v1/models')).text()
  expect(await errorOf(await platform.ask(`/__standin/journal/${await lastId(platform)}/rule`, bare))).toEqual([
    409,
    "No rule can be created from this exchange, because the platform's document defines the answers of this endpoint.",
  ])
  expect(await errorOf(await platform.ask('/__standin/journal/4711/rule', bare))).toEqual([
    404,
    expect.stringContaining('"4711"'),
  ])
})
