/** Resources as an app uses them: lists, rows, ids, owners and refusals. */
import { expect, test } from 'vitest'
import type { PlatformOptions } from '../../src/index.js'
import { control } from '../http/controlled.js'
import { platformWith, type Scene } from '../scene.js'
import { didYouMean, isUnknown, mustBe } from '../sentences.js'

const path = '/builder/projects'

const withResource = (resource: NonNullable<PlatformOptions['resources']>[string], others: PlatformOptions = {}) =>
  platformWith({ ...others, resources: { [path]: resource } })

const send = (method: string, body: unknown, headers: Record<string, string> = {}) => ({
  method,
  body: typeof body === 'string' ? body : JSON.stringify(body),
  headers: { 'content-type': 'application/json', ...headers },
})

const answerOf = async (response: Response) => ({ status: response.status, body: await response.json() })

const names = async (platform: Scene, query = '') =>
  ((await (await platform.ask(`${path}${query}`)).json()) as { readonly name: string }[]).map(({ name }) => name)

test('an app creates, reads, changes, replaces and deletes rows', async () => {
  const platform = await withResource({})
  const created = await platform.ask(path, send('POST', { name: 'Atlas', stars: 1 }))
  const row = (await created.json()) as { readonly id: string }
  expect([created.status, row]).toEqual([
    201,
    { id: expect.stringMatching(/^[0-9a-f-]{36}$/), name: 'Atlas', stars: 1 },
  ])
  const location = created.headers.get('location') ?? ''
  expect(location).toBe(`${path}/${row.id}`)
  expect(await answerOf(await platform.ask(location))).toEqual({ status: 200, body: row })
  const changed = await platform.ask(location, send('PATCH', { stars: 2 }))
  expect(await answerOf(changed)).toEqual({ status: 200, body: { ...row, stars: 2 } })
  const replaced = await platform.ask(location, send('PUT', { name: 'Borealis' }))
  expect(await answerOf(replaced)).toEqual({ status: 200, body: { id: row.id, name: 'Borealis' } })
  expect(await names(platform)).toEqual(['Borealis'])
  const deleted = await platform.ask(location, { method: 'DELETE' })
  expect([deleted.status, await deleted.text()]).toEqual([204, ''])
  expect(await answerOf(await platform.ask(location))).toEqual({
    status: 404,
    body: { error: `There is no "${row.id}" here.`, path: location },
  })
})

const three = [
  { id: 1, name: 'Atlas', stars: 3, tags: ['map'], by: { name: 'Ada' } },
  { id: 2, name: 'Borealis', stars: 10, by: { name: 'Bob' } },
  { id: 7, name: 'Cygnus', stars: 3, draft: true },
]

test.each([
  ['', ['Atlas', 'Borealis', 'Cygnus'], '3'],
  ['?stars=3&draft=true', ['Cygnus'], '1'],
  ['?id=1&id=7', ['Atlas', 'Cygnus'], '2'],
  ['?by.name=Bob', ['Borealis'], '1'],
  ['?limit=2', ['Atlas', 'Borealis'], '3'],
  ['?limit=2&offset=2', ['Cygnus'], '3'],
  ['?stars=3&limit=1', ['Atlas'], '2'],
  ['?offset=9', [], '3'],
])('a list with the query "%s" has the rows %j', async (query, expected, total) => {
  const platform = await withResource({ data: three })
  expect(await names(platform, query)).toEqual(expected)
  expect((await platform.ask(`${path}${query}`, { method: 'HEAD' })).headers.get('x-total-count')).toBe(total)
})

test.each([
  ['select=*', '"select"'],
  ['title_like=fish', '"title_like"'],
  ['_sort=name', '"_sort"'],
  ['_page=2', '"_page"'],
  ['q=map', '"q"'],
  ['nothing=1', '"nothing"'],
  ['nmae=Atlas', didYouMean('name')],
  ['name:contains=At', '"name:contains"'],
  ['filters[name][$eq]=Atlas', '"filters[name][$eq]"'],
  ['id=eq.1', 'id=eq.1 has an operator'],
  ['name=not.is.null', 'name=not.is.null has an operator'],
  ['limit=0', 'limit must be a whole number from 1 to 1000'],
  ['offset=-1', 'offset must be a whole number from 0'],
])(
  'a list with the query "%s" is a 400 that names what is not known, and never an empty list',
  async (query, named) => {
    const platform = await withResource({ data: three })
    const answer = await answerOf(await platform.ask(`${path}?${query}`))
    expect(answer).toEqual({ status: 400, body: { error: expect.stringContaining(named) } })
  },
)

test('before there are rows, a filter may be any field, and one of another query language is a 400', async () => {
  const platform = await withResource({})
  const ask = async (query: string) => (await platform.ask(`${path}?${query}`)).status
  expect([await ask('done=false'), await ask('by.name=Ada')]).toEqual([200, 200])
  expect([await ask('select=*'), await ask('title_like=x'), await ask('done=is.true')]).toEqual([400, 400, 400])
  await platform.ask(path, send('POST', { host: 'in.example.com' }))
  expect([await ask('host=in.example.com'), await ask('done=false')]).toEqual([200, 400])
})

test('a request for one row has no parameters', async () => {
  const platform = await withResource({ data: three })
  const answers = [
    await platform.ask(`${path}/1?select=*`),
    await platform.ask(`${path}?columns=name`, send('POST', {})),
    await platform.ask(`${path}/1?id=eq.1`, { method: 'DELETE' }),
  ]
  expect(answers.map(({ status }) => status)).toEqual([400, 400, 400])
  expect(await names(platform)).toHaveLength(3)
})

test('new rows get integer ids if the first rows have them; a taken id is a 409', async () => {
  const platform = await withResource({ data: three })
  const post = async (body: unknown) => answerOf(await platform.ask(path, send('POST', body)))
  expect(await post({ id: null, name: 'Draco' })).toEqual({ status: 201, body: { id: 8, name: 'Draco' } })
  expect(await post({ id: 20, name: 'Eridanus' })).toMatchObject({ status: 201 })
  expect(await post({ name: 'Fornax' })).toMatchObject({ body: { id: 21 } })
  expect(await post({ id: 20 })).toEqual({
    status: 409,
    body: { error: 'There is a row with the id "20" already. Choose another id.' },
  })
  await platform.ask(`${path}/21`, { method: 'DELETE' })
  expect(await post({ name: 'Grus' })).toMatchObject({ body: { id: 22 } })
})

test.each(['PATCH', 'PUT'])('%s keeps the type of the id', async method => {
  const platform = await withResource({ data: three })
  const changed = await platform.ask(`${path}/1`, send(method, { id: '1', name: 'Atlas' }))
  expect(await answerOf(changed)).toMatchObject({ status: 200, body: { id: 1 } })
})

test('the id may be in another field and be given by the caller', async () => {
  const platform = await withResource({ id: { field: 'meta.key', as: 'given' } })
  const post = async (body: unknown) => answerOf(await platform.ask(path, send('POST', body)))
  expect(await post({ meta: { key: 'a b/ü' }, name: 'Atlas' })).toMatchObject({ status: 201 })
  expect(await names(platform)).toEqual(['Atlas'])
  const at = `${path}/${encodeURIComponent('a b/ü')}`
  expect(await answerOf(await platform.ask(at, send('PATCH', { meta: { note: 1 } })))).toEqual({
    status: 200,
    body: { meta: { key: 'a b/ü', note: 1 }, name: 'Atlas' },
  })
  expect(await post({ name: 'Borealis' })).toEqual({
    status: 400,
    body: { error: 'meta.key is missing. It must be a string or a number.' },
  })
  expect(await answerOf(await platform.ask(at, send('PUT', { meta: { key: 'other' } })))).toMatchObject({
    status: 400,
    body: { error: 'meta.key must be "a b/ü", as in the path.' },
  })
})

test('rows belong to the signed-in user; an API key acts as its owner, and the service key sees all rows', async () => {
  const users = ['ada@example.com', 'bob@example.com'].map(email => ({ email, password: 'password' }))
  const platform = await withResource(
    { owner: 'user', data: [{ id: 'a', name: 'Atlas', user_id: 'ada@example.com' }] },
    {
      users,
      apiKeys: [
        { name: 'ada', key: 'sk-ada', user: 'ada@example.com' },
        { name: 'ci', key: 'sk-ci' },
      ],
    },
  )
  const [ada, bob] = await Promise.all(users.map(({ email }) => platform.signIn({ email })))
  const as = (bearer = '') => ({
    list: async () =>
      ((await (await platform.ask(path, { bearer })).json()) as { name: string }[]).map(({ name }) => name),
    post: async (body: unknown) => answerOf(await platform.ask(path, { ...send('POST', body), bearer })),
    get: async (id: string) => (await platform.ask(`${path}/${id}`, { bearer })).status,
    remove: async (id: string) => (await platform.ask(`${path}/${id}`, { bearer, method: 'DELETE' })).status,
  })
  const created = await as(bob?.accessToken).post({ id: 'b', name: 'Borealis' })
  expect(created).toEqual({ status: 201, body: { id: 'b', name: 'Borealis', user_id: bob?.user.id } })
  expect(await as(ada?.accessToken).list()).toEqual(['Atlas'])
  expect(await as('sk-ada').list()).toEqual(['Atlas'])
  expect(await as(bob?.accessToken).list()).toEqual(['Borealis'])
  expect([await as(bob?.accessToken).get('a'), await as(bob?.accessToken).remove('a')]).toEqual([404, 404])
  expect(await as(platform.serviceKey).list()).toEqual(['Atlas', 'Borealis'])
  expect(await as('sk-ci').list()).toEqual([])
  expect(await as('sk-ci').post({})).toEqual({
    status: 403,
    body: { error: `Rows of ${path} belong to users, and this credential belongs to no user.` },
  })
  expect(await as(bob?.accessToken).post({ user_id: ada?.user.id })).toEqual({
    status: 403,
    body: { error: `user_id must be your own id, ${bob?.user.id}.` },
  })
})

test('a nested collection has the rows of its parent', async () => {
  const files = `${path}/:projectId/files`
  const platform = await platformWith({
    resources: {
      [path]: { data: three },
      [files]: {
        data: [
          { id: 'x', projectId: 1, name: 'main.ts' },
          { id: 'y', projectId: 2, name: 'other.ts' },
        ],
      },
    },
  })
  const post = await platform.ask(`${path}/1/files`, send('POST', { id: 'z', name: 'new.ts' }))
  expect(await answerOf(post)).toEqual({ status: 201, body: { projectId: 1, id: 'z', name: 'new.ts' } })
  expect(post.headers.get('location')).toBe(`${path}/1/files/z`)
  const list = async (id: string) =>
    ((await (await platform.ask(`${path}/${id}/files`)).json()) as { id: string }[]).map(({ id }) => id)
  expect([await list('1'), await list('2'), await list('3')]).toEqual([['x', 'z'], ['y'], []])
  expect((await platform.ask(`${path}/2/files/x`)).status).toBe(404)
  expect((await platform.ask(`${path}/1/files/x`)).status).toBe(200)
  const moved = await platform.ask(`${path}/1/files/x`, send('PATCH', { projectId: 2 }))
  expect(await answerOf(moved)).toEqual({ status: 400, body: { error: 'projectId must be "1", as in the path.' } })
  expect(await names(platform)).toHaveLength(3)
})

test('a row that does not fit the schema is a 400 that names the field', async () => {
  const schema = {
    type: 'object',
    properties: { name: { type: 'string', minLength: 1 }, stars: { type: 'integer' } },
    required: ['name'],
    additionalProperties: false,
  }
  const platform = await withResource({ schema, owner: 'user', access: ['service'] })
  const ask = async (where: string, method: string, body: unknown) =>
    answerOf(await platform.ask(where, { ...send(method, body), bearer: platform.serviceKey }))
  expect(await ask(path, 'POST', { id: 'a', name: 'Atlas' })).toMatchObject({ status: 201 })
  const refused = (error: string) => ({ status: 400, body: { error } })
  expect(await ask(path, 'POST', { stars: 1 })).toEqual(refused('name is missing.'))
  expect(await ask(path, 'POST', { name: 'B', satrs: 1 })).toEqual(refused(`satrs ${isUnknown('stars')}`))
  expect(await ask(`${path}/a`, 'PATCH', { stars: 'many' })).toEqual(refused(mustBe('stars', 'a whole number', 'many')))
  expect(await ask(`${path}/a`, 'PUT', {})).toEqual(refused('name is missing.'))
})

test('an ETag prevents lost updates and saves sending a known row', async () => {
  const platform = await withResource({ data: three })
  const etag = (await platform.ask(`${path}/1`)).headers.get('etag') ?? ''
  const known = await platform.ask(`${path}/1`, { headers: { 'if-none-match': etag } })
  expect([known.status, await known.text()]).toEqual([304, ''])
  const change = (ifMatch: string) => platform.ask(`${path}/1`, send('PATCH', { stars: 4 }, { 'if-match': ifMatch }))
  expect((await change(etag)).status).toBe(200)
  expect(await answerOf(await change(etag))).toEqual({
    status: 412,
    body: { error: 'The row has changed since: its ETag is not the one in If-Match. Read it again.' },
  })
  expect((await platform.ask(`${path}/1`, { method: 'DELETE', headers: { 'if-match': '"x"' } })).status).toBe(412)
  expect((await platform.ask(`${path}/1`, { method: 'DELETE', headers: { 'if-match': '"x", *, ' } })).status).toBe(412)
  expect((await change('*')).status).toBe(200)
})

test('only the allowed operations work; a rule answers before the resource', async () => {
  const platform = await withResource(
    { data: three, only: ['list', 'get'] },
    {
      rules: [
        { on: `GET ${path}/2`, when: { query: { broken: '1' } }, reply: { status: 500, json: { error: 'down' } } },
      ],
    },
  )
  const refused = await platform.ask(path, send('POST', {}))
  expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS'])
  expect((await platform.ask(`${path}/2`, { method: 'DELETE' })).status).toBe(405)
  expect((await platform.ask(`${path}/2?broken=1`)).status).toBe(500)
  expect((await platform.ask(`${path}/2`)).status).toBe(200)
  expect((await platform.ask(path, { bearer: null })).status).toBe(401)
  expect((await platform.ask(`${path}/2/`)).status).toBe(404)
})

test('each scope has its own rows, and a reset restores the initial ones', async () => {
  const platform = await withResource({ data: three })
  const inScope = (name: string) => ({ headers: { 'x-standin-scope': name } })
  const count = async (name: string) => ((await (await platform.ask(path, inScope(name))).json()) as object[]).length
  await platform.ask(`${path}/1`, { method: 'DELETE', ...inScope('one') })
  await platform.ask(path, send('POST', {}, inScope('two').headers))
  expect([await count('one'), await count('two'), (await names(platform)).length]).toEqual([2, 4, 3])
  await (await platform.scope('one')).reset()
  expect([await count('one'), await count('two')]).toEqual([3, 4])
  await platform.ask(path, send('POST', {}))
  await platform.reset()
  expect([(await names(platform)).length, await count('two')]).toEqual([3, 3])
})

test('the index lists resources, and the journal names them', async () => {
  const platform = await withResource({ data: three })
  const index = (await (await platform.ask('/api/v1', { bearer: platform.anonKey })).json()) as {
    readonly endpoints: readonly { readonly method: string; readonly path: string }[]
  }
  expect(index.endpoints.filter(one => one.path.startsWith(path)).map(one => `${one.method} ${one.path}`)).toEqual([
    `GET ${path}`,
    `GET ${path}/{id}`,
    `POST ${path}`,
    `PATCH ${path}/{id}`,
    `PUT ${path}/{id}`,
    `DELETE ${path}/{id}`,
  ])
  await platform.ask(`${path}/1`)
  expect(await platform.journal.last()).toMatchObject({
    answeredBy: { kind: 'resource', path },
    source: `resource ${path}`,
  })
})

test('the OpenAPI document describes the operations of a resource', async () => {
  const platform = await withResource({ data: three, only: ['list', 'create'] })
  const { body } = await control(platform, 'GET /openapi.json')
  expect(Object.keys(body.paths).filter(one => one.startsWith('/builder'))).toEqual([path])
  expect(body.paths[path]).toMatchObject({
    get: { operationId: 'getBuilderProjects', security: [{ apiKey: [] }, { user: [] }] },
    post: { operationId: 'postBuilderProjects' },
  })
})
