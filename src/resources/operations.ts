/** Operations on resources and their rows. */
import * as v from 'valibot'
import {
  arrayOf,
  boolean,
  closed,
  moment,
  objectOf,
  optional,
  orNull,
  text,
  wholeNumber,
  word,
} from '../check/forms.js'
import { credentialKinds } from '../core/exchange.js'
import { exactJsonBody } from '../core/json.js'
import { dataOf, listingQuery, operation, pageOf } from '../core/operation.js'
import type { Json } from '../state/rows.js'
import type { ResourceAddress, ResourceRows } from './manage.js'
import { resourceActions } from './options.js'

const summary = closed({
  /** As configured: `/builder/projects/:projectId/files`. */
  path: text,
  access: v.union([v.literal('anyone'), arrayOf(word(credentialKinds))]),
  only: arrayOf(word(resourceActions)),
  /** The field with the id, and which ids new rows get. */
  id: closed({ field: text, as: word(['uuid', 'integer', 'given']) }),
  /** The field with the id of the user to whom a row belongs; null if rows belong to no one. */
  owner: orNull(text),
  rows: wholeNumber,
})

const row = closed({
  id: text,
  row: objectOf<Json>(),
  /** The user to whom it belongs. */
  owner: orNull(text),
  isFromStart: boolean,
  created_at: moment,
  updated_at: moment,
})

const inScope = closed({ scope: optional(text, 'The scope. By default, the rows of requests without one.') })

const { limit, offset } = listingQuery.entries

const addressIn = ({ resource, scope = '' }: { resource: string; scope: string | undefined }): ResourceAddress => ({
  path: resource,
  scope,
})

/** Rows keep the digits of long numbers. */
const bodyReading = { parse: exactJsonBody }
const takesRow = { query: inScope, body: objectOf<Json>(), bodyReading, returns: objectOf<Json>() }

export const resourceOperations = ({ resources }: { readonly resources: ResourceRows }) => ({
  listResources: operation({
    at: 'GET /resources',
    does: 'Lists the resources.',
    query: inScope,
    returns: dataOf(summary),
    run: async ({ scope = '' }) => ({ data: await resources.list(scope) }),
  }),
  listRows: operation({
    at: 'GET /resources/{resource}/rows',
    does: 'Lists all rows of a resource, whatever user they belong to.',
    query: closed({ ...inScope.entries, limit, offset }),
    returns: pageOf(row),
    run: async input => resources.rows(addressIn(input), input.query.limit, input.query.offset),
  }),
  insertRow: operation({
    at: 'POST /resources/{resource}/rows',
    does: 'Adds a row to a resource.',
    ...takesRow,
    status: 201,
    run: async input => resources.insert(addressIn(input), input.body),
  }),
  changeRow: operation({
    at: 'PUT /resources/{resource}/rows/{id}',
    does: 'Changes the fields of a row that are sent.',
    ...takesRow,
    run: async input => resources.change(addressIn(input), input.id, input.body),
  }),
  removeRow: operation({
    at: 'DELETE /resources/{resource}/rows/{id}',
    does: 'Removes a row.',
    query: inScope,
    run: async input => resources.remove(addressIn(input), input.id),
  }),
})
