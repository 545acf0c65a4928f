import { createParser } from 'eventsource-parser'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createEventSplitter, dataOf } from '../../src/chat/events.js'
import { type AnswerContent, createGatherer, nothingSaid } from '../../src/dashboard/page/playground/completion.js'

/** The text in pieces, cut at these places. */
const cut = (text: string, places: readonly number[]): readonly string[] => {
  const sorted = [...new Set(places.map(place => place % (text.length + 1)))].sort((a, b) => a - b)
  return [...sorted, text.length].map((end, i) => text.slice(i === 0 ? 0 : sorted[i - 1], end))
}

const line = fc.constantFrom(
  'data: {"a":1}',
  'data:{"b":"ü😀"}',
  'data: [DONE]',
  'data:',
  ': comment',
  'event: x',
  'id: 7',
  '',
)
const places = fc.array(fc.nat(500), { maxLength: 40 })

/** The events that the page reads from these pieces. */
function read(pieces: readonly string[]): readonly string[] {
  const events: string[] = []
  const parser = createParser({ onEvent: ({ data }) => void events.push(data) })
  for (const piece of pieces) parser.feed(piece)
  return events
}

test('events are read as the server reads them, wherever the network cuts the text', () => {
  const eol = fc.constantFrom('\n', '\r\n')
  fc.assert(
    fc.property(fc.array(fc.tuple(line, eol), { maxLength: 30 }), places, (lines, places) => {
      const text = lines.map(([line, eol]) => line + eol).join('')
      const splitter = createEventSplitter()
      const wanted = splitter.push(Buffer.from(text)).flatMap(event => dataOf(event) ?? [])
      expect(read(cut(text, places))).toEqual(wanted)
    }),
  )
})

test('a lone carriage return also ends a line, even at the end of a piece', () => {
  expect(read(['data: one\r', '\rdata: two\r', '\n', '\r\n', 'data: th', 'ree\n', '\n'])).toEqual([
    'one',
    'two',
    'three',
  ])
})

/** The answer as gathered from these events. */
function gathered(events: readonly unknown[]) {
  const gatherer = createGatherer()
  return events.reduce<AnswerContent>((_said, event) => gatherer.chunk(event), nothingSaid)
}
const delta = (delta: object, finish_reason: string | null = null) => ({
  id: 'chatcmpl-1',
  model: 'm',
  choices: [{ index: 0, delta, finish_reason }],
})

test('the calls of a stream are assembled by index, however they are interleaved', () => {
  const piece = (index: number, call: object) => delta({ tool_calls: [{ index, ...call }] })
  const { calls, finishReason } = gathered([
    piece(0, { id: 'call_a', function: { name: 'first', arguments: '' } }),
    piece(1, { id: 'call_b', custom: { name: 'second', input: '' } }),
    piece(0, { function: { arguments: '{"x"' } }),
    piece(1, { custom: { input: 'te' } }),
    piece(0, { function: { arguments: ':1}' } }),
    piece(1, { custom: { input: 'xt' } }),
    delta({}, 'tool_calls'),
  ])
  expect(calls).toEqual([
    { id: 'call_a', kind: 'function', name: 'first', arguments: '{"x":1}' },
    { id: 'call_b', kind: 'custom', name: 'second', arguments: 'text' },
  ])
  expect(finishReason).toBe('tool_calls')
})

test('a stream and a whole completion give the same answer', () => {
  const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 }
  const tool_calls = [{ id: 'call_a', type: 'function', function: { name: 'first', arguments: '{}' } }]
  const message = { role: 'assistant', content: 'Hello.', reasoning_content: 'Hm.', refusal: null, tool_calls }
  const whole = { id: 'chatcmpl-1', model: 'm', choices: [{ index: 0, message, finish_reason: 'stop' }], usage }
  const stream = [
    delta({ role: 'assistant', content: '', refusal: null }),
    delta({ reasoning_content: 'Hm.' }),
    delta({ content: 'Hel' }),
    delta({ content: 'lo.' }),
    delta({ tool_calls: [{ index: 0, ...tool_calls[0] }] }),
    delta({}, 'stop'),
    { id: 'chatcmpl-1', model: 'm', choices: [], usage },
  ]
  expect(gathered(stream)).toEqual(createGatherer().whole(whole))
  expect(gathered(stream)).toMatchObject({ text: 'Hello.', usage: { prompt: 3, completion: 2 } })
})

test('any JSON from a live platform is handled without an error', () => {
  const odd = fc.oneof(
    fc.jsonValue(),
    fc.record({
      choices: fc.oneof(fc.jsonValue(), fc.array(fc.record({ delta: fc.jsonValue(), index: fc.jsonValue() }))),
    }),
    fc.record({ index: fc.double(), function: fc.jsonValue() }).map(call => delta({ tool_calls: [call] })),
  )
  fc.assert(
    fc.property(fc.array(odd), events => {
      const { text, calls } = gathered(events)
      expect(typeof text).toBe('string')
      expect(calls.length).toBeLessThanOrEqual(events.length)
      expect(Object.keys(calls).length).toBe(calls.length)
    }),
  )
})
