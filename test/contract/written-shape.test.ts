/** Shapes of answers are stored as JSON and read back unchanged. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compare } from '../../src/contract/compare.js'
import { answerShapeIn, shapeOfAnswer } from '../../src/contract/shape.js'

const shapeOf = (contentType: string, text: string, status = 200) =>
  shapeOfAnswer({
    status,
    headers: [
      ['content-type', contentType],
      ['retry-after', '1'],
    ],
    body: Buffer.from(text),
  })

const stored = (value: unknown) => JSON.parse(JSON.stringify(value))

test('the shape of any JSON is read back unchanged, and does not differ from itself', () => {
  fc.assert(
    fc.property(fc.jsonValue(), value => {
      const shape = shapeOf('application/json', JSON.stringify(value))
      const readBack = answerShapeIn(stored(shape))
      expect(readBack && compare(shape, readBack)).toEqual([])
      expect(readBack).toEqual(shape)
    }),
  )
})

test.each([
  ['a stream', 'text/event-stream', 'data: {"choices":[{"delta":{"content":"Hi"}}]}\n\ndata: [DONE]\n\n'],
  ['a stream without an event', 'text/event-stream', ''],
  ['plain text', 'text/plain', 'Hi.'],
  ['an empty body', 'text/plain', ''],
])('the shape of %s is read back unchanged', (_, type, text) => {
  const shape = shapeOf(type, text)
  expect(answerShapeIn(stored(shape))).toEqual(shape)
})

test('a shape contains the structure of an answer and none of its values', () => {
  const answer = { role: 'assistant', content: 'A secret of mine.', list: [{ id: 'sk-live-1' }, {}] }
  const written = shapeOf('application/json', JSON.stringify(answer))
  expect(JSON.stringify(written)).not.toMatch(/secret of|sk-live/)
  expect(written.body).toMatchObject({
    kind: 'JSON',
    shape: {
      fields: [
        { name: 'content', shape: { kinds: ['string'] } },
        { name: 'list', shape: { item: { fields: [{ name: 'id', optional: true, shape: { kinds: ['string'] } }] } } },
        { name: 'role', shape: { words: ['assistant'] } },
      ],
    },
  })
})

test.each([null, [], 'text', { status: 200 }, { status: '200', contentType: '', headers: [], body: { kind: 'text' } }])(
  '%j is not a shape',
  value => expect(answerShapeIn(value)).toBeUndefined(),
)
