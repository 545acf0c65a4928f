/** Describes resources for the OpenAPI document. */
import type { ResourceAction } from '../config/resource-options.js'
import type { AnswerDescription, EndpointDescription } from '../core/exchange.js'
import { operationId } from '../core/paths.js'
import type { ReadyResource } from './resource.js'

const verbs: Readonly<Record<ResourceAction, string>> = {
  list: 'Lists rows',
  get: 'Returns a row',
  create: 'Adds a row',
  update: 'Changes fields of a row',
  replace: 'Replaces a row',
  delete: 'Deletes a row',
}

// Has no schema, because `wrap` can produce any JSON.
const row: AnswerDescription = { what: 'The row.', type: 'application/json' }
const rows: AnswerDescription = { what: 'The rows.', type: 'application/json' }
const notThere = 'There is no such row, or it belongs to another user.'
const unfit = 'The row is not a JSON object, or does not match the schema.'
const changed = { 404: notThere, 412: 'The row has changed: its ETag differs from If-Match.' }

const answers: Readonly<Record<ResourceAction, Pick<EndpointDescription, 'answers' | 'errors'>>> = {
  list: { answers: { 200: rows } },
  get: { answers: { 200: row }, errors: { 404: notThere } },
  create: { answers: { 201: row }, errors: { 400: unfit, 409: 'A row with this id exists already.' } },
  update: { answers: { 200: row }, errors: { 400: unfit, ...changed } },
  replace: { answers: { 200: row }, errors: { 400: unfit, ...changed } },
  delete: { answers: { 204: { what: 'The row is deleted.' } }, errors: changed },
}

const text = { type: 'string' }
const whole = { type: 'integer', minimum: 1 }
const query = {
  type: 'object',
  properties: {
    q: { ...text, description: 'A string that any field of the row must contain.' },
    _sort: { ...text, description: 'The fields by which rows are sorted, separated by commas.' },
    _order: { ...text, description: 'asc or desc for each field of _sort, separated by commas.' },
    _page: { ...whole, description: 'The page, from 1.' },
    _limit: { ...whole, description: 'The number of rows on a page.' },
  },
}

export async function describe({ path }: ReadyResource, action: ResourceAction): Promise<EndpointDescription> {
  const takesBody = action === 'create' || action === 'update' || action === 'replace'
  return {
    id: operationId(action + path),
    does: `${verbs[action]} of ${path}.`,
    ...(action === 'list' && { query }),
    ...(takesBody && { body: { type: 'object' } }),
    ...answers[action],
  }
}
