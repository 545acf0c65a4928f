import { expect, test } from 'vitest'
import { mustBe, oneOf } from '../sentences.js'
import { builderWith, json, platformFor, platformForAll } from './builder.js'

const builderPlatform = platformForAll()

test('an invalid request is refused with the wrong fields', async () => {
  const platform = await builderPlatform()
  const refused = async (...asked: Parameters<typeof platform.ask>) => {
    const answer = await platform.ask(...asked)
    const { error } = (await answer.json()) as { readonly error: string }
    return [answer.status, error]
  }
  expect(await refused('/builder/projects?limit=500')).toEqual([400, mustBe('query.limit', 'at most 100', 500)])
  expect(await refused('/builder/projects?limit=many')).toEqual([400, mustBe('query.limit', 'a whole number', 'many')])
  expect(await refused('/builder/projects?status=draft&status=dead')).toEqual([
    400,
    mustBe('query.status[1]', oneOf('"draft"', '"live"'), 'dead'),
  ])
  expect(await refused('/builder/projects', { headers: { 'x-tenant': 'A1' } })).toEqual([
    400,
    'header.x-tenant must match /^[a-z]+$/, not "A1".',
  ])
  expect(await refused('/builder/projects', { method: 'POST' })).toEqual([400, 'body is missing.'])
  expect(await refused('/builder/projects', json({ status: 'dead' }))).toEqual([
    400,
    `body.name is missing. ${mustBe('body.status', oneOf('"draft"', '"live"'), 'dead')}`,
  ])
  const csv = { ...json({}), headers: { 'content-type': 'text/csv' } }
  expect(await refused('/builder/projects', csv)).toEqual([
    415,
    'The Content-Type is "text/csv". Send application/json.',
  ])
})

test('a parameter with allowEmptyValue may be empty, but not wrong or missing', async () => {
  const schemas = {
    count: { type: 'integer' },
    tags: { type: 'array', items: { enum: ['a'] } },
    other: { type: 'integer' },
  }
  const parameters = Object.entries(schemas).map(([name, schema], i) => ({
    ...{ name, in: 'query', required: i === 0, allowEmptyValue: name !== 'other', schema },
  }))
  const platform = await platformFor(
    builderWith({ paths: { '/empty': { get: { parameters, responses: { 200: { description: 'OK' } } } } } }),
  )
  const refusal = async (query: string) => (await platform.ask(`/builder/empty?${query}`)).text()
  expect([await refusal('count=&tags='), await refusal('count')]).toEqual(['', ''])
  expect(await refusal('count=x&tags=')).toContain('query.count must be a whole number')
  expect(await refusal('tags=')).toContain('query.count is missing.')
  expect(await refusal('count=&other=')).toContain('query.other must be a whole number')
})

test('the fields of a form are checked, unless some are in objects or lists in brackets', async () => {
  const integer = { type: 'integer' }
  const properties = {
    floor: integer,
    tags: { type: 'array', items: integer },
    'sizes[]': { type: 'array', items: integer },
  }
  const schema = { type: 'object', additionalProperties: false, properties }
  const content = { 'application/x-www-form-urlencoded': { schema }, 'multipart/form-data': { schema } }
  const operation = { requestBody: { content }, responses: { 200: { description: 'OK' } } }
  const platform = await platformFor(builderWith({ paths: { '/orders': { post: operation } } }))
  const sent = async (body: string) => {
    const fields = new URLSearchParams(body)
    const parts = new FormData()
    for (const [name, value] of fields) parts.append(name, value)
    const [form, multipart] = [fields, parts].map(one => platform.ask('/builder/orders', { method: 'POST', body: one }))
    const answer = await (await form)?.text()
    expect(await (await multipart)?.text()).toBe(answer)
    return answer
  }
  expect(await sent('floor=3&tags=1&tags=2&sizes[]=1&sizes[]=2')).toBe('')
  expect(await sent('floor=x')).toContain(JSON.stringify(mustBe('body.floor', 'a whole number', 'x')))
  const sentAt = performance.now()
  expect(await sent(`floor=${'1'.repeat(500_000)}x`)).toContain('body.floor must be a whole number')
  expect(performance.now() - sentAt).toBeLessThan(5000)
  expect(await sent('other=5')).toContain('is not known here')
  expect(await sent('items[0][price]=5')).toBe('')
})

test('a body that takes long to check does not delay other requests', async () => {
  const schema = { type: 'array', uniqueItems: true, items: { type: 'object' } }
  const operation = {
    requestBody: { content: { 'application/json': { schema } } },
    responses: { 200: { description: 'Taken.' } },
  }
  const platform = await platformFor(builderWith({ paths: { '/many': { post: operation } } }))
  const many = Array.from({ length: 4000 }, (_, id) => ({ id, tags: ['a', 'b'] }))
  const order: string[] = []
  const slow = platform.ask('/builder/many', json([...many, many[0]])).then(answer => {
    order.push('many')
    return answer
  })
  await platform.ask('/builder/status')
  order.push('status')
  expect((await slow).status).toBe(400)
  expect(order).toEqual(['status', 'many'])
})

test('hostile names and encodings are handled as plain data', async () => {
  const platform = await builderPlatform()
  expect((await platform.ask('/builder/projects?filter[__proto__]=1&__proto__=1&limit=5')).status).toBe(200)
  expect((await platform.ask('/builder/projects/%E0%A4%A')).status).toBe(200)
  const polluting = { ...json({}), body: '{"__proto__":{"polluted":true},"name":"n","status":"live"}' }
  expect((await platform.ask('/builder/projects', polluting)).status).toBe(201)
  expect({}).not.toHaveProperty('polluted')
  const zipped = { ...json({}), headers: { ...json({}).headers, 'content-encoding': 'gzip' } }
  expect((await platform.ask('/builder/projects', zipped)).status).toBe(415)
  expect((await platform.ask('/builder/projects', { ...json({}), body: '{' })).status).toBe(400)
  expect((await platform.ask('/builder/projects', json(JSON.parse('['.repeat(1200) + ']'.repeat(1200))))).status).toBe(
    400,
  )
})

test('with validate: false any request is accepted', async () => {
  const platform = await platformFor(undefined, {}, { validate: false })
  expect((await platform.ask('/builder/projects?limit=many')).status).toBe(200)
  expect((await platform.ask('/builder/projects', { method: 'POST' })).status).toBe(201)
})
