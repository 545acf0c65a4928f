/** Shapes of answers are kept as JSON and come back as they were. */
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

const again = (value: unknown) => JSON.parse(JSON.stringify(value))

test('any JSON has a shape that can be kept, and that differs in nothing from itself', () => {
  fc.assert(
    fc.property(fc.jsonValue(), value => {
      const shape = shapeOf('application/json', JSON.stringify(value))
      const back = answerShapeIn(again(shape))
      expect(back && compare(shape, back)).toEqual([])
      expect(back).toEqual(shape)
    }),
  )
})

test.each([
  ['a stream', 'text/event-stream', 'data: {"choices":[{"delta":{"content":"Hi"}}]}\n\ndata: [DONE]\n\n'],
  ['a stream without an event', 'text/event-stream', ''],
  ['a text', 'text/plain', 'Hi.'],
  ['nothing', 'text/plain', ''],
])('so has %s', (_, type, text) => {
  const shape = shapeOf(type, text)
  expect(answerShapeIn(again(shape))).toEqual(shape)
})

test('nothing that an answer says is kept, only what it is made of', () => {
  const said = { role: 'assistant', content: 'A secret of mine.', list: [{ id: 'sk-live-1' }, {}] }
  const written = shapeOf('application/json', JSON.stringify(said))
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
  '%j is no shape',
  value => expect(answerShapeIn(value)).toBeUndefined(),
)
