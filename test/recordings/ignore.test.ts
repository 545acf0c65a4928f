import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type IgnoreOption, ignoreFrom } from '../../src/recordings/ignore.js'
import { requestKey } from '../../src/recordings/key.js'
import { asking, question } from './scene.js'

/** Whether two bodies count as the same request. */
const same = (ignored: readonly IgnoreOption[], one: unknown, other: unknown, query = ['', '']) => {
  const ignore = ignoreFrom(ignored)
  return (
    requestKey(asking(one, { query: query[0] ?? '' }), ignore) ===
    requestKey(asking(other, { query: query[1] ?? '' }), ignore)
  )
}
const without = (path: string, value: unknown) => ignoreFrom([path]).inJson(value)

const body = {
  metadata: { requestId: 'r-1', unit: 'a' },
  messages: [
    { role: 'system', content: 'It is 2026-01-31.' },
    { role: 'user', content: [{ type: 'text', text: 'Hi' }], name: 'ada' },
  ],
  tools: [{ function: { description: 'd', parameters: { properties: { a: { description: 'e' }, description: {} } } } }],
}

test.each([
  ['metadata.requestId', { ...body, metadata: { unit: 'a' } }],
  ['$.metadata.requestId', { ...body, metadata: { unit: 'a' } }],
  ['metadata["requestId"]', { ...body, metadata: { unit: 'a' } }],
  ['metadata', { messages: body.messages, tools: body.tools }],
  ['messages[0]', { ...body, messages: [body.messages[1]] }],
  ['messages[-1]', { ...body, messages: [body.messages[0]] }],
  ['messages[0].content', { ...body, messages: [{ role: 'system' }, body.messages[1]] }],
  [
    'messages.*.role',
    { ...body, messages: [{ content: 'It is 2026-01-31.' }, { content: [{ type: 'text', text: 'Hi' }], name: 'ada' }] },
  ],
  [
    'messages[*].content[*].text',
    { ...body, messages: [body.messages[0], { role: 'user', content: [{ type: 'text' }], name: 'ada' }] },
  ],
  ['tools.**.description', { ...body, tools: [{ function: { parameters: { properties: { a: {} } } } }] }],
  ['**.properties', { ...body, tools: [{ function: { description: 'd', parameters: {} } }] }],
  ['tools.**', { metadata: body.metadata, messages: body.messages }],
  ['no.such.field', body],
])('ignoring %s leaves the rest', (path, rest) => {
  expect(without(path, body)).toEqual(rest)
})

test('an ignored field does not count, whether present or not', () => {
  const ignored = ['metadata.requestId', 'messages[*].name']
  const named = { ...question, messages: [{ ...question.messages[0], name: 'ada' }], metadata: { requestId: 'r-1' } }
  expect(same(ignored, named, question)).toBe(true)
  expect(same(ignored, named, { ...question, model: 'gpt-4o' })).toBe(false)
  expect(same([], named, question)).toBe(false)
})

test('an ignored field may be one of a form', () => {
  const boundary = '--boundary'
  const inParts = (id: string) =>
    `${boundary}\r\nContent-Disposition: form-data; name="id"\r\n\r\n${id}\r\n${boundary}\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n${boundary}--\r\n`
  expect(same(['id'], 'a=1&id=2', 'id=&a=1')).toBe(true)
  expect(same(['user.id'], 'user[id]=1&user[name]=ada', 'user%5Bname%5D=ada')).toBe(true)
  expect(same([{ path: 'on', pattern: '/\\d+/' }], 'on=day+1&a=1', 'a=1&on=day+22')).toBe(true)
  expect(same(['id'], inParts('1'), inParts('2'))).toBe(true)
  expect(same(['id'], 'a=1&id=2', 'a=2&id=2')).toBe(false)
  expect(same([], inParts('1'), inParts('2'))).toBe(false)
})

test('with a pattern only the matching text is ignored', () => {
  const ignored = [{ path: 'messages[0]', pattern: '/\\d{4}-\\d\\d-\\d\\d/' }]
  const on = (day: string, more = '') => ({
    model: 'm',
    messages: [{ role: 'user', content: `On ${day} and ${day}${more}` }],
  })
  expect(same(ignored, on('2026-01-31'), on('2025-12-24'))).toBe(true)
  expect(same(ignored, on('2026-01-31'), on('2025-12-24', '!'))).toBe(false)
  const elsewhere = (day: string) => ({ ...question, user: day })
  expect(same(ignored, elsewhere('2026-01-31'), elsewhere('2025-12-24'))).toBe(false)
})

test('a regular expression alone applies to all strings of the body, to parameters and to bodies that are not JSON', () => {
  const ignored = ['/run-[a-z]+/i']
  const running = (run: string) => ({ ...question, deep: [{ er: `the ${run} of today` }] })
  expect(same(ignored, running('run-one'), running('RUN-TWO'))).toBe(true)
  expect(same(ignored, running('run-1'), running('run-2'))).toBe(false)
  expect(same(ignored, 'no JSON, run-one', 'no JSON, run-two')).toBe(true)
  expect(same(ignored, question, question, ['a=x%20run-one', 'a=x%20run-two'])).toBe(true)
  expect(same(ignored, question, question, ['a=x%20run-one', 'a=y%20run-two'])).toBe(false)
})

test('a regular expression applies to the path', () => {
  const ignore = ignoreFrom(['/file-\\w+/'])
  const path = (path: string) => requestKey(asking('', { method: 'GET', path }), ignore)
  expect(path('/v1/files/file-abc/content')).toBe(path('/v1/files/file-def/content'))
  expect(path('/v1/files/file-abc/content')).not.toBe(path('/v1/files/file-abc'))
})

test('a query parameter is ignored entirely or only where it matches', () => {
  const either = (ignored: IgnoreOption, one: string, other: string) =>
    same([ignored], question, question, [one, other])
  expect(either({ query: 'at' }, 'a=1&at=12', 'a=1')).toBe(true)
  expect(either({ query: 'at' }, 'a=1&at=12', 'a=2&at=12')).toBe(false)
  expect(either({ query: 'my name' }, 'my%20name=1', '')).toBe(true)
  expect(either({ query: 'at', pattern: '/\\d+/' }, 'at=t12', 'at=t13')).toBe(true)
  expect(either({ query: 'at', pattern: '/\\d+/' }, 'at=t12', 'at=u13')).toBe(false)
  expect(either({ query: 'at', pattern: '/\\d+/' }, 'at=t12&b=1', 'at=t12&b=2')).toBe(false)
  expect(either('/\\d+/', 'a=x%26b=y', 'a=x&b=y')).toBe(false)
})

test('ignored fields count as absent when defaults are applied', () => {
  expect(same(['metadata.requestId'], { ...question, metadata: { requestId: '1' } }, question)).toBe(true)
  expect(same(['tools[*]'], { ...question, tools: [{ a: 1 }] }, question)).toBe(true)
})

test('only ignored fields are removed, and the others keep their names', () => {
  fc.assert(
    fc.property(fc.jsonValue(), value => {
      const json = JSON.stringify(value)
      expect(JSON.stringify(without('no-such-field.**.at-all', JSON.parse(json)))).toBe(json)
      expect(JSON.stringify(ignoreFrom(['/no such text at all/']).inJson(JSON.parse(json)))).toBe(json)
      expect(without('**', { a: value })).toEqual({})
    }),
  )
  const odd = JSON.parse('{"__proto__":{"a":1,"b":2},"constructor":1}')
  expect(JSON.stringify(without('*.a', odd))).toBe('{"__proto__":{"b":2},"constructor":1}')
})

test('any path can be applied to any body', () => {
  const step = fc.constantFrom('*', '**', '[0]', '[*]', '[-1]', '[', ']', '.', '..', '$', 'a', "['a']", '__proto__')
  fc.assert(
    fc.property(fc.array(step), fc.jsonValue(), (steps, value) => {
      const path = steps.join('.') || 'a'
      const once = without(path, value)
      // The second time, indexes refer to the shorter list.
      if (!path.includes('[')) expect(without(path, once)).toEqual(once)
    }),
  )
})
