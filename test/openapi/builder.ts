/** A small OpenAPI document of builder services, for tests. */
import path from 'node:path'
import { parse, stringify } from 'yaml'
import { folderWith, forAll, type Until } from '../command.js'
import { platformWith } from '../scene.js'

const builder = `
openapi: 3.1.0
info: { title: Builder, version: '1' }
servers: [{ url: 'https://platform.example/builder' }]
security: [{ key: [] }]
components:
  securitySchemes: { key: { type: http, scheme: bearer } }
  schemas:
    Project:
      type: object
      required: [id, name, status]
      properties:
        id: { type: string, format: uuid, readOnly: true }
        name: { type: string, minLength: 1 }
        status: { enum: [draft, live] }
        secret: { type: string, writeOnly: true }
  responses:
    Project:
      description: One project.
      headers: { x-revision: { schema: { type: integer, minimum: 7, maximum: 7 } } }
      content: { application/json: { schema: { $ref: '#/components/schemas/Project' } } }
paths:
  /projects:
    get:
      parameters:
        - { name: limit, in: query, schema: { type: integer, minimum: 1, maximum: 100 } }
        - { name: status, in: query, schema: { type: array, items: { enum: [draft, live] } } }
        - { name: filter, in: query, style: deepObject, schema: { type: object, properties: { stars: { type: integer } } } }
        - { name: X-Tenant, in: header, schema: { type: string, pattern: '^[a-z]+$' } }
      responses:
        '200':
          description: All projects.
          content:
            application/json:
              schema: { type: array, minItems: 1, items: { $ref: '#/components/schemas/Project' } }
              examples:
                two: { value: [{ id: a, name: A, status: live }, { id: b, name: B, status: draft }] }
                none: { value: [] }
            text/csv: { example: "id,name\\na,A\\n" }
        '503': { description: Down., content: { application/json: { example: { error: down } } } }
    post:
      requestBody:
        required: true
        content: { application/json: { schema: { $ref: '#/components/schemas/Project' } } }
      responses: { '201': { $ref: '#/components/responses/Project' } }
  /projects/{id}:
    parameters: [{ name: id, in: path, required: true, schema: { type: string } }]
    get: { responses: { '200': { $ref: '#/components/responses/Project' } } }
    delete: { responses: { '204': { description: Gone. } } }
  /projects/{id}:publish:
    post: { responses: { '202': { description: Published. } } }
  /projects/mine:
    get: { responses: { '200': { description: Mine., content: { text/plain: { example: mine } } } } }
  /status:
    get:
      security: []
      responses: { '200': { description: Up., content: { text/plain: { example: up } } } }
`

interface Changes {
  readonly schemas?: Readonly<Record<string, object>>
  readonly examples?: Readonly<Record<string, object>>
  readonly paths?: Readonly<Record<string, object>>
}

/** The document with additional or changed schemas, examples and paths. */
export function builderWith({ schemas = {}, examples = {}, paths = {} }: Changes = {}): string {
  const document = parse(builder)
  Object.assign(document.components.schemas, schemas)
  Object.assign(document.components, { examples })
  Object.assign(document.paths, paths)
  return stringify(document)
}

/** A platform that answers by a document, from its own file. */
export function platformFor(document = builder, options: object = {}, entry: object = {}, until?: Until) {
  const file = path.join(folderWith({ 'builder.openapi.yaml': document }, until), 'builder.openapi.yaml')
  return platformWith({ openapi: { file, ...entry }, ...options }, until)
}

/** The platform for the unchanged document, shared by all tests of a file: reading a document takes longer than most of them. */
export const platformForAll = () => forAll(until => platformFor(undefined, undefined, undefined, until))

export const json = (body: unknown) => ({
  method: 'POST',
  body: JSON.stringify(body),
  headers: { 'content-type': 'application/json' },
})
