/** Reads and changes the rows of a resource in the state. Enforces which rows a caller can see. */
import { hash, randomUUID } from 'node:crypto'
import { valueInWords } from '../check/check.js'
import { invalidRequest, refusal, shortened, tooDeep } from '../core/errors.js'
import { isTooDeep } from '../core/json.js'
import { type Json, type ResourceHead, type ResourceRow, type Tables, TakenError } from '../state/rows.js'
import { compareRows, type ListQuery, matchesQuery } from './query.js'
import { idText, MOST_ROW_LEVELS, parentOf, type ReadyResource, rowValue, withRowValue } from './resource.js'

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
export const etagOf = (row: unknown) => `"${hash('sha256', JSON.stringify(row), 'base64url').slice(0, 27)}"`

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
  requireShallow(body)
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
  requireShallow(change.body)
  const { resource, head } = set
  const before = await getRow(tables, set, change.id)
  requireMatch(before, change.ifMatch)
  const ownId = rowValue(before.row, resource.id.field)
  const changed = change.keepsOmitted ? { ...before.row, ...change.body } : withFixedFields(set, before, change.body)
  if (idText(rowValue(changed, resource.id.field) ?? ownId) !== change.id)
    throw invalidRequest(`${resource.id.field.join('.')} must be ${JSON.stringify(ownId)}, as in the path.`)
  // The body may have the id as another type, or null.
  const row = withRowValue(changed, resource.id.field, ownId)
  const { row: next, owner } = withOwner(set, withPathParams(set, row))
  requireValid(resource, next)
  const parent = parentOf(resource.params, next)
  const updated_at = new Date(nowMs).toISOString()
  await tables.resource_rows.update(rowKey(head.id, change.id), { row: next, owner, parent, updated_at })
  return next
}

/** A row that replaces another one keeps its owner and its parent. */
function withFixedFields({ resource: { owner, params } }: RowSet, { row }: ResourceRow, body: Json): Json {
  const fixed = [...params, ...(owner === undefined ? [] : [owner])].filter(name => !Object.hasOwn(body, name))
  return { ...body, ...Object.fromEntries(fixed.map(name => [name, rowValue(row, [name])])) }
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
    if (given === undefined)
      row = { ...row, [name]: resource.numeric.has(name) && isNumeral(text) ? Number(text) : text }
    else if (String(given) !== text) throw invalidRequest(`${name} must be ${JSON.stringify(text)}, as in the path.`)
  }
  const missing = resource.params.find(name => rowValue(row, [name]) === undefined)
  if (missing !== undefined) throw invalidRequest(`${missing} is missing.`)
  return row
}

/** Whether the text is the canonical form of a number. */
const isNumeral = (text: string) => String(Number(text)) === text && Number.isFinite(Number(text))

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
  if (as === 'integer' && !Number.isSafeInteger(value)) throw invalidRequest(`${name} must be a whole number.`)
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

function requireShallow(row: Json): void {
  if (isTooDeep(row, MOST_ROW_LEVELS)) throw tooDeep(MOST_ROW_LEVELS)
}

/** For a row that a resource does not have, or that belongs to another user. */
const noSuchRow = (id: string) => refusal(404, 'not_found', `There is no ${JSON.stringify(shortened(id))} here.`)

const rowExists = (id: string) =>
  refusal(409, 'row_exists', `There is a row with the id ${JSON.stringify(shortened(id))} already. Choose another id.`)

const rowChanged = () =>
  refusal(412, 'row_changed', 'The row has changed since: its ETag is not the one in If-Match. Read it again.')

const foreignRow = (sentence: string) => refusal(403, 'foreign_row', sentence)
