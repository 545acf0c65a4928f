import { expect, onTestFinished, test, vi } from 'vitest'
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

test('parameters are read as they are usually sent; others are named at the start and not checked', async () => {
  const list = { type: 'array', items: { type: 'integer' } }
  const parameters = [
    { name: 'many', in: 'query', schema: list },
    { name: 'few', in: 'query', explode: false, schema: list },
    { name: 'x-list', in: 'header', schema: { $ref: '#/components/schemas/List' } },
    { name: 'size', in: 'cookie', schema: { type: ['integer', 'null'] } },
    { name: 'deep', in: 'query', style: 'deepObject', schema: { type: 'object' } },
    { name: 'plain', in: 'query', required: true, schema: { type: 'object' } },
    { name: 'json', in: 'query', content: { 'application/json': { schema: list } } },
    { name: 'flag', in: 'query', allowEmptyValue: true, schema: { type: 'integer' } },
  ]
  const paths = {
    '/lists/{ids}': {
      get: {
        parameters: [...parameters, { name: 'ids', in: 'path', schema: list }],
        responses: { 200: { description: 'OK' } },
      },
    },
  }
  const warnings = vi.spyOn(console, 'error').mockImplementation(() => {})
  onTestFinished(() => void warnings.mockRestore())
  const platform = await platformFor(builderWith({ paths, schemas: { List: list } }))
  const unchecked = warnings.mock.calls.flatMap(
    ([line]) => /parameter (\w+) is not checked: (.*)$/.exec(line)?.slice(1) ?? [],
  )
  expect(unchecked.slice(2)).toEqual([
    'deep',
    'its style is deepObject.',
    'plain',
    'it is an object.',
    'json',
    'it has no schema of its own.',
    'flag',
    'it may be empty.',
  ])
  const status = async (ids: string, query = '', headers = {}) =>
    (await platform.ask(`/builder/lists/${ids}?${query}`, { headers })).status
  expect(
    await status('1,2', 'many=1&many[]=2&few=3,4&deep[a]=x&json=x&flag=', { 'x-list': '5,6', cookie: 'size=null' }),
  ).toBe(200)
  expect([await status('1,x'), await status('1', 'many=1&many=x'), await status('1', 'few=3,x')]).toEqual([
    400, 400, 400,
  ])
  expect([await status('1', '', { 'x-list': 'x' }), await status('1', '', { cookie: 'size=x' })]).toEqual([400, 400])
})

test('a body that is not JSON must have a described type, and is not checked', async () => {
  const schema = { type: 'object', required: ['floor'] }
  const content = { 'application/x-www-form-urlencoded': { schema }, 'application/json': { schema } }
  const operation = { requestBody: { content }, responses: { 200: { description: 'OK' } } }
  const platform = await platformFor(builderWith({ paths: { '/orders': { post: operation } } }))
  const sent = async (body: URLSearchParams | FormData) =>
    (await platform.ask('/builder/orders', { method: 'POST', body })).status
  expect([await sent(new URLSearchParams('a=1')), await sent(new FormData())]).toEqual([200, 415])
  expect((await platform.ask('/builder/orders', json({}))).status).toBe(400)
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
