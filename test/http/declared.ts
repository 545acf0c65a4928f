/** Describes the declared operations of the control API and the dashboard's API as an OpenAPI document, for tests that go through all of them. */
import { jsonSchemaOf } from '../../src/check/form-schema.js'
import { controlOperations } from '../../src/control/operations.js'
import type { Operation, Operations, Schema } from '../../src/core/operation.js'
import { CONTROL, DASHBOARD } from '../../src/core/paths.js'
import { dashboardOperations } from '../../src/dashboard/operations.js'
import type { Document } from '../contract/openapi/document.js'

/** Created only for their declarations. */
const noParts = {} as never

const apis = {
  control: [CONTROL, controlOperations(noParts)],
  dashboard: [`${DASHBOARD}/api`, dashboardOperations(noParts)],
} as const satisfies Readonly<Record<string, readonly [prefix: string, operations: Operations]>>

const error = { type: 'object', properties: { error: { type: 'string' } }, required: ['error'] }
const refused = { description: 'Refused.', content: { 'application/json': { schema: error } } }

export async function declaredDocument(api: keyof typeof apis): Promise<Document> {
  const schemas: Record<string, object> = { Error: error }
  /** Adds the schema under a name, with references from the document's root. */
  const named = async (name: string, form: Schema) => {
    const at = `#/components/schemas/${name}`
    const text = JSON.stringify(await jsonSchemaOf(form)).replaceAll('"$ref":"#/$defs/', `"$ref":"${at}/$defs/`)
    schemas[name] = JSON.parse(text)
    return { content: { 'application/json': { schema: { $ref: at } } } }
  }

  async function described(id: string, { does, query, body, isBodyOptional, returns, status }: Operation) {
    const usual = status ?? (returns ? 200 : 204)
    const answer = typeof returns === 'string' ? { content: { [returns]: { schema: { type: 'string' } } } } : {}
    const { properties = {} } = query ? await jsonSchemaOf(query) : {}
    return {
      ...{ operationId: id, summary: does, tags: ['platform'], security: [] },
      parameters: Object.entries(properties).map(([name, schema]) => ({ name, in: 'query', schema })),
      ...(body && { requestBody: { required: !isBodyOptional, ...(await named(`${id}Body`, body)) } }),
      responses: {
        [usual]: { description: does, ...(typeof returns === 'object' ? await named(`${id}Answer`, returns) : answer) },
        '4XX': refused,
        500: refused,
      },
    }
  }

  const [prefix, operations] = apis[api]
  const paths: Record<string, Record<string, object>> = {}
  for (const [id, declared] of Object.entries<Operation>(operations)) {
    const [method = '', path = ''] = declared.at.split(' ')
    const at = prefix + path
    paths[at] = { ...paths[at], [method.toLowerCase()]: await described(id, declared) }
  }
  return { openapi: '3.1.0', info: { title: api, version: '' }, paths, components: { schemas } } as unknown as Document
}
