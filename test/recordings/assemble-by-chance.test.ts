/** Whatever a model may say: whole, as a stream and back it is the same. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { assembledText, streamOf, wholeOf, withUsage } from '../../src/recordings/convert.js'
import { bodyOf } from '../../src/recordings/recording.js'
import { anyCharacter } from '../characters.js'
import { runs } from '../runs.js'
import { completion } from './completions.js'
import { jsonOf, objectsOf, places, stream, textOf, whole } from './responses.js'

/** A stream with other borders between its chunks. */
const recut = (response: ReturnType<typeof streamOf>, places: readonly number[]) =>
  stream(bodyOf(response ?? whole({})), places)

test('a completion that is told as a stream and put together again is the same completion', () => {
  fc.assert(
    fc.property(completion, places, (said, places) => {
      const streamed = recut(streamOf(whole(said), { includeUsage: true }), places)
      expect(jsonOf(wholeOf(streamed))).toEqual(said)
    }),
    { numRuns: runs(300) },
  )
})

test('who does not ask for the usage gets all but that', () => {
  fc.assert(
    fc.property(completion, said => {
      const { usage: _, ...rest } = said
      const streamed = streamOf(whole(said), { includeUsage: false })
      expect(jsonOf(streamed && wholeOf(streamed))).toEqual(rest)
      expect(objectsOf(streamed).every(event => !('usage' in event))).toBe(true)
    }),
  )
})

test('a stream whose usage is left out has the bytes of one that never had any, and the times of one that had', () => {
  fc.assert(
    fc.property(completion, places, (said, places) => {
      const streamed = recut(streamOf(whole(said), { includeUsage: true }), places)
      const without = withUsage(streamed, false)
      expect(textOf(without)).toBe(textOf(streamOf(whole(said), { includeUsage: false })))
      const times = streamed.chunks.map(({ atMs }) => atMs)
      expect(times).toEqual(expect.arrayContaining(without?.chunks.map(({ atMs }) => atMs) ?? []))
      expect(withUsage(streamed, true)).toBe('usage' in said ? streamed : undefined)
    }),
    { numRuns: runs(300) },
  )
})

test('each event tells some of the text, and the logprobs of that', () => {
  fc.assert(
    fc.property(completion, said => {
      for (const event of objectsOf(streamOf(whole(said), { includeUsage: false }))) {
        for (const { delta, logprobs } of event.choices) {
          const tokens: { bytes: number[] }[] = logprobs?.content ?? []
          if (tokens.length === 0 || delta.content === undefined || delta.content === '') continue
          expect(`${Buffer.from(tokens.flatMap(({ bytes }) => bytes))}`).toBe(`${Buffer.from(delta.content)}`)
        }
      }
    }),
  )
})

test('text for people is made of anything', () => {
  const anything = fc.oneof(
    fc.json(),
    fc.json().map(json => `data: ${json}\n\ndata: [DONE]\n\n`),
    completion.chain(said => fc.json().map(json => JSON.stringify({ ...said, choices: JSON.parse(json) }))),
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
