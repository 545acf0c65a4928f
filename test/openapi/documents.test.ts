import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { createOpenApi, readDocuments } from '../../src/openapi/index.js'
import { openPlatform } from '../../src/platform.js'
import { folderWith, run } from '../command.js'
import { platformWith } from '../scene.js'
import { builderWith } from './builder.js'

/** The problems of a document, with these files beside it. */
async function wrongWith(document: string, files: Readonly<Record<string, string>> = {}, file = 'api.yaml') {
  const warnings: string[] = []
  const dir = folderWith({ [file]: document, ...files })
  const input = { name: file, file: path.join(dir, file), dir, folders: [dir], validate: true }
  const read = readDocuments([input], sentence => warnings.push(sentence))
  return read.then(
    () => warnings,
    (error: Error) => error.message.split('\n'),
  )
}

const paths = (text: string) =>
  `openapi: 3.1.0\ninfo: { title: A, version: '1' }\npaths:\n  /a:\n    get:\n      ${text}\n`
const answering = (answer: string) => paths(`responses: { '200': ${answer} }`)

test('an unusable document is reported with the reason, file, line and path', async () => {
  const reference = (to: string) => answering(`{ $ref: '${to}' }`)
  const place = `api.yaml:6:27: paths["/a"].get.responses.200.$ref`
  const wrong: readonly (readonly [document: string, said: string])[] = [
    ['', 'api.yaml:1:1: The file must be an OpenAPI document: a map with the key openapi, such as openapi: 3.1.0.'],
    [
      'swagger: "2.0"',
      'api.yaml:1:1: This is a document of Swagger 2.0. Convert it to OpenAPI 3 first, such as with npx swagger2openapi.',
    ],
    ['info: {}', 'api.yaml:1:1: openapi is missing. It must be the version of OpenAPI, such as 3.1.0.'],
    ['openapi: 3.1', 'api.yaml:1:1: openapi must be a version from 3.0.0 on, as text, not 3.1.'],
    ['openapi: 3.1.0\n  a: [', 'api.yaml:2:4: This is not valid YAML: bad indentation of a mapping entry.'],
    [
      paths('respones: {}'),
      'api.yaml:6:7: paths["/a"].get.respones: Property `respones` is not expected here. Did you mean "responses"?',
    ],
    [
      paths('responses: []'),
      'api.yaml:6:18: paths["/a"].get.responses: Expected type `Responses` (object) but got `array`',
    ],
    [
      paths('parameters: [{ name: x, in: qurey }]'),
      expect.stringMatching(/^api\.yaml:6:35: paths\["\/a"\]\.get\.parameters\[0\]\.in: .*one of the following only: /),
    ],
    [
      reference('#/components/responses/No'),
      `${place} "#/components/responses/No" refers to something that does not exist.`,
    ],
    [
      `${reference('#/components/responses/R')}components: { responses: { R: { $ref: '#/components/responses/R' } } }`,
      'api.yaml: cannot be read: Self-referencing circular pointer.',
    ],
    [reference('./other.yaml#/a'), `${place} "./other.yaml#/a" refers to a file that does not exist.`],
    [
      reference('https://a.example/b.yaml'),
      `${place} "https://a.example/b.yaml" is a URL. Save the document beside this one, and refer to the file.`,
    ],
  ]
  for (const [document, said] of wrong) expect(await wrongWith(document)).toEqual([said])
  expect(await wrongWith('{"openapi":', {}, 'api.json')).toEqual([
    'api.json:1:12: This is not valid JSON: unexpected end of the stream within a flow collection.',
  ])
})

test('a problem in a referenced file is reported with that file and its line', async () => {
  const document = answering("{ description: a, content: { application/json: { schema: { $ref: 'sub.yaml#/A' } } } }")
  expect(
    await wrongWith(document, {
      'sub.yaml': "A: { $ref: 'b.yaml#/B' }\n",
      'b.yaml': '\nB: { type: string, enum: [x\n',
    }),
  ).toEqual([expect.stringMatching(/^b\.yaml:\d+:\d+: This is not valid YAML: /)])
})

test('a second document in a file is a mistake, with its line', async () => {
  const two = `${answering('{ description: a }')}---\n`
  const second = 'This is not valid YAML: A second document begins here; only one is read.'
  expect(await wrongWith(`${two}openapi: 3.1.0\n`)).toEqual([`api.yaml:7:1: ${second}`])
  const referring = answering("{ $ref: 'two.yaml#/A' }")
  expect(await wrongWith(referring, { 'two.yaml': 'A: { description: a }\n---\nA: {}\n' })).toEqual([
    `two.yaml:2:1: ${second}`,
  ])
})

test('a reference to something of another kind is a warning at the reference', async () => {
  const components = `components:
  responses: { No: { description: no, content: { application/json: { schema: { type: object } } } } }
  schemas: { A: { type: object } }
  headers: { H: { required: true, schema: { type: string } } }\n`
  const content = (schema: string) => `{ description: a, content: { application/json: { schema: ${schema} } } }`
  const place = 'paths["/a"].get.responses.200'
  for (const [answer, said] of [
    [
      content("{ $ref: '#/components/responses/No' }"),
      `6:84: ${place}.content["application/json"].schema.$ref refers to a response, not to a schema.`,
    ],
    [
      content("{ items: { $ref: '#/components/headers/H' } }"),
      `6:93: ${place}.content["application/json"].schema.items.$ref refers to a header, not to a schema.`,
    ],
    ["{ $ref: '#/components/schemas/A' }", `6:27: ${place}.$ref refers to a schema, not to a response.`],
  ] as const)
    expect(await wrongWith(answering(answer) + components)).toEqual([`api.yaml:${said}`])
  const mistaken = answering("{ $ref: '#/components/responses/No' }") + components.replace('content', 'contnet')
  expect(await wrongWith(mistaken)).toEqual([
    'api.yaml:8:39: components.responses.No.contnet: Property `contnet` is not expected here. Did you mean "content"?',
  ])
})

test('mistakes inside schemas are warnings, and the document still answers', async () => {
  const schema = '{ type: object, nullabel: true, proprties: {} }'
  const said = await wrongWith(answering(`{ content: { application/json: { schema: ${schema} } } }`))
  expect(said).toEqual([
    'api.yaml:6:20: paths["/a"].get.responses.200: The field `description` must be present on this level. There are 2 more mistakes.',
  ])
})

test('a document may consist of several files, beside it or in configured folders', async () => {
  const outer = folderWith()
  const dir = path.join(outer, 'app')
  for (const folder of [dir, path.join(outer, 'shared')]) mkdirSync(folder)
  const answer = "{ description: A., content: { text/plain: { example: 'from another file' } } }"
  writeFileSync(path.join(dir, 'api.yaml'), answering(`{ $ref: './parts.yaml#/one' }`))
  writeFileSync(path.join(dir, 'parts.yaml'), `one: { $ref: '../shared/answers.yaml#/one' }\n`)
  writeFileSync(path.join(outer, 'shared/answers.yaml'), `one: ${answer}\n`)
  const platform = (folders: readonly string[]) =>
    platformWith({ openapi: { file: path.join(dir, 'api.yaml'), access: 'anyone', folders: [...folders] } })
  await expect(platform([])).rejects.toThrow(
    'shared/answers.yaml, which is in another folder. List its folder in the option openapi.folders.',
  )
  expect(await (await (await platform([path.join(outer, 'shared')])).ask('/a')).text()).toBe('from another file')
})

test('a $ref is a URI reference: escapes, fragments and file URLs', async () => {
  const dir = folderWith({ 'my größe.yaml': 'Größe: { const: 4 }\n' })
  const file = `${pathToFileURL(dir)}/my%20gr%C3%B6%C3%9Fe.yaml`
  for (const reference of [
    'my%20gr%C3%B6%C3%9Fe.yaml#/Gr%C3%B6%C3%9Fe',
    './my größe.yaml#/Größe',
    `${file}#/Gr%C3%B6%C3%9Fe`,
  ]) {
    const schema = `{ $ref: '${reference}' }`
    writeFileSync(
      path.join(dir, 'api.yaml'),
      answering(`{ description: A., content: { application/json: { schema: ${schema} } } }`),
    )
    const platform = await platformWith({ openapi: { file: path.join(dir, 'api.yaml'), access: 'anyone' } })
    expect(await (await platform.ask('/a')).text()).toBe('4')
  }
})

test('a reload with a broken document keeps the last good one', async () => {
  const dir = folderWith({
    'platform.config.yaml': 'openapi: builder.openapi.yaml\nport: 0\nstate: memory\n',
    'builder.openapi.yaml': builderWith(),
  })
  const platform = await openPlatform({ cwd: dir })
  onTestFinished(() => platform.stop())
  const ask = (path: string) => fetch(platform.url + path, { headers: { authorization: `Bearer ${platform.apiKey}` } })
  const rewrite = (text: string) => writeFileSync(path.join(dir, 'builder.openapi.yaml'), text)
  rewrite('openapi: 3.1.0\npaths: []\n')
  await expect(platform.reload()).rejects.toThrow(
    'builder.openapi.yaml:2:8: paths: Expected type `Paths` (object) but got `array`',
  )
  expect(await (await ask('/builder/projects/mine')).text()).toBe('mine')
  rewrite(builderWith({ paths: { '/projects/mine': {} } }))
  await platform.reload()
  expect((await ask('/builder/projects/mine')).headers.get('content-type')).toBe('application/json')
})

test('config check reads the documents', async () => {
  const config = { 'platform.config.yaml': 'openapi: [builder.yaml]\n' }
  const right = await run(['config', 'check'], { files: { ...config, 'builder.yaml': builderWith() } })
  expect(right.stdout).toBe('The configuration is valid: 0 reply rules, 1 OpenAPI document.\n')
  const wrong = await run(['config', 'check'], { files: { ...config, 'builder.yaml': 'openapi: 4.0.0' } })
  expect([wrong.code, wrong.stderr]).toEqual([
    2,
    expect.stringContaining('builder.yaml:1:1: openapi must be a version from 3.0.0 on, as text, not "4.0.0".'),
  ])
})

test('a path is found among ten thousand operations', () => {
  const answer = { description: 'Found.', content: { 'text/plain': { example: 'found' } } }
  const all = Array.from({ length: 10_000 }, (_, i) => [`/a${i}/{id}`, { get: { responses: { 200: answer } } }])
  const root = { openapi: '3.1.0', paths: Object.fromEntries(all) }
  const document = { name: '', version: '3.1.0', root, at: () => undefined, resolve: (value: unknown) => value }
  const api = createOpenApi([{ document, validate: true, files: [] }], 0)
  expect(api.paths()).toHaveLength(10_000)
  expect(api.at('/a9999/7')).toMatchObject([{ method: 'GET', path: '/a9999/{id}', access: ['apiKey', 'user'] }])
  expect(api.at('/a9999/7')[0]).toBe(api.at('/a9999/8')[0])
})

test.each([
  [
    'openapi: https://petstore.example/openapi.json\n',
    /^platform\.config\.yaml:1:1: openapi: https:\/\/petstore\.example\/openapi\.json is an address, .* curl -o openapi\.yaml https:\/\/petstore/,
  ],
  [
    'openapi:\n  - api.yaml\n  - { file: http://a.example/b.yaml }\n',
    /^platform\.config\.yaml:3:7: openapi\[1\]\.file: http:\/\/a\.example\/b\.yaml is an address/,
  ],
  [
    'openapi: apis.yaml\n',
    /^platform\.config\.yaml:1:1: openapi: there is no file apis\.yaml\. Did you mean "api\.yaml"\?/,
  ],
])('an address or a missing file is named where it is written: %j', async (config, expected) => {
  const files = { 'platform.config.yaml': config, 'api.yaml': answering('{ description: d }') }
  const { code, stderr } = await run(['config', 'check'], { files })
  expect([code, stderr]).toEqual([2, expect.stringMatching(expected)])
})

test('an operation that no value can answer is a warning at the start, unless it has an example', async () => {
  const impossible = 'schema: { type: string, minLength: 2, maxLength: 1 }'
  const document = (content: string) => answering(`{ description: d, content: { application/json: { ${content} } } }`)
  const warningsFor = async (content: string) => {
    const dir = folderWith({ 'api.yaml': document(content), 'platform.config.yaml': 'openapi: api.yaml\n' })
    const warnings: string[] = []
    const platform = await openPlatform({ cwd: dir, listen: false, warn: sentence => void warnings.push(sentence) })
    await platform.stop()
    return warnings
  }
  expect(await warningsFor(impossible)).toEqual([
    expect.stringMatching(
      /api\.yaml: GET \/a cannot be answered: no value that fits the schema was found\. Give it an example\.$/,
    ),
  ])
  expect(await warningsFor(`${impossible}, example: x`)).toEqual([])
})
