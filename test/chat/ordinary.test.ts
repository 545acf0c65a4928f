import fc from 'fast-check'
import { expect, test } from 'vitest'
import { openaiRefusal } from '../../src/chat/openai-refusals.js'
import { isOrdinary } from '../../src/chat/ordinary.js'
import { type ChatRequest, chatIn, chatRequest } from '../../src/chat/request.js'
import { check } from '../../src/check/check.js'
import { hello } from '../scene.js'

/** A value of any kind, often one that a field may have. */
const anyValue = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constantFrom<unknown>(true, 1, 0, 2, 'user', 'assistant', 'system', 'tool', 'gpt-4o-mini'),
  },
  fc.constantFrom<unknown>(null, '', -1, 0.5, 2.5, 128, 129, Number.MAX_VALUE, 2 ** 60, [], {}, [{}], [null]),
  fc.jsonValue({ maxDepth: 1 }),
)

const anyMessage = fc.oneof(
  { weight: 4, arbitrary: fc.record({ role: fc.constantFrom('user', 'system'), content: fc.string() }) },
  fc.dictionary(fc.constantFrom('role', 'content', 'name', 'tool_calls', '__proto__', 'constructor'), anyValue),
  anyValue,
)

const fieldNames =
  'stream temperature top_p n max_tokens max_completion_tokens frequency_penalty presence_penalty seed user'
const anyRequest = fc
  .record({
    model: fc.oneof({ weight: 4, arbitrary: fc.constantFrom('gpt-4o-mini', 'o3') }, anyValue),
    messages: fc.oneof({ weight: 9, arbitrary: fc.array(anyMessage, { maxLength: 3 }) }, anyValue),
    more: fc.dictionary(fc.constantFrom(...fieldNames.split(' '), 'tools', 'stop', 'foo'), anyValue, { maxKeys: 3 }),
  })
  .map(({ more, ...request }): unknown => JSON.parse(JSON.stringify({ ...request, ...more })))

test('the form and OpenAI accept whatever is an ordinary request, and it means the same', () => {
  let ordinary = 0
  fc.assert(
    fc.property(anyRequest, request => {
      if (!isOrdinary(request)) return
      ordinary++
      expect(check(chatRequest, request)).toEqual({ value: request })
      expect(openaiRefusal(request as ChatRequest)).toBe(undefined)
    }),
    { numRuns: 2000 },
  )
  expect(ordinary).toBeGreaterThan(50)
})

test.each([
  [{}],
  [{ stream: true, temperature: 0.7, max_tokens: 100, seed: 1, user: 'ada' }],
  [{ messages: [{ role: 'system', content: 'Be brief.' }, ...hello.messages] }],
])('an ordinary request is not copied: %j', more => {
  expect(isOrdinary({ ...hello, ...more })).toBe(true)
  const exchange = { body: Buffer.from(JSON.stringify({ ...hello, ...more })), chat: undefined }
  // A copy of the form would list the fields in its own order.
  const reversed = Buffer.from(JSON.stringify(Object.fromEntries(Object.entries({ ...hello, ...more }).reverse())))
  expect(Object.keys(chatIn({ body: reversed, chat: undefined }))).toEqual(Object.keys({ ...hello, ...more }).reverse())
  expect(chatIn(exchange)).toEqual({ ...hello, ...more })
})
