import fc from 'fast-check'
import { expect, test } from 'vitest'
import { check } from '../../src/check/check.js'
import { type ChatRequest, chatFields, chatRequest, isUsual } from '../../src/completions/request.js'
import { openaiRefusal } from '../../src/platform-api/chat/openai-refusals.js'
import { runs } from '../runs.js'
import { hello } from '../scene.js'

const anything = fc.oneof(
  fc.constantFrom(null, true, false, '', 'auto', 'none', -1, 0, 1, 1.5, 2, 3, 2.5, Number.POSITIVE_INFINITY, [], {}),
  fc.jsonValue(),
)
const role = fc.constantFrom('system', 'user', 'assistant', 'tool', 'developer', 'function', 'robot')
const message = fc.record(
  {
    role: fc.oneof(role, anything),
    content: fc.oneof(fc.string(), anything),
    name: anything,
    tool_calls: anything,
    refusal: anything,
  },
  { requiredKeys: ['role', 'content'] },
)
const field = fc.tuple(fc.oneof(fc.constantFrom(...chatFields), fc.constantFrom('top_k', '__proto__')), anything)
const request = fc
  .tuple(
    fc.constantFrom('gpt-4o-mini', 'o3-mini', 'gpt-5', ''),
    fc.array(fc.oneof(fc.record({ role, content: fc.string() }), message, anything), { maxLength: 4 }),
    fc.array(field, { maxLength: 3 }),
  )
  .map(([model, messages, fields]) => JSON.parse(JSON.stringify({ model, messages, ...Object.fromEntries(fields) })))

test('every usual request passes the schema unchanged and is accepted by OpenAI', () => {
  fc.assert(
    fc.property(request, value => {
      if (!isUsual(value)) return
      expect(check(chatRequest, value)).toEqual({ value })
      expect(openaiRefusal(value as ChatRequest)).toBeUndefined()
    }),
    { numRuns: runs(2000) },
  )
})

test.each([
  {},
  { messages: [{ role: 'system', content: 'Be brief.' }, { role: 'assistant', content: '' }, ...hello.messages] },
  { stream: true, temperature: 0.7, top_p: 1, max_tokens: 256, seed: -3, user: 'ada' },
])('a common request is usual: %j', fields => {
  expect(isUsual({ ...hello, ...fields })).toBe(true)
})

test.each([
  { model: 'o3-mini', max_tokens: 5 },
  { max_tokens: 0 },
  { temperature: 2.1 },
  { stream: null },
  { top_k: 40 },
  { messages: [] },
  { messages: [{ role: 'tool', content: '21 °C' }] },
  { messages: [{ role: 'user', content: null }] },
  { messages: [{ role: 'user', content: 'hello', name: 'ada' }] },
])('a request that may be invalid is not usual: %j', fields => {
  expect(isUsual({ ...hello, ...fields })).toBe(false)
})
