/** Requests that no app sends, and more rows than usual. */
import { expect, test } from 'vitest'
import { folderWith } from '../command.js'
import { platformWith } from '../scene.js'
import { tooDeep } from '../sentences.js'

const path = '/builder/projects'
const many = Array.from({ length: 10_000 }, (_, i) => ({
  id: i + 1,
  name: `Project ${i % 97}`,
  stars: (i * 7919) % 1000,
}))

const json = (method: string, body: string, headers = {}) => ({
  method,
  body,
  headers: { 'content-type': 'application/json', ...headers },
})

const deep = (levels: number) => `{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`

test.each([
  ['an array', json('POST', '[]'), 400, 'The request body must be a JSON object.'],
  ['malformed JSON', json('POST', '{'), 400, /^The request body is not valid JSON: /],
  ['a deep body', json('POST', deep(1200)), 400, tooDeep(1100)],
  ['a form', json('POST', 'a=1', { 'content-type': 'application/x-www-form-urlencoded' }), 415, /Content-Type/],
  ['an encoded body', json('POST', '{}', { 'content-encoding': 'gzip' }), 415, /Content-Encoding/],
  [
    'an id that is an object',
    json('POST', '{"id":{}}'),
    400,
    /^id must be a string of 1 to 500 characters or a number/,
  ],
  ['an id with a lone surrogate', json('POST', '{"id":"\\ud800"}'), 400, /^id must be a string .* not "\\ud800"/],
  ['a long id', json('POST', `{"id":"${'x'.repeat(501)}"}`), 400, /^id must be a string/],
])('%s is refused', async (_, request, status, error) => {
  const platform = await platformWith({ resources: { [path]: {} } })
  const answer = await platform.ask(path, request)
  const body = (await answer.json()) as { readonly error: string }
  expect(answer.status).toBe(status)
  if (typeof error === 'string') expect(body.error).toBe(error)
  else expect(body.error).toMatch(error)
  expect(await platform.resource(path).rows()).toEqual([])
})

test.each(['limit=1e9', 'limit=5000', 'offset=x', '__proto__=5', 'constructor.name=x'])(
  'a list with %s is a 400',
  async query => {
    const platform = await platformWith({ resources: { [path]: { data: [{ id: 1 }] } } })
    const answer = await platform.ask(`${path}?${query}`)
    expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining(query.split('=', 1)[0] ?? '')])
  },
)

test.each(['%', '..%2F..', '%00', '%ED%A0%80', '__proto__', 'x'.repeat(2000)])(
  'an unknown id is a 404: %s',
  async id => {
    const platform = await platformWith({ resources: { [path]: { data: [{ id: 1 }] } } })
    expect((await platform.ask(`${path}/${id}`)).status).toBe(404)
    expect((await platform.ask(`${path}/${id}`, { method: 'DELETE' })).status).toBe(404)
  },
)

test('a row may be as deep as a body', async () => {
  const platform = await platformWith({ resources: { [path]: { id: { as: 'given' }, schema: { type: 'object' } } } })
  const text = `{"id":"deep",${deep(1000).slice(1)}`
  expect(await (await platform.ask(path, json('POST', text))).text()).toBe(text)
  expect(await (await platform.ask(`${path}?id=none`)).text()).toBe('[]')
  expect(await (await platform.ask(path)).text()).toBe(`[${text}]`)
})

test('a text that cannot be stored is a 400, wherever it becomes a column', async () => {
  const platform = await platformWith({ resources: { [path]: { owner: 'user' } } })
  const { serviceKey, url } = platform
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${serviceKey}` }
  const inScope = `${url}/__standin/resources/${encodeURIComponent(path)}/rows?scope=%00`
  for (const [where, text] of [
    [url + path, '{"user_id":"a\\u0000b"}'],
    [url + path, '{"user_id":"\\ud800"}'],
    [inScope, '{}'],
  ] as const) {
    const answer = await fetch(where, { method: 'POST', headers, body: text })
    expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining('must not contain NUL')])
  }
})

test('whole numbers of 64 bits keep their digits, in files, the configuration, bodies, ids and queries', async () => {
  const [id, other, author] = ['154284075601887489', '154284075601887490', '9007199254740993']
  const dir = folderWith({
    'rows.json': `[{"id":${id},"author":${author}},{"id":${other},"author":1}]`,
    'rows.yaml': `- { id: ${id}, author: ${author} }\n- { id: ${other}, author: 1 }\n`,
    'platform.config.yaml': `
resources:
  /builder/json: { data: rows.json, schema: { properties: { id: { type: integer, maximum: 9223372036854775807 } } } }
  /builder/yaml: { data: rows.yaml }
  /builder/here: { data: [{ id: ${id}, author: ${author} }, { id: ${other}, author: 1 }] }
  /builder/:author/posts: { data: [{ id: 1, author: ${author} }] }
`,
  })
  const platform = await platformWith({ config: `${dir}/platform.config.yaml` })
  const text = async (where: string, request?: object) => (await platform.ask(where, request)).text()
  for (const name of ['json', 'yaml', 'here']) {
    const first = `{"id":${id},"author":${author}}`
    expect(await text(`/builder/${name}`)).toBe(`[${first},{"id":${other},"author":1}]`)
    expect(await text(`/builder/${name}/${id}`)).toBe(first)
    expect(await text(`/builder/${name}?author=${author}`)).toBe(`[${first}]`)
    const row = json('PATCH', `{"author":${other}}`)
    expect(await text(`/builder/${name}/${id}`, row)).toBe(`{"id":${id},"author":${other}}`)
    expect((await platform.ask(`/builder/${name}`, json('POST', '{"author":1}'))).status).toBe(201)
  }
  expect(await text(`/builder/${author}/posts`, json('POST', '{"a":1}'))).toContain(`"author":${author}`)
})

test('a field may have any name, such as __proto__', async () => {
  const platform = await platformWith({ resources: { [path]: { id: { as: 'given' } } } })
  const text = '{"__proto__":{"admin":true},"constructor":1,"id":"__proto__","text":"\\u0000\\ud800"}'
  const created = await platform.ask(path, json('POST', text))
  expect([created.status, await created.text()]).toEqual([201, text])
  const changed = await platform.ask(`${path}/__proto__`, json('PATCH', '{"__proto__":5}'))
  expect(await changed.text()).toBe(text.replace('{"admin":true}', '5'))
  expect(({} as { admin?: boolean }).admin).toBeUndefined()
})

test('lists of 10,000 rows have at most 1,000', async () => {
  const platform = await platformWith({ resources: { [path]: { data: many } } })
  const list = async (query: string) => {
    const answer = await platform.ask(path + query)
    const rows = (await answer.json()) as readonly { readonly id: number }[]
    return { total: answer.headers.get('x-total-count'), length: rows.length, first: rows[0]?.id }
  }
  expect(await list('')).toMatchObject({ total: '10000', length: 1000, first: 1 })
  expect(await list('?offset=9000')).toMatchObject({ length: 1000, first: 9001 })
  expect(await list('?name=Project%2096&limit=10')).toMatchObject({ total: '103', length: 10, first: 97 })
  expect(await platform.resource(path).rows()).toHaveLength(10_000)
  expect((await platform.ask(path, json('POST', '{}'))).headers.get('location')).toBe(`${path}/10001`)
})

test('a schema that takes too many steps for a row refuses it', async () => {
  const defs = Array.from({ length: 40 }, (_, i) => {
    const next = { $ref: `#/$defs/s${i + 1}` }
    return [`s${i}`, { anyOf: [next, next] }]
  })
  const schema = { $defs: { ...Object.fromEntries(defs), s40: { type: 'array' } }, $ref: '#/$defs/s0' }
  const platform = await platformWith({ resources: { [path]: { schema } } })
  const answer = await platform.ask(path, json('POST', '{}'))
  expect([answer.status, await answer.json()]).toEqual([
    400,
    { error: 'The row takes too long to check against its schema.' },
  ])
})
