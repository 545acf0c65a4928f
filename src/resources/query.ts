/** Queries of lists with json-server's parameters: filters, search, order and pages. */
import { didYouMean } from '../check/suggest.js'
import { invalidRequest, shortened } from '../core/errors.js'
import type { Json } from '../state/rows.js'
import { type ReadyResource, rowValue } from './resource.js'

/** The most rows in one answer, as with Supabase. */
export const MOST_ROWS = 1000

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
        `The parameter ${quoted(name)} is not known.${didYouMean(name, knownParameters) || ` Known: ${knownParameters.join(', ')}.`}`,
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

const quoted = (text: string) => JSON.stringify(shortened(text))

function wholeNumber(params: URLSearchParams, name: string): number | undefined {
  const text = params.get(name)
  if (text === null) return undefined
  const number = /^\d+$/.test(text) ? Number(text) : 0
  if (number >= 1) return Math.min(number, Number.MAX_SAFE_INTEGER)
  throw invalidRequest(`The parameter ${name} must be a whole number from 1, not ${quoted(text)}.`)
}

function orderOf(params: URLSearchParams): readonly Order[] {
  const parts = (name: string) => (params.get(name) ?? '').split(',').filter(part => part !== '')
  const orders = parts('_order').map(word => word.toLowerCase())
  for (const word of orders) {
    if (word !== 'asc' && word !== 'desc')
      throw invalidRequest(`The parameter _order must be asc or desc, not ${quoted(word)}.`)
  }
  return parts('_sort').map((name, i) => ({
    field: name.replace(/^-/, '').split('.'),
    descending: name.startsWith('-') !== (orders[i] === 'desc'),
  }))
}

/** Whether a row passes the filters and the search. */
export const matchesQuery = (row: Json, { filters, search }: ListQuery): boolean =>
  filters.every(({ field, values }) => {
    const value = rowValue(row, field)
    return value !== undefined && values.includes(comparable(value))
  }) &&
  (search === '' || contains(row, search))

const comparable = (value: unknown): string =>
  typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value)

function contains(value: unknown, search: string): boolean {
  if (typeof value === 'object' && value !== null) return Object.values(value).some(inside => contains(inside, search))
  return value !== null && comparable(value).toLowerCase().includes(search)
}

/** Compares rows for sorting. */
export function compareRows(row: Json, other: Json, order: readonly Order[]): number {
  for (const { field, descending } of order) {
    const difference = compareValues(rowValue(row, field), rowValue(other, field))
    if (difference !== 0) return descending ? -difference : difference
  }
  return 0
}

/** Numbers come before texts, texts before other values, and missing values last. */
function compareValues(value: unknown, other: unknown): number {
  if (typeof value === 'number' && typeof other === 'number') return value - other
  const [rank, otherRank] = [rankOf(value), rankOf(other)]
  if (rank !== otherRank) return rank - otherRank
  const [text, otherText] = [comparable(value), comparable(other)]
  return text < otherText ? -1 : text > otherText ? 1 : 0
}

function rankOf(value: unknown): number {
  if (value === undefined || value === null) return 3
  return typeof value === 'number' ? 0 : typeof value === 'string' ? 1 : 2
}
