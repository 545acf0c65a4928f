/** Describes the declared operations of the control API and the dashboard's API as an OpenAPI document, for tests that go through all of them. */

import { jsonSchemaOf } from '../../../src/check/form-schema.js'
import { errorAnswer } from '../../../src/contract/answers.js'
import type { Operation, Operations } from '../../../src/control/operation.js'
import { CONTROL, DASHBOARD } from '../../../src/core/paths.js'
import { type DashboardApiParts, dashboardOperations } from '../../../src/dashboard/operations.js'
import { type ControlParts, controlOperations } from '../../../src/http/operations.js'
import { createDocumentSchemas, writeOperation } from '../../../src/platform/openapi/operation.js'
import type { Document } from './document.js'

/** Created only for their declarations. */
const noParts = {} as ControlParts & DashboardApiParts

const apis = {
  control: [CONTROL, controlOperations(noParts)],
  dashboard: [`${DASHBOARD}/api`, dashboardOperations(noParts)],
} as const satisfies Readonly<Record<string, readonly [prefix: string, operations: Operations]>>

/** What any operation may refuse with. */
const refusals = Object.fromEntries(
  [401, 403, 404, 409, 412, 413, 415, 500].map(status => [status, 'The request is refused.']),
)

export async function declaredDocument(api: keyof typeof apis): Promise<Document> {
  const forms = createDocumentSchemas()
  await forms.named(['Error', errorAnswer])
  await forms.named(['NotFound', errorAnswer])
  const [prefix, operations] = apis[api]
  const paths: Record<string, Record<string, object>> = {}
  for (const [id, declared] of Object.entries<Operation>(operations)) {
    const [method = '', path = ''] = declared.at.toLowerCase().split(' ', 1).concat(declared.at.replace(/^\w+ /, ''))
    const { query, body, isBodyOptional, returns, status = returns ? 200 : 204, does } = declared
    const answer = typeof returns === 'object' ? { form: [`${id}Answer`, returns] as const } : { type: returns ?? '' }
    paths[prefix + path] = {
      ...paths[prefix + path],
      [method]: await writeOperation(
        {
          ...{ part: 'platform', method, path: prefix + path, security: [] },
          operation: {
            ...{ id, does, body, errors: refusals },
            ...(query && { query: { ...(await jsonSchemaOf(query)) } }),
            ...(isBodyOptional && { isBodyOptional }),
            answers: { [status]: { what: does, ...(returns && answer) } },
          },
        },
        forms,
      ),
    }
  }
  return {
    openapi: '3.1.0',
    info: { title: api, version: '' },
    paths,
    components: { schemas: forms.schemas },
  } as Document
}
