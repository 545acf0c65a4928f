import { createRequire } from 'node:module'
import path from 'node:path'
import { Ajv2019 } from 'ajv/dist/2019.js'
import addFormats from 'ajv-formats'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isObject } from '../../src/core/json.js'
import { statusFor } from '../../src/openapi/answers.js'
import { createOpenApi, readDocuments } from '../../src/openapi/index.js'
import { type DocumentedOperation, operationsOf } from '../../src/openapi/operations.js'
import { documentOf, translateSchema } from '../../src/openapi/schemas.js'
import { runs } from '../runs.js'

const folder = path.dirname(createRequire(import.meta.url).resolve('@readme/oas-examples/package.json'))

/** Documents of different sizes and styles, in both versions. */
const published: readonly (readonly [file: string, operations: number])[] = [
  ['3.1/yaml/train-travel.yaml', 7],
  ['3.0/json/petstore.json', 20],
  ['3.0/yaml/uspto.yaml', 3],
  ['3.0/json/star-trek.json', 120],
  ['3.1/json/readme.json', 54],
]

/** The schema of an operation's default answer, for an independent validator. */
function schemaOf({ source: { document }, definition }: DocumentedOperation): object | undefined {
  const responses = isObject(definition.responses) ? definition.responses : {}
  const response = document.resolve(responses[statusFor(Object.keys(responses)).key])
  const content = isObject(response) && isObject(response.content) ? response.content : {}
  const media = content['application/json']
  return isObject(media) && media.schema !== undefined ? translateSchema(document, media.schema, 'response') : undefined
}

/** The same documents, so that all answers are made up. */
const withoutExamples = (documents: Awaited<ReturnType<typeof readDocuments>>) =>
  documents.map(one => {
    const bare = JSON.stringify(one.document.root, function (key, value) {
      const isOfMedia = isObject(this) && 'schema' in this
      return isOfMedia && (key === 'example' || key === 'examples') ? undefined : value
    })
    return { ...one, document: documentOf(one.document.name, JSON.parse(bare)) }
  })

test.each(published)('%s answers with values that fit its schemas', async (file, count) => {
  const input = { name: file, file: path.join(folder, file), dir: folder, folders: [folder], validate: false }
  const documents = withoutExamples(await readDocuments([input]))
  const operations = documents.flatMap(one => operationsOf(one))
  expect(operations).toHaveLength(count)
  const ajv = addFormats.default(new Ajv2019({ strict: false, logger: false }))
  const seeds = { operation: fc.constantFrom(...operations), seed: fc.nat() }
  const property = fc.asyncProperty(fc.record(seeds), async ({ operation, seed }) => {
    const { method, path: template } = operation.endpoint
    const exchange = { method, path: template.replace(/\{\w+\}/g, 'x'), query: '', headers: {}, body: undefined }
    const reply = await createOpenApi(documents, seed).answer(exchange as never)
    const schema = schemaOf(operation)
    if (!schema) return
    const validate = ajv.compile(schema)
    expect([validate(JSON.parse(String(reply?.body))), validate.errors]).toEqual([true, null])
  })
  await fc.assert(property, { numRuns: runs(100) })
})
