import { createConfig, lintFromString } from '@redocly/openapi-core'
import { expect, test } from 'vitest'
import { openApiOf } from '../../../src/platform/openapi/document.js'
import { forAll } from '../../command.js'
import { loadConfig } from '../../configuration.js'
import { platformWith } from '../../scene.js'
import { checking, type Document, documentOf, operationsOf } from './document.js'

/** The document of a platform with nothing configured. */
const documented = forAll(async until => documentOf(await platformWith({}, until)))

/** Every value under this key, however deep. */
function allUnder(key: string, value: unknown): readonly unknown[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, inner]) => [...(name === key ? [inner] : []), ...allUnder(key, inner)])
}

test('a linter finds no problems in the document', async () => {
  const config = await createConfig({
    extends: ['recommended-strict'],
    rules: {
      // Disabled parts of Supabase Auth only refuse, and links only redirect.
      'operation-2xx-response': 'off',
      // The linter does not see references from stream events; the next test does.
      'no-unused-components': 'off',
    },
  })
  const problems = await lintFromString({ source: JSON.stringify(await documented()), config })
  expect(problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer])).toEqual([])
})

test('every reference resolves, and every schema is referenced', async () => {
  const document = await documented()
  const references = new Set(allUnder('$ref', document))
  const schemas = Object.keys(document.components.schemas).map(name => `#/components/schemas/${name}`)
  expect(schemas.filter(schema => !references.has(schema))).toEqual([])
  const inside = [...references].map(reference => String(reference).split('/$defs/')[0])
  expect(inside.filter(reference => !schemas.includes(reference ?? ''))).toEqual([])
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

const sourceOf = ({ 'x-standin-source': source, 'x-standin-section': section }: Sourced) => [source, section]
type Sourced = { readonly 'x-standin-source'?: string; readonly 'x-standin-section'?: string }
const fieldsOf = (document: Document, name: string, source: string) => {
  const { properties } = document.components.schemas[name] as { readonly properties: Record<string, Sourced> }
  return Object.keys(properties).filter(field => properties[field]?.['x-standin-source'] === source)
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
  expect(fieldsOf(document, 'CreateChatCompletionBody', 'documented')).toEqual([
    'model',
    'messages',
    'temperature',
    'stream',
  ])
  expect(fieldsOf(document, 'CreateChatCompletionBody', 'decided')).toContain('tools')
  const { properties } = document.components.schemas.CreateChatCompletionBody as {
    properties: { messages: { items: { properties: Record<string, Sourced> } } }
  }
  expect(sourceOf(properties.messages.items.properties.content ?? {})[0]).toBe('documented')
  expect(sourceOf(properties.messages.items.properties.name ?? {})[0]).toBe('decided')
  expect(fieldsOf(document, 'Health', 'documented')).toEqual(['status', 'version'])
  expect(fieldsOf(document, 'NotFound', 'documented')).toEqual(['error', 'path'])
  expect(fieldsOf(document, 'ChatCompletion', 'documented')).toEqual([])
  expect(fieldsOf(document, 'ModelList', 'decided')).toEqual(['object', 'data'])
  const models = document.paths['/v1/models']?.get
  expect(
    Object.entries(models?.responses ?? {}).map(([status, answer]) => [status, answer['x-standin-source']]),
  ).toEqual([
    ...[
      ['200', 'documented'],
      ['400', 'decided'],
      ['401', 'documented'],
      ['404', 'documented'],
      ['408', 'decided'],
    ],
    ...['417', '424', '429', '431', '500', '502', '504'].map(status => [status, 'decided']),
    ['default', 'documented'],
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

  const flags = Object.entries({
    host: '0.0.0.0',
    access: { health: ['apiKey'], models: 'anyone' },
    auth: { gateway: 'open' },
  })
  const { config } = loadConfig({
    ...{ cwd: '/', file: false, env: {} },
    flags: flags.map(([name, value]) => ({ path: [name], value, origin: 'this test' })),
  })
  const other = (await openApiOf(config, { url: 'http://0.0.0.0:4100' })) as Document
  expect(opened(other, '/health')).toEqual([{ apiKey: [] }])
  expect(opened(other, '/v1/models')).toEqual([])
  expect(other.paths['/v1/models']?.get?.responses[401]).toBe(undefined)
  expect(opened(other, '/auth/v1/user')).toEqual([{ user: [] }])
})

test('configured models are listed, except in modes where the live platform defines them', async () => {
  const platform = await platformWith({ models: [{ id: 'one' }, { id: 'two' }] })
  const body = async () => JSON.stringify((await documentOf(platform)).paths['/v1/chat/completions']?.post?.requestBody)
  expect(await body()).toContain('"enum":["one","two"]')
  platform.switchMode('replay')
  expect(await body()).not.toContain('"one"')
})
