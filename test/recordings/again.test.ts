import { chmodSync, rmSync, writeFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import path from 'node:path'
import { expect, test } from 'vitest'
import type { PlatformOptions } from '../../src/index.js'
import { hello } from '../scene.js'
import { liveWith, saying, tape } from './live.js'

/** A live platform whose answers can be changed, and a suite that asks it some questions. */
async function suite(answer: RequestListener) {
  let current = answer
  const live = await liveWith((request, response) => current(request, response))
  const { recording, replaying, dir, files, text } = tape(live.url)
  const record = async (questions: readonly string[], recordings: PlatformOptions['recordings'] = {}) => {
    const platform = await recording({ recordings: { dir, ...recordings } })
    for (const content of questions) {
      const response = await platform.chat({ ...hello, messages: [{ role: 'user', content }] })
      await response.text().catch(() => {})
    }
    await platform.stop()
    return platform.receipt()
  }
  const answers = (next: RequestListener) => {
    current = next
  }
  const state = () => Object.fromEntries(files().map(file => [file, text(file)]))
  return { record, recording, replaying, dir, files, text, state, answers }
}

let made = 0

/** A completion with ids, times and headers that are different each time, as of OpenAI. */
const completion =
  (content: string): RequestListener =>
  (_request, response) => {
    const id = `chatcmpl-${(++made).toString(36).padStart(9, 'AbC1')}`
    const call = { id: `call_${made}`, type: 'function', function: { name: 'look', arguments: '{}' } }
    const message = { role: 'assistant', content, tool_calls: [call] }
    const usage = { prompt_tokens: 3, completion_tokens: 4, prompt_tokens_details: { cached_tokens: made } }
    response
      .writeHead(200, {
        'content-type': 'application/json',
        'x-request-id': `req_${made}`,
        'openai-processing-ms': `${made}`,
        'x-ratelimit-reset-requests': `${made}ms`,
      })
      .end(
        JSON.stringify({
          ...{ id, object: 'chat.completion', created: 1_700_000_000 + made, system_fingerprint: `fp_${made}` },
          ...{ model: 'gpt-4o-mini', choices: [{ index: 0, message, finish_reason: 'stop' }], usage },
        }),
      )
  }

const failing =
  (status: number): RequestListener =>
  (_request, response) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(`{"error":{"code":${status}}}`)

/** Answers with these in turn; the last one repeats. */
const inTurn = (...answers: readonly RequestListener[]): RequestListener => {
  let turn = 0
  return (request, response) => answers[Math.min(turn++, answers.length - 1)]?.(request, response)
}

test('a suite that is recorded again leaves every file as it was, byte for byte, if the answers say the same', async () => {
  const { record, state } = await suite(completion('Hi!'))
  await record(['one', 'two', 'one'])
  const first = state()
  expect(Object.keys(first)).toHaveLength(3)
  expect(await record(['one', 'two', 'one'])).toMatchObject({ recorded: 3, unchanged: 3 })
  expect(state()).toEqual(first)
})

test('of a suite that is recorded again, only the file whose answer changed is replaced, under its own name', async () => {
  const { record, state, answers } = await suite(completion('Hi!'))
  await record(['one', 'two'])
  const first = state()
  answers((request, response) => completion('Hello!')(request, response))
  expect(await record(['two'])).toMatchObject({ recorded: 1, unchanged: 0 })
  const second = state()
  expect(Object.keys(second)).toEqual(Object.keys(first))
  const changed = Object.keys(second).filter(file => second[file] !== first[file])
  expect(changed).toEqual([expect.stringContaining('two')])
  expect(second[changed[0] ?? '']).toContain('Hello!')
})

test('an agent whose calls of tools have new ids each time leaves the same files when it is recorded three times', async () => {
  const live = await liveWith((request, response) => completion('Looking.')(request, response))
  const { recording, files, text } = tape(live.url)
  const states: object[] = []
  for (let run = 0; run < 3; run++) {
    const { chat, stop } = await recording()
    const question = { role: 'user', content: 'Where is it?' }
    const { choices } = (await (await chat({ ...hello, messages: [question] })).json()) as { choices: [Choice] }
    const [{ message }] = choices
    const seen = { role: 'tool', tool_call_id: message.tool_calls[0].id, content: 'Seen.' }
    await (await chat({ ...hello, messages: [question, message, seen] })).text()
    await stop()
    states.push(Object.fromEntries(files().map(file => [file, text(file)])))
  }
  expect(files()).toHaveLength(2)
  expect(states).toEqual([states[0], states[0], states[0]])
})

interface Choice {
  readonly message: { readonly tool_calls: readonly [{ readonly id: string }] }
}

test.each([
  ['cut into other pieces', ['Good', ' day'], true],
  ['with another text', ['Good', ' night'], false],
])('a stream %s is the same only if it says the same', async (_, pieces, isSame) => {
  const streaming =
    (...texts: readonly string[]): RequestListener =>
    (_request, response) => {
      const events = texts.map(content => ({ id: `c-${++made}`, choices: [{ index: 0, delta: { content } }] }))
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      for (const event of events) response.write(`data: ${JSON.stringify(event)}\n\n`)
      response.end('data: [DONE]\n\n')
    }
  const { record, state, answers } = await suite(streaming('Go', 'od d', 'ay'))
  await record(['hi'])
  const first = state()
  answers(streaming(...pieces))
  await record(['hi'])
  expect(JSON.stringify(state()) === JSON.stringify(first)).toBe(isSame)
})

test('another model in the list of models is another answer, though only an id differs', async () => {
  const { record, text, answers } = await suite(saying({ data: [{ id: 'gpt-4o-2024-05-13', object: 'model' }] }))
  await record(['models'])
  answers(saying({ data: [{ id: 'gpt-4o-2024-08-06', object: 'model' }] }))
  await record(['models'])
  expect(text()).toContain('2024-08-06')
})

test('an error after which the client tried again is not kept, and its retry has its place', async () => {
  const { record, files, text } = await suite(inTurn(failing(429), failing(503), completion('At last.')))
  expect(await record(['hi', 'hi', 'hi', 'then'])).toMatchObject({ recorded: 2, errors: {}, notRecorded: [] })
  expect(files().map(file => file.replace(/[0-9a-f]{8}/, 'HASH'))).toEqual([
    'chat-completions/hi-HASH.yaml',
    'chat-completions/then-HASH.yaml',
  ])
  expect(text()).toContain('At last.')
})

test('an answer that broke off is not kept either once the client tried again', async () => {
  const breaking: RequestListener = (_request, response) => {
    response.writeHead(200, { 'content-length': '100' }).write('{"half":')
    setImmediate(() => response.destroy())
  }
  const { record, files, text } = await suite(inTurn(breaking, completion('Whole.')))
  expect(await record(['hi', 'hi'])).toMatchObject({ recorded: 1, errors: {} })
  expect(files()).toHaveLength(1)
  expect(text()).toContain('Whole.')
})

test('errors that nobody repeated are kept, and the receipt counts them by status', async () => {
  const { record, files } = await suite(inTurn(failing(429), failing(429), failing(404), completion('Hi!')))
  const receipt = await record(['one', 'two', 'three', 'four'])
  expect(receipt).toMatchObject({ recorded: 4, errors: { 404: 1, 429: 2 } })
  expect(files()).toHaveLength(4)
})

test('an error that is recorded because of onMiss is not replayed to the client that tries again', async () => {
  const { replaying, files, text } = await suite(inTurn(failing(429), failing(503), completion('Hi!')))
  const { chat } = await replaying({ recordings: { onMiss: 'record' } })
  const ask = async () => {
    const response = await chat({ ...hello, messages: [{ role: 'user', content: 'hi' }] })
    await response.text()
    return response.status
  }
  expect([await ask(), await ask(), await ask(), await ask()]).toEqual([429, 503, 200, 200])
  expect(files()).toHaveLength(1)
  expect(text()).toContain('Hi!')
})

test('an outage while a suite is recorded again costs no recording, and the receipt says so', async () => {
  const { record, state, answers } = await suite(completion('Hi!'))
  await record(['hi', 'hi'])
  const first = state()
  answers(failing(503))
  const receipt = await record(['hi', 'hi'])
  expect(receipt).toMatchObject({
    ...{ recorded: 0, errors: {} },
    notRecorded: [
      expect.stringMatching(/hi-\w{8}\.yaml keeps its earlier answer, because the live platform answered 503\.$/),
    ],
  })
  expect(state()).toEqual(first)
})

test('a recording that was edited by hand so that it cannot be read is replaced', async () => {
  const { record, dir, files, text } = await suite(completion('Hi!'))
  await record(['hi'])
  writeFileSync(path.join(dir, files()[0] ?? ''), 'request: [')
  expect(await record(['hi'])).toMatchObject({ recorded: 1, unchanged: 0 })
  expect(text()).toContain('Hi!')
})

test('what is missing from a half deleted folder is recorded again, and the rest stays as it was', async () => {
  const { record, dir, files, state } = await suite(completion('Hi!'))
  await record(['one', 'two', 'two'])
  const first = state()
  const [gone = ''] = files()
  rmSync(path.join(dir, gone))
  expect(await record(['one', 'two', 'two'])).toMatchObject({ recorded: 3, unchanged: 2 })
  expect(Object.keys(state())).toEqual(Object.keys(first))
})

test('a suite that is recorded again with more to ignore leaves no second recordings, and an outage costs none', async () => {
  const { record, text, files, answers } = await suite(completion('Hi!'))
  await record(['Today is 2026-11-28.', 'Good day!'])
  const first = files()
  answers(failing(503))
  await record(['Today is 2026-11-29.'], { ignore: ['dates'] })
  expect(files()).toEqual(first)
  answers(completion('Hello!'))
  await record(['Today is 2026-11-30.'], { ignore: ['dates'] })
  expect(files()).toHaveLength(2)
  expect(files().filter(file => first.includes(file))).toHaveLength(1)
  expect(text(files().find(file => file.includes('today')))).toContain('Hello!')
})

test.skipIf(process.getuid?.() === 0)(
  'a suite with the same answers can be recorded again in a read-only folder',
  async () => {
    const { record, dir } = await suite(completion('Hi!'))
    await record(['hi'])
    const folder = path.join(dir, 'chat-completions')
    chmodSync(folder, 0o500)
    expect(await record(['hi'])).toMatchObject({ unchanged: 1, notRecorded: [] })
    chmodSync(folder, 0o700)
  },
)
