import { readFileSync } from 'node:fs'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { expect, test } from 'vitest'
import { forAll } from '../../command.js'
import { platformWith } from '../../scene.js'
import { checking, type Document, documentOf, operationsOf } from './document.js'

/** The document of a platform with nothing configured. */
const documented = forAll(async until => documentOf(await platformWith({}, until)))

const written = readFileSync('src/contract/openapi.yaml', 'utf8')

/** Every value under this key, however deep. */
function allUnder(key: string, value: unknown): readonly unknown[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, inner]) => [...(name === key ? [inner] : []), ...allUnder(key, inner)])
}

/** What a linter finds in a document. */
async function lint(source: string) {
  const config = await createConfig({
    extends: ['recommended-strict'],
    rules: {
      // Links only redirect.
      'operation-2xx-response': 'off',
      // The linter does not see references from stream events; the next test does.
      'no-unused-components': 'off',
    },
  })
  const problems = await lintFromString({ source, config })
  return problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer])
}

test('a linter finds no problems in the document, nor where own paths are joined to it', async () => {
  expect(await lint(written)).toEqual([])
  const platform = await platformWith({
    rules: [{ on: 'GET /builder/projects/:id/*', reply: { json: {} } }],
    resources: { '/things': { data: [] } },
    mcp: { '/mcp': {} },
  })
  const served = await (await platform.ask('/__standin/openapi.json')).text()
  expect(Object.keys(JSON.parse(served).paths)).toEqual(expect.arrayContaining(['/things', '/things/{id}', '/mcp']))
  expect(await lint(served)).toEqual([])
})

test('the document is in the package', async () => {
  expect(readFileSync('dist/openapi.yaml', 'utf8')).toBe(written)
  const { exports } = JSON.parse(readFileSync('package.json', 'utf8'))
  expect(exports['./openapi.yaml']).toBe('./dist/openapi.yaml')
})

test('every reference resolves, and every component is referenced', async () => {
  const platform = await platformWith()
  const document = (await (await platform.ask('/__standin/openapi.json')).json()) as { components: object }
  const references = new Set(allUnder('$ref', document))
  const named = Object.entries(document.components)
    .filter(([kind]) => kind !== 'securitySchemes')
    .flatMap(([kind, all]) => Object.keys(all).map(name => `#/components/${kind}/${name}`))
  expect([...references].toSorted()).toEqual(named.toSorted())
})

/** Schemas of objects that say nothing about their fields, although clients may send any. */
function undescribedObjects(value: unknown): readonly object[] {
  if (typeof value !== 'object' || value === null) return []
  const { type, properties = {}, ...others } = value as { readonly type?: unknown; readonly properties?: object }
  const isObject = type === 'object' || (Array.isArray(type) && type.includes('object'))
  const isDescribed =
    Object.keys(properties).length > 0 ||
    ['additionalProperties', 'patternProperties', 'allOf', 'anyOf', 'oneOf'].some(keyword => keyword in others)
  return [...(isObject && !isDescribed ? [value] : []), ...Object.values(value).flatMap(undescribedObjects)]
}

/** openapi-typescript treats a field with a default as required, `$defs` as a field, and an undescribed object as empty. */
test('type generators find nothing in the document that they misunderstand', async () => {
  const document = await documented()
  expect(allUnder('$defs', document)).toEqual([])
  expect(allUnder('default', document.components.schemas)).toEqual([])
  expect(undescribedObjects(document)).toEqual([])
  const fits = checking(document)({ $ref: '#/components/schemas/CreateChatCompletionBody' })
  expect(fits({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'hello' }] })).toBe(true)
  expect(fits({ model: 'gpt-4o-mini' })).toBe(false)
})

test('the document has the four endpoints and the auth backend, and nothing of the control API or the dashboard', async () => {
  const paths = Object.keys((await documented()).paths).filter(path => !path.startsWith('/auth/v1/'))
  expect(paths).toEqual(['/health', '/api/v1', '/v1/models', '/v1/chat/completions'])
})

test('every schema in the document is valid', async () => {
  const document = await documented()
  const schemaOf = checking(document)
  // By reference, so that each is compiled only once.
  const components = Object.keys(document.components.schemas).map(name => ({ $ref: `#/components/schemas/${name}` }))
  for (const schema of [...components, ...allUnder('schema', document.paths)]) {
    expect(() => schemaOf(schema as object)).not.toThrow()
  }
})

/** The names of the fields of a schema that the platform's document specifies. */
function documentedFields({ components }: Document, name: string): readonly string[] {
  const { properties } = components.schemas[name] as { readonly properties: Record<string, Sourced> }
  return Object.keys(properties).filter(field => properties[field]?.['x-standin-source'] === 'documented')
}

interface Sourced {
  readonly 'x-standin-source'?: string
}

test('documented behaviour is distinguished from our own decisions', async () => {
  const document = await documented()
  const documentedOnes = operationsOf(document).filter(
    ({ operation }) => (operation as Sourced)['x-standin-source'] === 'documented',
  )
  expect(documentedOnes.map(({ method, path }) => `${method} ${path}`)).toEqual([
    'get /health',
    'get /api/v1',
    'get /v1/models',
    'post /v1/chat/completions',
  ])
  expect(documentedFields(document, 'CreateChatCompletionBody')).toEqual([
    ...['model', 'messages', 'temperature', 'stream'],
  ])
  expect(documentedFields(document, 'ChatMessage')).toEqual(['role', 'content'])
  expect(documentedFields(document, 'Health')).toEqual(['status', 'version'])
  expect(documentedFields(document, 'NotFound')).toEqual(['error', 'path'])
  expect(documentedFields(document, 'ModelList')).toEqual([])
  const { responses = {} } = document.paths['/v1/models']?.get ?? {}
  expect(Object.keys(responses).filter(status => responses[status]?.['x-standin-source'] === 'documented')).toEqual([
    ...['200', '401', '404', 'default'],
  ])
})

test('security follows the configured access', async () => {
  const opened = ({ paths }: Document, path: string, method = 'get') => paths[path]?.[method]?.security
  const usual = await documented()
  expect(opened(usual, '/health')).toEqual([])
  expect(opened(usual, '/api/v1')).toEqual([{ anon: [] }, { service: [] }, { user: [] }])
  expect(opened(usual, '/v1/models')).toEqual([{ apiKey: [] }, { user: [] }])
  expect(opened(usual, '/auth/v1/user')).toEqual([{ gatewayKey: [], user: [] }])
  expect(opened(usual, '/auth/v1/admin/users')).toEqual([{ gatewayKey: [], service: [] }])
  expect(opened(usual, '/auth/v1/verify')).toEqual([])

  const other = await documentOf(
    await platformWith({ access: { health: ['apiKey'], models: 'anyone' }, auth: { gateway: 'open' } }),
  )
  expect(opened(other, '/health')).toEqual([{ apiKey: [] }])
  expect(opened(other, '/v1/models')).toEqual([])
  expect(opened(other, '/auth/v1/user')).toEqual([{ user: [] }])
  expect(opened(other, '/auth/v1/settings')).toEqual([])
})

test('the auth backend of the document has what a client can call, and nothing that is switched off', async () => {
  const document = await documented()
  const platform = await platformWith()
  const answer = await platform.ask('/dashboard/api/config', { bearer: null })
  const { endpoints } = (await answer.json()) as { endpoints: readonly { method: string; path: string }[] }
  const listed = endpoints.map(({ method, path }) => `${method} ${path}`)
  const described = operationsOf(document).map(({ method, path }) => `${method.toUpperCase()} ${path}`)
  expect(described.toSorted()).toEqual(listed.toSorted())
})
