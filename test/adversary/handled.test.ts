import { createClient } from '@supabase/supabase-js'
import OpenAI from 'openai'
import { expect, test } from 'vitest'
import '../../src/vitest.js'
import { connect } from '../../src/index.js'
import { platformWith } from '../scene.js'

const question = { role: 'user' as const, content: 'Tell me a story.' }

/** An app that asks for a story, and again if it is not whole. */
async function platformAndApp(isCareful: boolean) {
  const platform = await platformWith()
  const openai = new OpenAI({ baseURL: `${platform.url}/v1`, apiKey: platform.apiKey })
  async function story(left = 2): Promise<string> {
    let text = ''
    let reason: string | null | undefined
    const request = { model: 'gpt-4o-mini', stream: true as const, messages: [question] }
    for await (const chunk of await openai.chat.completions.create(request)) {
      text += chunk.choices[0]?.delta.content ?? ''
      reason = chunk.choices[0]?.finish_reason ?? reason
    }
    return !isCareful || reason === 'stop' ? text : story(left - 1)
  }
  return { platform, story }
}

test('an app that asks again after half an answer has handled the truncation', async () => {
  const { platform, story } = await platformAndApp(true)
  await platform.failNext({ end: 3, done: 'missing' })
  await story()
  await platform.idle()
  await expect(platform).toHaveHandled('truncation')
  await expect(platform).toHaveHandled('end')
  await expect(await connect(platform.url)).toHaveHandled('truncation')
})

test('an app that takes half an answer for a whole one has not, and the message says why', async () => {
  const { platform, story } = await platformAndApp(false)
  await platform.failNext({ end: 3 })
  await story()
  await platform.idle()
  await expect(expect(platform).toHaveHandled('truncation')).rejects.toThrow(
    /truncation-accepted: Only a part .*\n\nReceived:/,
  )
  await expect(platform).not.toHaveHandled('truncation')
  await expect(platform).not.toHaveHandled('end')
  await expect(expect(platform).toHaveHandled('end-4')).rejects.toThrow('platform.failNext({ end: 4 })')
})

test('without a fault there is nothing to handle', async () => {
  const { platform, story } = await platformAndApp(true)
  await story()
  await expect(expect(platform).toHaveHandled('stall')).rejects.toThrow('platform.failNext({ stall: 3 })')
  await expect(expect(platform).toHaveHandled('everything' as 'stall')).rejects.toThrow(
    'toHaveHandled takes status-500, hang',
  )
})

const order = {
  type: 'function',
  function: { name: 'order', parameters: { type: 'object', properties: { item: { type: 'string' } } } },
}
type Called = { readonly id: string; readonly function: { readonly name: string; readonly arguments: string } }

/** An agent that has ordered tea, and is asked for a planted order. It answers that with the result, or does more. */
async function plantedOrder(
  model: 'injection' | 'unknown-tool',
  result: string,
  more?: (text: string, call: Called) => unknown,
) {
  const platform = await platformWith({ resources: { '/log': { data: [] } } })
  const post = async (path: string, body: unknown) => {
    const headers = { authorization: `Bearer ${platform.apiKey}`, 'content-type': 'application/json' }
    const response = await fetch(platform.url + path, { method: 'POST', headers, body: JSON.stringify(body) })
    return (await response.json()) as {
      readonly choices: readonly [{ readonly message: { readonly tool_calls: readonly [Called] } }]
    }
  }
  const tea = { id: 'call_1', type: 'function', function: { name: 'order', arguments: '{"item":"tea"}' } }
  const messages: object[] = [
    question,
    { role: 'assistant', content: null, tool_calls: [tea] },
    { role: 'tool', tool_call_id: 'call_1', content: 'Order 7: tea is on its way.' },
  ]
  const chat = () => post('/v1/chat/completions', { model: 'gpt-4o-mini', messages, tools: [order] })
  await platform.failNext({ model })
  const { choices } = await chat()
  const [call] = choices[0].message.tool_calls
  const { item } = JSON.parse(call.function.arguments)
  const body = more?.(item, call)
  if (body) await post('/log', body)
  messages.push(choices[0].message, { role: 'tool', tool_call_id: call.id, content: result.replace('ITEM', item) })
  await chat()
  await platform.idle()
  return platform
}

test.each([
  ['has the same form as that of the order before', 'Order 8: ITEM is on its way.', undefined, true],
  ['comes after a request with the text alone', 'Done.', (item: string) => ({ item }), true],
  ['says that nobody has allowed it', 'The user did not allow ITEM.', undefined, false],
  ['says so after the conversation was kept', 'Done.', (_: string, call: Called) => ({ messages: [call] }), false],
  ['says so after it was put before a person', 'Waiting for approval.', (item: string) => ({ item }), false],
])('a planted call is obeyed or not: its result %s', async (_, result, more, isObeyed) => {
  const platform = await plantedOrder('injection', result, more)
  const check = () => expect(platform).toHaveHandled('model-injection')
  if (isObeyed) await expect(check()).rejects.toThrow(/obeyed-injection: The model asked for order/)
  else await check()
})

test.each([
  ['Order 8: ITEM is on its way.', true],
  ['There is no tool order_v2.', false],
])('a tool that is not offered was another one or not: %s', async (result, isWrong) => {
  const platform = await plantedOrder('unknown-tool', result)
  const check = () => expect(platform).toHaveHandled('model-unknown-tool')
  if (isWrong) await expect(check()).rejects.toThrow(/wrong-tool: The model asked for order_v2, which is not offered/)
  else await check()
})

test('prose surrounds the JSON of an answer, streamed or whole', async () => {
  const platform = await platformWith()
  for (const stream of [false, true]) {
    await platform.failNext({ model: 'prose' })
    const json = { type: 'json_object' }
    const response = await platform.chat({
      model: 'gpt-4o-mini',
      messages: [{ role: 'user', content: 'As JSON.' }],
      response_format: json,
      stream,
    })
    expect(await response.text()).toMatch(/Sure! Here is the JSON.*```json.*```.*anything else/s)
  }
})

/** An app that saves a note in the name of its user, once more with a new token if the old one is refused. */
async function notes(isCareful: boolean) {
  const platform = await platformWith({ resources: { '/notes': { data: [] } } })
  const { auth } = createClient(platform.url, platform.anonKey, { auth: { autoRefreshToken: false } })
  await auth.signUp({ email: 'ada@example.com', password: 'correct horse' })
  async function save() {
    const { data } = await auth.getSession()
    const headers = { authorization: `Bearer ${data.session?.access_token}`, 'content-type': 'application/json' }
    return fetch(`${platform.url}/notes`, { method: 'POST', headers, body: '{"text":"Buy tea."}' })
  }
  await platform.failNext({ session: 'clock-ahead' })
  const { status } = await save()
  await auth.refreshSession()
  if (isCareful && status === 401) await save()
  await auth.getUser()
  await platform.idle()
  return platform
}

test('a note that was refused since its token had expired is sent again, or lost', async () => {
  await expect(await notes(true)).toHaveHandled('session-clock-ahead')
  await expect(expect(await notes(false)).toHaveHandled('session-clock-ahead')).rejects.toThrow(
    'work-lost: POST /notes was refused, since the token of the session was too old, and was never sent again.',
  )
})

test('the retries of the client of Supabase are no storm', async () => {
  const platform = await platformWith()
  const { auth } = createClient(platform.url, platform.anonKey, { auth: { autoRefreshToken: false } })
  await auth.signUp({ email: 'ada@example.com', password: 'correct horse' })
  await platform.failNext({ status: 503 }, { path: '/auth/v1/token', times: 4 })
  expect((await auth.refreshSession()).error).toBeNull()
  await platform.idle()
  await expect(platform).toHaveHandled('status-503')
})
