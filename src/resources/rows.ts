/** Reads and changes the rows of a resource in the state, with json-server's parameters for lists. Enforces which rows a caller can see. */
import { hash, randomUUID } from 'node:crypto'
import { valueInWords } from '../check/check.js'
import { didYouMean } from '../check/suggest.js'
import { invalidRequest, refusal, shortened } from '../core/errors.js'
import { exactJsonOf, stringifyExact } from '../core/json.js'
import { type Json, type ResourceHead, type ResourceRow, type Tables, TakenError } from '../state/rows.js'
import { idText, isWhole, parentOf, type ReadyResource, rowValue, withRowValue } from './resource.js'

/** Whose rows a caller can see. */
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
  /** How many rows there are on all pages. */
  readonly total: number
}

export async function listRows(tables: Tables, set: RowSet, query: ListQuery): Promise<RowPage> {
  const all = await tables.resource_rows.find(whereOf(set))
  const rows = all.filter(({ row }) => matchesQuery(row, query))
  if (query.order.length > 0) rows.sort((one, other) => compareRows(one.row, other.row, query.order))
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

/** Sorting compares each pair of rows by as many fields. */
const MOST_SORT_FIELDS = 5

/** The number of rows on a page if `_page` is given without `_limit`. */
const DEFAULT_PAGE_SIZE = 10

interface Order {
  readonly field: readonly string[]
  readonly descending: boolean
}

export interface ListQuery {
  /** The field must have one of the values. */
  readonly filters: readonly { readonly field: readonly string[]; readonly values: readonly string[] }[]
  /** In lower case; empty for no search. */
  readonly search: string
  readonly order: readonly Order[]
  /** From 1. */
  readonly page: number
  readonly offset: number
  readonly limit: number
  /** Whether the request asked for a page. */
  readonly isPaged: boolean
}

const knownParameters = ['_sort', '_order', '_page', '_limit']

/** Throws a 400 for an unknown parameter that begins with `_`, and for invalid values. */
export function listQuery(search: string, { id }: Pick<ReadyResource, 'id'>): ListQuery {
  const params = new URLSearchParams(search)
  const names = [...new Set(params.keys())]
  for (const name of names) {
    // An id may be called _id.
    if (name.startsWith('_') && !knownParameters.includes(name) && name !== id.field.join('.'))
      throw invalidRequest(
        `The parameter ${quotedParameter(name)} is not known.${didYouMean(name, knownParameters) || ` Known: ${knownParameters.join(', ')}.`}`,
      )
  }
  const page = wholeNumber(params, '_page')
  const requested = wholeNumber(params, '_limit') ?? (page === undefined ? MOST_ROWS : DEFAULT_PAGE_SIZE)
  const limit = Math.min(requested, MOST_ROWS)
  return {
    filters: names
      .filter(name => name !== 'q' && !knownParameters.includes(name))
      .map(name => ({ field: name.split('.'), values: params.getAll(name) })),
    search: (params.get('q') ?? '').toLowerCase(),
    order: orderOf(params),
    page: page ?? 1,
    offset: ((page ?? 1) - 1) * limit,
    limit,
    isPaged: page !== undefined || params.has('_limit'),
  }
}

const quotedParameter = (text: string) => JSON.stringify(shortened(text))

function wholeNumber(params: URLSearchParams, name: string): number | undefined {
  const text = params.get(name)
  if (text === null) return undefined
  const number = /^\d+$/.test(text) ? Number(text) : 0
  if (number >= 1) return Math.min(number, Number.MAX_SAFE_INTEGER)
  throw invalidRequest(`The parameter ${name} must be a whole number from 1, not ${quotedParameter(text)}.`)
}

function orderOf(params: URLSearchParams): readonly Order[] {
  const parts = (name: string) => (params.get(name) ?? '').split(',').filter(part => part !== '')
  const orders = parts('_order').map(word => word.toLowerCase())
  for (const word of orders) {
    if (word !== 'asc' && word !== 'desc')
      throw invalidRequest(`The parameter _order must be asc or desc, not ${quotedParameter(word)}.`)
  }
  const names = parts('_sort')
  if (names.length > MOST_SORT_FIELDS)
    throw invalidRequest(`The parameter _sort may name at most ${MOST_SORT_FIELDS} fields, not ${names.length}.`)
  return names.map((name, i) => ({
    field: name.replace(/^-/, '').split('.'),
    descending: name.startsWith('-') !== (orders[i] === 'desc'),
  }))
}

/** Whether a row passes the filters and the search. */
const matchesQuery = (row: Json, { filters, search }: ListQuery): boolean =>
  filters.every(({ field, values }) => {
    const value = rowValue(row, field)
    return value !== undefined && values.includes(comparable(value))
  }) &&
  (search === '' || contains(row, search))

const comparable = (value: unknown): string =>
  typeof value === 'object' && value !== null ? stringifyExact(value) : String(value)

function contains(value: unknown, search: string): boolean {
  if (typeof value === 'object' && value !== null) return Object.values(value).some(inside => contains(inside, search))
  return value !== null && comparable(value).toLowerCase().includes(search)
}

/** Compares rows for sorting. */
function compareRows(row: Json, other: Json, order: readonly Order[]): number {
  for (const { field, descending } of order) {
    const difference = compareValues(rowValue(row, field), rowValue(other, field))
    if (difference !== 0) return descending ? -difference : difference
  }
  return 0
}

const isNumber = (value: unknown): value is number | bigint => typeof value === 'number' || typeof value === 'bigint'

/** Numbers come before texts, texts before other values, and missing values last. */
function compareValues(value: unknown, other: unknown): number {
  if (isNumber(value) && isNumber(other)) return value < other ? -1 : value > other ? 1 : 0
  const [rank, otherRank] = [rankOf(value), rankOf(other)]
  if (rank !== otherRank) return rank - otherRank
  const [text, otherText] = [comparable(value), comparable(other)]
  return text < otherText ? -1 : text > otherText ? 1 : 0
}

function rankOf(value: unknown): number {
  if (value === undefined || value === null) return 3
  return isNumber(value) ? 0 : typeof value === 'string' ? 1 : 2
}

/** For a row that a resource does not have, or that belongs to another user. */
const noSuchRow = (id: string) => refusal(404, 'not_found', `There is no ${JSON.stringify(shortened(id))} here.`)

const rowExists = (id: string) =>
  refusal(409, 'row_exists', `There is a row with the id ${JSON.stringify(shortened(id))} already. Choose another id.`)

const rowChanged = () =>
  refusal(412, 'row_changed', 'The row has changed since: its ETag is not the one in If-Match. Read it again.')

const foreignRow = (sentence: string) => refusal(403, 'foreign_row', sentence)
