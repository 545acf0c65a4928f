/** Any completion survives conversion to a stream and back. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { assembledText, streamOf, wholeOf, withUsage } from '../../src/recordings/play.js'
import { recordedBody } from '../../src/recordings/recording.js'
import { anyCharacter } from '../characters.js'
import { runs } from '../runs.js'
import { completion } from './completions.js'
import { jsonOf, objectsOf, places, stream, textOf, whole } from './responses.js'

/** The same stream with other chunk boundaries. */
const recut = (response: ReturnType<typeof streamOf>, places: readonly number[]) =>
  stream(recordedBody(response ?? whole({})), places)

test('a completion converted to a stream and back is unchanged', () => {
  fc.assert(
    fc.property(completion, places, (original, places) => {
      const streamed = recut(streamOf(whole(original), { includeUsage: true }), places)
      expect(jsonOf(wholeOf(streamed))).toEqual(original)
    }),
    { numRuns: runs(300) },
  )
})

test('without include_usage only the usage is missing', () => {
  fc.assert(
    fc.property(completion, original => {
      const { usage: _, ...rest } = original
      const streamed = streamOf(whole(original), { includeUsage: false })
      expect(jsonOf(streamed && wholeOf(streamed))).toEqual(rest)
      expect(objectsOf(streamed).every(event => !('usage' in event))).toBe(true)
    }),
  )
})

test('removing the usage from a stream gives the bytes of one without usage, at the original times', () => {
  fc.assert(
    fc.property(completion, places, (original, places) => {
      const streamed = recut(streamOf(whole(original), { includeUsage: true }), places)
      const without = withUsage(streamed, false)
      expect(textOf(without)).toBe(textOf(streamOf(whole(original), { includeUsage: false })))
      const times = streamed.chunks.map(({ atMs }) => atMs)
      expect(times).toEqual(expect.arrayContaining(without?.chunks.map(({ atMs }) => atMs) ?? []))
      expect(withUsage(streamed, true)).toBe('usage' in original ? streamed : undefined)
    }),
    { numRuns: runs(300) },
  )
})

test('each event carries the logprobs of its own text', () => {
  fc.assert(
    fc.property(completion, original => {
      for (const event of objectsOf(streamOf(whole(original), { includeUsage: false }))) {
        for (const { delta, logprobs } of event.choices) {
          const tokens: { bytes: number[] }[] = logprobs?.content ?? []
          if (tokens.length === 0 || delta.content === undefined || delta.content === '') continue
          expect(`${Buffer.from(tokens.flatMap(({ bytes }) => bytes))}`).toBe(`${Buffer.from(delta.content)}`)
        }
      }
    }),
  )
})

test('assembling readable text never fails, whatever the body', () => {
  const anything = fc.oneof(
    fc.json(),
    fc.json().map(json => `data: ${json}\n\ndata: [DONE]\n\n`),
    completion.chain(original => fc.json().map(json => JSON.stringify({ ...original, choices: JSON.parse(json) }))),
    fc.json().map(json => `data: {"choices":[{"delta":${json}}]}\n\n`),
    fc.string({ unit: anyCharacter }),
  )
  fc.assert(
    fc.property(anything, body => {
      for (const type of ['text/event-stream', 'application/json']) {
        const text = assembledText({ ...stream(body), headers: [['content-type', type]] })
        expect(['string', 'undefined']).toContain(typeof text)
      }
    }),
    { numRuns: runs(500) },
  )
})
