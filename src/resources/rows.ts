/** Reads and changes the rows of a resource in the state. Enforces which rows a caller can see. */
import { hash, randomUUID } from 'node:crypto'
import { mustBe, range, valueInWords } from '../check/check.js'
import { didYouMean } from '../check/suggest.js'
import { invalidRequest, refusal, shortened } from '../core/errors.js'
import { exactJsonOf, stringifyExact } from '../core/json.js'
import { type Json, type ResourceHead, type ResourceRow, type Tables, TakenError } from '../state/rows.js'
import { idText, isWhole, parentOf, type ReadyResource, rowValue, withRowValue } from './resource.js'

export interface Viewer {
  /** The user; null for callers that belong to no user. */
  readonly user: string | null
  readonly seesAll: boolean
}

export const allRows: Viewer = { user: null, seesAll: true }

/** A resource in one scope, for one viewer, with the parameters of the path. */
export interface RowSet {
  readonly resource: ReadyResource
  readonly head: ResourceHead
  readonly viewer: Viewer
  readonly params: Readonly<Record<string, string>>
}

const digest = (...parts: readonly string[]) => hash('sha256', JSON.stringify(parts), 'hex')

export const headId = (scope: string, path: string) => digest(scope, path)
export const rowKey = (head: string, id: string) => digest(head, id)

/** The ETag of a row or a list, which changes whenever the content does. */
export const etagOf = (row: unknown) => `"${hash('sha256', stringifyExact(row), 'base64url').slice(0, 27)}"`

/** The state's query for the rows of a set. */
function whereOf({ resource, head, viewer, params }: RowSet) {
  const isNested = Object.keys(params).length > 0
  return {
    resource: head.id,
    ...(isNested && { parent: parentOf(resource.params, params) }),
    ...(resource.owner !== undefined && !viewer.seesAll && { owner: viewer.user ?? '' }),
  }
}

export interface RowPage {
  readonly rows: readonly ResourceRow[]
  readonly total: number
}

/** Rejects with a 400 for a filter that the resource does not know. */
export async function listRows(tables: Tables, set: RowSet, query: ListQuery): Promise<RowPage> {
  const all = await tables.resource_rows.find(whereOf(set))
  for (const filter of query.filters)
    requireFilter(
      filter,
      all.map(({ row }) => row),
      set.resource,
    )
  const rows = all.filter(({ row }) => query.filters.every(({ field, values }) => hasValue(row, field, values)))
  return { rows: rows.slice(query.offset, query.offset + query.limit), total: rows.length }
}

/** Rejects with a 404 if there is no such row for this viewer. */
export async function getRow(tables: Tables, set: RowSet, id: string): Promise<ResourceRow> {
  const row = await tables.resource_rows.get(rowKey(set.head.id, id))
  const { parent, owner } = { parent: row?.parent, owner: row?.owner, ...whereOf(set) }
  if (!row || row.parent !== parent || row.owner !== owner) throw noSuchRow(id)
  return row
}

/** Adds a row. Rejects with a 400, 403 or 409 for one that cannot be added. */
export async function insertRow(tables: Tables, set: RowSet, body: Json, nowMs: number): Promise<Json> {
  const { resource, head } = set
  const { next_position: position, next_id } = head
  const { row: identified, id } = withId(resource, withPathParams(set, body), next_id)
  const { row, owner } = withOwner(set, identified)
  requireValid(resource, row)
  const at = new Date(nowMs).toISOString()
  const [key, parent] = [rowKey(head.id, id), parentOf(resource.params, row)]
  const entry = { id: key, resource: head.id, parent, owner, row, position, seed: null, created_at: at, updated_at: at }
  try {
    await tables.resource_rows.insert(entry)
  } catch (error) {
    throw error instanceof TakenError ? rowExists(id) : error
  }
  const nextId = Math.max(next_id, nextIdAfter(id))
  await tables.resources.update(head.id, { next_position: position + 1, next_id: nextId, updated_at: at })
  return row
}

/** The largest id of PostgreSQL's `integer`. Larger ids were chosen by callers and are not continued. */
const LARGEST_ID = 2 ** 31 - 2

/** The next whole number after an id; 1 if the id is not a number. */
export function nextIdAfter(id: string): number {
  const number = /^\d{1,10}$/.test(id) ? Number(id) : 0
  return number <= LARGEST_ID ? number + 1 : 1
}

export interface Change {
  readonly id: string
  readonly body: Json
  /** Whether fields that the body omits are kept: PATCH keeps them, PUT does not. */
  readonly keepsOmitted: boolean
  readonly ifMatch?: string | undefined
}

/** Changes or replaces a row. Rejects with a 400, 403, 404 or 412 and then changes nothing. */
export async function changeRow(tables: Tables, set: RowSet, change: Change, nowMs: number): Promise<Json> {
  const { resource, head } = set
  const before = await getRow(tables, set, change.id)
  requireMatch(before, change.ifMatch)
  const ownId = rowValue(before.row, resource.id.field)
  // A row that replaces another one has the same owner.
  const kept = change.keepsOmitted ? before.row : resource.owner ? { [resource.owner]: before.owner } : {}
  const changed = { ...kept, ...change.body }
  if (idText(rowValue(changed, resource.id.field) ?? ownId) !== change.id)
    throw invalidRequest(`${resource.id.field.join('.')} must be ${stringifyExact(ownId)}, as in the path.`)
  // The body may have the id as another type, or null.
  const row = withRowValue(changed, resource.id.field, ownId)
  const { row: next, owner } = withOwner(set, withPathParams(set, row))
  requireValid(resource, next)
  const parent = parentOf(resource.params, next)
  const updated_at = new Date(nowMs).toISOString()
  await tables.resource_rows.update(rowKey(head.id, change.id), { row: next, owner, parent, updated_at })
  return next
}

/** Removes a row. Rejects with a 404 or 412. */
export async function removeRow(tables: Tables, set: RowSet, id: string, ifMatch?: string): Promise<void> {
  const before = await getRow(tables, set, id)
  requireMatch(before, ifMatch)
  await tables.resource_rows.remove({ id: before.id })
}

/** RFC 9110 §13.1.1: weak tags never match. */
function requireMatch({ row }: ResourceRow, ifMatch: string | undefined): void {
  if (ifMatch === undefined || ifMatch.trim() === '*') return
  if (!ifMatch.split(',').some(tag => tag.trim() === etagOf(row))) throw rowChanged()
}

/** Adds the path parameters to the row. Throws a 400 if the row has different values for them. */
function withPathParams({ resource, params }: RowSet, body: Json): Json {
  let row = body
  for (const [name, text] of Object.entries(params)) {
    const given = rowValue(body, [name])
    if (given === undefined) row = { ...row, [name]: resource.numeric.has(name) ? (numberIn(text) ?? text) : text }
    else if (String(given) !== text) throw invalidRequest(`${name} must be ${JSON.stringify(text)}, as in the path.`)
  }
  const missing = resource.params.find(name => rowValue(row, [name]) === undefined)
  if (missing !== undefined) throw invalidRequest(`${missing} is missing.`)
  return row
}

/** The number of which the text is the canonical form. */
function numberIn(text: string): unknown {
  const number = exactJsonOf(text)
  return typeof number !== 'string' && idText(number) === text ? number : undefined
}

/** Adds an id to the row. Throws a 400 if the row has an invalid one. */
function withId({ id: { field, as } }: ReadyResource, row: Json, nextId: number): { row: Json; id: string } {
  // Apps send null for an id that they do not know yet.
  const given = rowValue(row, field) ?? undefined
  const name = field.join('.')
  if (given === undefined && as === 'given')
    throw invalidRequest(`${name} is missing. It must be a string or a number.`)
  const value = given ?? (as === 'integer' ? nextId : as === 'uuid' ? randomUUID() : given)
  const id = idText(value)
  if (id === undefined)
    throw invalidRequest(`${name} must be a string of 1 to 500 characters or a number, not ${valueInWords(value)}.`)
  if (as === 'integer' && !isWhole(value)) throw invalidRequest(`${name} must be a whole number.`)
  return { row: given === undefined ? withRowValue(row, field, value) : row, id }
}

/** Adds the owner to the row. Throws a 403 if the row names another user. */
function withOwner({ resource, viewer }: RowSet, row: Json): { readonly row: Json; readonly owner: string | null } {
  const { owner: field, path } = resource
  if (field === undefined) return { row, owner: null }
  const given = rowValue(row, [field])
  if (viewer.seesAll) return { row, owner: typeof given === 'string' ? given : null }
  if (viewer.user === null) throw foreignRow(`Rows of ${path} belong to users, and this credential belongs to no user.`)
  if (given === undefined) return { row: { ...row, [field]: viewer.user }, owner: viewer.user }
  if (given !== viewer.user) throw foreignRow(`${field} must be your own id, ${viewer.user}.`)
  return { row, owner: viewer.user }
}

function requireValid({ mistakeOf }: ReadyResource, row: Json): void {
  const mistake = mistakeOf?.(row)
  if (mistake !== undefined) throw invalidRequest(mistake)
}

/** The most rows in one answer, as with Supabase. */
export const MOST_ROWS = 1000

export interface ListQuery {
  readonly filters: readonly Filter[]
  readonly offset: number
  readonly limit: number
}

/** The field must have one of the values. */
interface Filter {
  readonly name: string
  readonly field: readonly string[]
  readonly values: readonly string[]
}

const pageParameters = ['limit', 'offset']

/** Throws a 400 for an invalid page. */
export function listQuery(search: string): ListQuery {
  const params = new URLSearchParams(search)
  const names = [...new Set(params.keys())].filter(name => !pageParameters.includes(name))
  return {
    filters: names.map(name => ({ name, field: name.split('.'), values: params.getAll(name) })),
    limit: wholeNumber(params, 'limit', 1, MOST_ROWS) ?? MOST_ROWS,
    offset: wholeNumber(params, 'offset', 0, Number.MAX_SAFE_INTEGER) ?? 0,
  }
}

/** Throws a 400 for a request for one row that has parameters, which only lists have. */
export function requireNoQuery(search: string): void {
  const [name] = new URLSearchParams(search).keys()
  if (name === undefined) return
  throw invalidRequest(`The parameter ${quotedParameter(name)} is not known. Only lists have parameters.`)
}

const quotedParameter = (text: string) => JSON.stringify(shortened(text))

function wholeNumber(params: URLSearchParams, name: string, least: number, most: number): number | undefined {
  const text = params.get(name)
  if (text === null) return undefined
  const number = /^\d{1,16}$/.test(text) ? Number(text) : -1
  if (number >= least && number <= most) return number
  const wanted = range('a whole number', least, most < Number.MAX_SAFE_INTEGER ? most : undefined)
  throw invalidRequest(`The parameter ${name} ${mustBe(wanted)}, not ${quotedParameter(text)}.`)
}

/** Parameters of PostgREST, json-server and others, which no field is called. */
const foreignName =
  /^(select|columns|order|and|or|q|search|filters?|sort|page|fields|include|expand)$|^_|[^\w.-]|_(like|gte|lte|gt|lt|ne)$/i
/** Operators of PostgREST. */
const foreignValue = /^(not\.)?(eq|neq|gte?|lte?|i?like|i?match|is|in|cs|cd|ov|(pl|ph|w)?fts)\./

/** Throws a 400 for a parameter that is no filter here: an empty list would say that there are no such rows. */
function requireFilter({ name, field, values }: Filter, rows: readonly Json[], resource: ReadyResource): void {
  const { seeds, fields, mistakeOf } = resource
  const all = [...rows, ...seeds.map(({ row }) => row)]
  const isKnown = fields.has(field[0] ?? '') || all.some(row => rowValue(row, field) !== undefined)
  const known = [...new Set([...fields, ...all.slice(0, 100).flatMap(Object.keys), ...pageParameters])]
  // Without rows and a schema, any field may be meant.
  const mayBeField = all.length === 0 && mistakeOf === undefined && !foreignName.test(name)
  if (!isKnown && !mayBeField)
    throw invalidRequest(
      `The parameter ${quotedParameter(name)} is not known here.${didYouMean(name, known)} A list knows limit, offset and the fields of its rows, each with the value that it must have.`,
    )
  const operator = values.find(value => foreignValue.test(value) && !rows.some(row => hasValue(row, field, [value])))
  if (operator !== undefined)
    throw invalidRequest(
      `${name}=${shortened(operator)} has an operator, which is not known here. Write the value alone: a list compares it as it is.`,
    )
}

const hasValue = (row: Json, field: readonly string[], values: readonly string[]): boolean => {
  const value = rowValue(row, field)
  if (value === undefined) return false
  return values.includes(typeof value === 'object' && value !== null ? stringifyExact(value) : String(value))
}

/** For a row that a resource does not have, or that belongs to another user. */
const noSuchRow = (id: string) => refusal(404, 'not_found', `There is no ${JSON.stringify(shortened(id))} here.`)

const rowExists = (id: string) =>
  refusal(409, 'row_exists', `There is a row with the id ${JSON.stringify(shortened(id))} already. Choose another id.`)

const rowChanged = () =>
  refusal(412, 'row_changed', 'The row has changed since: its ETag is not the one in If-Match. Read it again.')

const foreignRow = (sentence: string) => refusal(403, 'foreign_row', sentence)
