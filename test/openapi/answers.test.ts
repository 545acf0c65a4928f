import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { folderWith } from '../command.js'
import { platformWith, refusalOf } from '../scene.js'
import { mustBe, NO_VALUE_FOUND } from '../sentences.js'
import { builderWith, json, platformFor, platformForAll } from './builder.js'
import '../../src/vitest.js'

const builderPlatform = platformForAll()

test('an operation answers with its example, and the journal names its source', async () => {
  const platform = await builderPlatform()
  const answer = await platform.ask('/builder/projects')
  expect(await answer.json()).toHaveLength(2)
  const exchange = await platform.journal.last({ path: '/builder/projects' })
  expect(exchange?.answeredBy).toMatchObject({ kind: 'openapi', operation: 'GET /builder/projects', example: 'two' })
  expect(exchange?.source).toMatch(/builder\.openapi\.yaml, example two$/)
})

test('without an example the answer is generated from the schema, the same for the same request', async () => {
  const platform = await builderPlatform()
  const first = await platform.ask('/builder/projects/7')
  const project = await first.json()
  expect(project).toEqual({
    id: expect.any(String),
    name: expect.any(String),
    status: expect.stringMatching(/^(draft|live)$/),
  })
  expect(first.headers.get('x-revision')).toBe('7')
  expect(await (await platform.ask('/builder/projects/7')).json()).toEqual(project)
  expect(await (await platform.ask('/builder/projects/8')).json()).not.toEqual(project)
})

test('an example may refer to another one, also in its value', async () => {
  const small = { $ref: '#/components/examples/small' }
  const sizes = (one: object) => {
    const content = { 'application/json': { examples: { one } } }
    return { get: { responses: { 200: { description: 'Sizes.', content } } } }
  }
  const paths = { '/plain': sizes(small), '/nested': sizes({ value: small }) }
  const platform = await platformFor(builderWith({ paths, examples: { small: { value: { size: 1 } } } }))
  for (const name of ['plain', 'nested'])
    expect(await (await platform.ask(`/builder/${name}`)).json()).toEqual({ size: 1 })
})

test('whole numbers of 64 bits in examples keep their digits, in the answer and in its schema', async () => {
  const schema = { properties: { id: { type: 'integer', example: 1540001 } }, required: ['id'] }
  const media = (json: object) => ({
    get: { responses: { 200: { description: 'x', content: { 'application/json': json } } } },
  })
  const paths = {
    '/one': media({ example: { id: 1540001 } }),
    '/two': media({ schema: { type: 'object', ...schema } }),
  }
  const id = '154284075601887489'
  const api = JSON.stringify({ openapi: '3.0.3', info: { title: 't', version: '1' }, paths }).replaceAll('1540001', id)
  const dir = folderWith({ 'platform.config.yaml': 'openapi: api.json\n', 'api.json': api })
  const platform = await platformWith({ config: `${dir}/platform.config.yaml` })
  for (const name of ['one', 'two']) expect(await (await platform.ask(`/${name}`)).text()).toBe(`{"id":${id}}`)
})

test('a text of another type than JSON is sent as it is written, and a made-up value always as JSON', async () => {
  const answers = {
    csv: { 'text/csv': { example: 'id,name\na,A\n' } },
    stream: { 'text/event-stream': { example: 'data: a\n\ndata: b\n\n' } },
    xml: { 'application/xml': { schema: { const: 5 } }, 'text/html': {} },
    both: { 'text/csv': { example: 'id' }, 'application/vnd.api+json': { schema: { const: [1] } } },
  }
  const paths = Object.entries(answers).map(([name, content]) => {
    return [`/${name}`, { get: { responses: { 200: { description: 'd', content } } } }] as const
  })
  const platform = await platformFor(builderWith({ paths: Object.fromEntries(paths) }))
  const said = async (name: string) => {
    const answer = await platform.ask(`/builder/${name}`, { headers: { prefer: 'code=503', accept: 'text/csv' } })
    return [answer.status, answer.headers.get('content-type'), await answer.text()]
  }
  expect(await said('csv')).toEqual([200, 'text/csv', 'id,name\na,A\n'])
  expect(await said('stream')).toEqual([200, 'text/event-stream', 'data: a\n\ndata: b\n\n'])
  expect(await said('xml')).toEqual([200, 'application/json', '5'])
  expect(await said('both')).toEqual([200, 'application/vnd.api+json', '[1]'])
})

test('operations of HEAD and OPTIONS answer, and preflights stay preflights', async () => {
  const ofSize = (example: number) => ({ 200: { description: 'A.', headers: { 'X-Size': { example, schema: {} } } } })
  const file = { head: { responses: ofSize(7) }, options: { responses: ofSize(8) } }
  const both = { get: { responses: ofSize(9) }, head: { responses: ofSize(10) } }
  const platform = await platformFor(builderWith({ paths: { '/file': file, '/both': both } }))
  const sizeBy = async (method: string, path: string, headers = {}) =>
    (await platform.ask(`/builder/${path}`, { method, headers })).headers.get('x-size')
  expect([await sizeBy('HEAD', 'file'), await sizeBy('OPTIONS', 'file')]).toEqual(['7', '8'])
  expect([await sizeBy('GET', 'both'), await sizeBy('HEAD', 'both')]).toEqual(['9', '10'])
  const preflight = { origin: 'http://app.example', 'access-control-request-method': 'HEAD' }
  expect(await sizeBy('OPTIONS', 'file', preflight)).toBe(null)
  const post = await platform.ask('/builder/file', json({}))
  expect([post.status, post.headers.get('allow')]).toEqual([405, 'HEAD, OPTIONS'])
})

test('objects are sent as JSON if the document has */*, as springdoc writes it', async () => {
  const schema = { type: 'object', required: ['name'], properties: { name: { type: 'string' } } }
  const content = { '*/*': { schema } }
  const operation = { requestBody: { content }, responses: { 200: { description: 'OK', content } } }
  const platform = await platformFor(builderWith({ paths: { '/any': { post: operation } } }))
  const answer = await platform.ask('/builder/any', json({ name: 'Ada' }))
  expect(answer.headers.get('content-type')).toBe('application/json')
  expect(await answer.json()).toEqual({ name: expect.any(String) })
  const wrong = await platform.ask('/builder/any', json({ name: 5 }))
  expect(await refusalOf(wrong)).toMatchObject({ status: 400, body: { error: mustBe('body.name', 'a string', 5) } })
})

test('the most specific path answers, also one with text around a parameter', async () => {
  const platform = await builderPlatform()
  expect(await (await platform.ask('/builder/projects/mine')).text()).toBe('mine')
  expect((await platform.ask('/builder/projects/7:publish', { method: 'POST' })).status).toBe(202)
  const put = await platform.ask('/builder/projects/7', { method: 'PUT' })
  expect([put.status, put.headers.get('allow')]).toEqual([405, 'GET, HEAD, DELETE, OPTIONS'])
  expect((await platform.ask('/builder/projects/7', { method: 'DELETE' })).status).toBe(204)
  expect((await platform.ask('/projects')).status).toBe(404)
})

test('access follows from the security schemes or from the configuration', async () => {
  const platform = await builderPlatform()
  expect((await platform.ask('/builder/projects', { bearer: null })).status).toBe(401)
  expect((await platform.ask('/builder/projects', { bearer: platform.anonKey })).status).toBe(401)
  expect((await platform.ask('/builder/status', { bearer: null })).status).toBe(200)
  const open = await platformFor(undefined, {}, { access: ['anon'], prefix: '/b' })
  expect((await open.ask('/b/projects', { bearer: open.anonKey })).status).toBe(200)
  expect((await open.ask('/b/status', { bearer: null })).status).toBe(401)
})

test("a document cannot override the platform's own and reserved paths", async () => {
  const operation = { get: { responses: { 200: { description: 'Taken over.' } } } }
  const paths = { '/v1/models': operation, '/dashboard/x': operation, '/__standin/journal': operation }
  const platform = await platformFor(builderWith({ paths }), {}, { prefix: '' })
  expect(await (await platform.ask('/v1/models')).json()).toHaveProperty('object', 'list')
  const index = await (await platform.ask('/api/v1', { bearer: platform.anonKey })).text()
  expect(index.match(/\/v1\/models/g)).toHaveLength(1)
  expect(index).not.toContain('/dashboard/x')
})

test('a rule answers before the document', async () => {
  const rules = [{ on: 'GET /builder/projects/:id', when: { params: { id: '7' } }, reply: { json: { by: 'rule' } } }]
  const platform = await platformFor(undefined, { rules })
  expect(await (await platform.ask('/builder/projects/7')).json()).toEqual({ by: 'rule' })
  expect(await (await platform.ask('/builder/projects/8')).json()).toHaveProperty('status')
})

test('operations are in the index and in the OpenAPI document, and count towards limits', async () => {
  const platform = await platformFor(undefined, { limits: { requestsPerMinute: 2 } })
  const index = await platform.ask('/api/v1', { bearer: platform.anonKey })
  expect(await index.text()).toContain('/builder/projects/{id}')
  const document = await platform.ask('/__standin/openapi.json', { bearer: null })
  const text = await document.text()
  expect(JSON.parse(text).paths['/builder/projects'].post.responses).toHaveProperty('200')
  const statuses = []
  for (const path of ['/builder/projects', '/builder/projects/7', '/builder/projects/mine'])
    statuses.push((await platform.ask(path)).status)
  expect(statuses).toEqual([200, 200, 429])
})

test('alternatives have the right discriminator value, also in a recursive schema', async () => {
  const kind = { type: 'string' }
  const ofSchema = (name: string) => ({ $ref: `#/components/schemas/${name}` })
  const mapping = { feline: 'Cat', dog: '#/components/schemas/Dog' }
  const friends = { type: 'array', items: ofSchema('Pet') }
  const answer = { description: 'A pet.', content: { 'application/json': { schema: ofSchema('Pet') } } }
  const document = builderWith({
    schemas: {
      Pet: { oneOf: [ofSchema('Cat'), ofSchema('Dog')], discriminator: { propertyName: 'kind', mapping } },
      Cat: { type: 'object', properties: { kind, lives: { const: 9 } }, required: ['lives'] },
      Dog: { type: 'object', properties: { kind, friends }, required: ['friends'] },
    },
    paths: { '/pets/{id}': { get: { responses: { 200: answer } } } },
  })
  const platform = await platformFor(document)
  for (const id of [1, 2, 3, 4, 5]) {
    const text = await (await platform.ask(`/builder/pets/${id}`)).text()
    expect(text).toMatch(/^\{("kind":"feline"|"lives":9|"kind":"dog"|"friends":\[.*\]|,)+\}$/)
    expect(text.includes('"feline"')).toBe(text.includes('"lives"'))
  }
})

test('a circular schema ends where it is nullable, also beside a $ref in OpenAPI 3.0', async () => {
  const node = { $ref: '#/components/schemas/Node' }
  const nullable: readonly object[] = [
    { ...node, nullable: true },
    { allOf: [node], nullable: true },
    { type: 'object', allOf: [node], nullable: true },
    { type: 'array', minItems: 1, items: { ...node, nullable: true } },
  ]
  for (const child of nullable) {
    const answer = { description: 'A node.', content: { 'application/json': { schema: node } } }
    const document = builderWith({
      schemas: { Node: { type: 'object', required: ['child'], properties: { child } } },
      paths: { '/node': { get: { responses: { 200: answer } } } },
    })
    const platform = await platformFor(document.replace('openapi: 3.1.0', 'openapi: 3.0.3'))
    expect(await (await platform.ask('/builder/node')).text()).toContain('null')
  }
})

test('a schema that no value fits causes an error that says so', async () => {
  const document = builderWith({ schemas: { Project: { type: 'object', minProperties: 1, maxProperties: 0 } } })
  const platform = await platformFor(document)
  expect(await refusalOf(await platform.ask('/builder/projects/1'))).toMatchObject({
    status: 500,
    body: { error: `GET /builder/projects/{id} cannot be answered: ${NO_VALUE_FOUND}.` },
  })
})

test('the example in docs/own-endpoints.md answers as the page says', async () => {
  const page = readFileSync(new URL('../../docs/own-endpoints.md', import.meta.url), 'utf8')
  const [, , document = ''] = page.split(/^```yaml\n(?=openapi)/m)
  const platform = await platformFor(document.split('```', 1)[0])
  const projects = (options?: Parameters<typeof platform.ask>[1]) => platform.ask('/builder/projects', options)
  expect(await (await projects()).text()).toBe('[{"id":"p1","name":"Blog"}]')
  expect(await (await projects(json({}))).text()).toBe('{"error":"body.name is missing."}')
  const shop = await projects(json({ name: 'Shop' }))
  expect([shop.status, await shop.json()]).toEqual([201, { id: expect.any(String), name: expect.any(String) }])
  expect((await projects({ method: 'DELETE' })).status).toBe(405)
  const many = await platform.ask('/builder/projects?limit=500')
  expect(await many.text()).toBe(JSON.stringify({ error: mustBe('query.limit', 'at most 100', 500) }))
})

test.each(['oneOf', 'anyOf'])('%s of objects that are alike is answered by the first form that fits', async keyword => {
  const property = (name: string, type: string) => ({ [name]: { type } })
  const form = (properties: object, required: readonly string[] = []) => ({ type: 'object', properties, required })
  const alike = [
    form({ ...property('name', 'string'), ...property('batch', 'boolean') }),
    form(property('accent', 'string')),
  ]
  const impossible = { type: 'string', minLength: 2, maxLength: 1 }
  const schema = { [keyword]: [impossible, ...alike] }
  const answer = { responses: { 200: { description: 'd', content: { 'application/json': { schema } } } } }
  const platform = await platformFor(builderWith({ paths: { '/model': { get: answer } } }))
  for (const query of ['', '?a=1', '?a=2', '?a=3']) {
    const body = (await (await platform.ask(`/builder/model${query}`)).json()) as object
    expect(['name', 'batch']).toEqual(expect.arrayContaining(Object.keys(body)))
  }
})
