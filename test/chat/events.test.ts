import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createEventSplitter, dataOf, halvedEvent } from '../../src/chat/events.js'

const line = fc
  .tuple(fc.constantFrom('data: ', 'data:', 'event: ', ': ', 'id: '), fc.string({ unit: 'grapheme' }))
  .map(([field, value]) => field + value.replace(/[\r\n]/g, ''))

/** Events with LF or CRLF line ends, as bytes. */
const events = fc.array(
  fc
    .tuple(fc.array(line, { minLength: 1, maxLength: 3 }), fc.constantFrom('\n', '\r\n'))
    .map(([lines, end]) => Buffer.from(lines.map(text => text + end).join('') + end)),
)

/** `bytes` in pieces that end anywhere, even in the middle of a character. */
function cutAt(bytes: Buffer, places: readonly number[]): Buffer[] {
  const ends = [...places.map(place => place % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length]
  return ends.map((end, i) => bytes.subarray(ends[i - 1] ?? 0, end))
}

test('events are split correctly wherever the network cuts them', () => {
  fc.assert(
    fc.property(events, fc.array(fc.nat(), { maxLength: 20 }), fc.string(), (whole, places, unfinished) => {
      const rest = Buffer.from(unfinished.replace(/[\r\n]/g, ''))
      const splitter = createEventSplitter()
      const found = cutAt(Buffer.concat([...whole, rest]), places).flatMap(piece => splitter.push(piece))
      expect(found.map(String)).toEqual(whole.map(String))
      expect(splitter.rest().equals(rest)).toBe(true)
    }),
  )
})

test('an event is emitted as soon as its blank line arrives', () => {
  const splitter = createEventSplitter()
  expect(splitter.push(Buffer.from('data: 1\r\n\r'))).toEqual([])
  expect(splitter.push(Buffer.from('\n')).map(String)).toEqual(['data: 1\r\n\r\n'])
})

test('an event that never ends is passed on in parts', () => {
  const splitter = createEventSplitter()
  let passedOn = 0
  for (let i = 0; i < 40; i++) for (const part of splitter.push(Buffer.alloc(65_536, 'x'))) passedOn += part.length
  expect(passedOn + splitter.rest().length).toBe(40 * 65_536)
  expect(splitter.rest().length).toBeLessThan(1_100_000)
})

test.each([
  ['data: {"a":1}\n\n', '{"a":1}'],
  ['data:{"a":1}\r\n\r\n', '{"a":1}'],
  ['event: x\ndata: one\ndata: two\n\n', 'one\ntwo'],
  [': ping\n\n', undefined],
  ['event: x\n\n', undefined],
])('the data of %j is %j', (event, data) => {
  expect(dataOf(Buffer.from(event))).toBe(data)
})

test('half of an event is an event with broken JSON but valid UTF-8', () => {
  const objects = fc.dictionary(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }))
  fc.assert(
    fc.property(objects, fc.constantFrom('\n', '\r\n'), (object, end) => {
      const event = Buffer.from(`id: 7${end}data: ${JSON.stringify(object)}${end}${end}`)
      const halved = halvedEvent(event)
      const text = new TextDecoder('utf-8', { fatal: true }).decode(halved)
      expect(text.startsWith(`id: 7${end}data: {`)).toBe(true)
      expect(text.endsWith(end + end)).toBe(true)
      expect(() => JSON.parse(dataOf(halved) ?? '')).toThrow(SyntaxError)
    }),
  )
})
