/** Streams are assembled into what OpenAI's own client makes of the same bytes. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import fc from 'fast-check'
import OpenAI from 'openai'
import { expect, onTestFinished, test } from 'vitest'
import type { RecordedResponse } from '../../src/recordings/index.js'
import { streamOf, wholeOf } from '../../src/recordings/play.js'
import { hello } from '../scene.js'
import { type AnyCompletion, completion, someText, text } from './completions.js'
import { jsonOf, piece, places, stream, whole } from './responses.js'

const token = fc.record({ token: text, logprob: fc.nat(), bytes: fc.constant(null), top_logprobs: fc.constant([]) })
const tokens = fc.option(fc.array(token, { maxLength: 2 }))

/** What an event adds to a choice. */
const step = fc.oneof(
  fc.record({
    delta: fc.record({ content: someText }),
    logprobs: fc.option(fc.record({ content: tokens, refusal: tokens })),
  }),
  fc.record({ refusal: someText }).map(delta => ({ delta })),
  fc.record({ index: fc.nat(2), args: text }).map(({ index, args }) => ({
    delta: { tool_calls: [{ index, function: { arguments: args } }] },
  })),
  fc.record({ data: fc.base64String(), transcript: text }).map(audio => ({ delta: { audio } })),
)

/** All deltas of a choice: the role, perhaps three named calls, more steps, the end. */
const track = fc
  .record({
    steps: fc.array(step, { maxLength: 6 }),
    names: fc.option(fc.tuple(someText, someText, someText)),
    content: fc.constantFrom('', null),
  })
  .map(({ steps, names, content }) => [
    { delta: { role: 'assistant', content, refusal: null } },
    names ? { delta: { tool_calls: names.map(startOfCall) } } : { delta: { content: 'Hi' } },
    ...steps.filter(({ delta }) => names || !('tool_calls' in delta)),
    { delta: {}, finish_reason: 'stop' },
  ])

const startOfCall = (name: string, index: number) => ({
  ...{ index, id: `call_${name}`, type: 'function' },
  function: { name, arguments: '' },
})

/** The events of a few interleaved choices. */
const events = fc
  .record({
    tracks: fc.array(track, { minLength: 1, maxLength: 3 }),
    usage: fc.option(fc.record({ total_tokens: fc.nat() })),
  })
  .map(({ tracks, usage }) => {
    const turns = Math.max(...tracks.map(({ length }) => length))
    const turn = (at: number) =>
      tracks.flatMap((track, index) =>
        track[at] ? [{ index, finish_reason: null, logprobs: null, ...track[at] }] : [],
      )
    return [
      ...Array.from({ length: turns }, (_, at) => piece(...turn(at))),
      ...(usage ? [{ ...piece(), usage }] : []),
      '[DONE]',
    ]
  })

/** The events as a body: either kind of line break, perhaps comments, JSON on one line or several. */
const body = fc
  .tuple(events, fc.constantFrom('\n', '\r\n'), fc.constantFrom(0, 1), fc.constantFrom('', ': ping'))
  .map(([events, end, indent, comment]) =>
    events
      .map(data => (typeof data === 'string' ? data : JSON.stringify(data, null, indent)).split('\n'))
      .map(lines => [...(comment ? [comment, ''] : []), ...lines.map(line => `data: ${line}`), '', ''].join(end))
      .join(''),
  )

/** A server that sends the given response chunk by chunk, and OpenAI's client, which assembles it. */
async function assemblerOfOpenai() {
  let response: RecordedResponse | undefined
  const server = createServer((_request, answer) => {
    answer.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const { bytes } of response?.chunks ?? []) answer.write(bytes)
    answer.end()
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  const openai = new OpenAI({ baseURL, apiKey: 'sk-any', maxRetries: 0 })
  return async (next: RecordedResponse) => {
    response = next
    const request = { ...hello, messages: [{ role: 'user' as const, content: 'hello' }] }
    const { choices, ...others } = await openai.chat.completions.stream(request).finalChatCompletion()
    // `parsed` is the client's own.
    const plain = choices.map(({ message: { parsed: _, ...message }, ...choice }) => ({ ...choice, message }))
    return JSON.parse(JSON.stringify({ ...others, choices: plain }))
  }
}

test("a stream is assembled as OpenAI's client assembles it", async () => {
  const assemble = await assemblerOfOpenai()
  await fc.assert(
    fc.asyncProperty(body, places, async (body, places) => {
      const said = stream(body, places)
      expect(jsonOf(wholeOf(said))).toEqual(await assemble(said))
    }),
  )
})

test('the client reads the original completion from the stream made of it', async () => {
  const assemble = await assemblerOfOpenai()
  await fc.assert(
    fc.asyncProperty(completion.map(knownToClient), async said => {
      const streamed = streamOf(whole(said), { includeUsage: true })
      expect(await assemble(streamed ?? whole(said))).toEqual(said)
    }),
  )
})

/** The client's streams support no custom tools, functions or reasoning, and have null for empty or missing fields. */
function knownToClient({ choices, system_fingerprint, ...others }: AnyCompletion) {
  return {
    ...others,
    ...(system_fingerprint && { system_fingerprint }),
    choices: choices.map(({ message, ...choice }) => {
      const {
        function_call: _,
        tool_calls,
        reasoning_content: __,
        reasoning: ___,
        content,
        refusal,
        ...others
      } = message
      const calls = tool_calls?.filter(({ type }) => type === 'function') ?? []
      return {
        ...{ ...choice, logprobs: choice.logprobs ?? null },
        message: {
          ...{ ...others, content: content || null, refusal: refusal || null },
          ...(calls.length > 0 && { tool_calls: calls }),
        },
      }
    }),
  }
}
