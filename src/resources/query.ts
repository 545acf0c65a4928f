/** Queries of lists, with json-server's parameters: filters, search, order and pages. */
import { didYouMean } from '../check/suggest.js'
import { invalidRequest, shortened } from '../core/errors.js'
import type { Json } from '../core/state.js'
import { type ReadyResource, valueIn } from './resource.js'

/** The most rows in one answer, as with Supabase. */
export const MOST_ROWS = 1000

/** Rows on a page if `_page` is given without `_limit`. */
const ON_A_PAGE = 10

interface Order {
  readonly field: readonly string[]
  readonly descending: boolean
}

export interface ListQuery {
  /** One of the wanted values must be that of the field. */
  readonly filters: readonly { readonly field: readonly string[]; readonly wanted: readonly string[] }[]
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

const known = ['_sort', '_order', '_page', '_limit']

/** Throws a 400 for an unknown parameter that begins with `_`, and for invalid values. */
export function listQuery(written: string, { id }: Pick<ReadyResource, 'id'>): ListQuery {
  const params = new URLSearchParams(written)
  const names = [...new Set(params.keys())]
  for (const name of names) {
    // An id may be called _id.
    if (name.startsWith('_') && !known.includes(name) && name !== id.field.join('.'))
      throw invalidRequest(
        `The parameter ${shown(name)} is not known.${didYouMean(name, known) || ` Known: ${known.join(', ')}.`}`,
      )
  }
  const page = wholeNumber(params, '_page')
  const wanted = wholeNumber(params, '_limit') ?? (page === undefined ? MOST_ROWS : ON_A_PAGE)
  const limit = Math.min(wanted, MOST_ROWS)
  return {
    filters: names
      .filter(name => name !== 'q' && !known.includes(name))
      .map(name => ({ field: name.split('.'), wanted: params.getAll(name) })),
    search: (params.get('q') ?? '').toLowerCase(),
    order: orderOf(params),
    page: page ?? 1,
    offset: ((page ?? 1) - 1) * limit,
    limit,
    isPaged: page !== undefined || params.has('_limit'),
  }
}

const shown = (text: string) => JSON.stringify(shortened(text))

function wholeNumber(params: URLSearchParams, name: string): number | undefined {
  const written = params.get(name)
  if (written === null) return undefined
  const number = /^\d+$/.test(written) ? Number(written) : 0
  if (number >= 1) return Math.min(number, Number.MAX_SAFE_INTEGER)
  throw invalidRequest(`The parameter ${name} must be a whole number from 1, not ${shown(written)}.`)
}

function orderOf(params: URLSearchParams): readonly Order[] {
  const parts = (name: string) => (params.get(name) ?? '').split(',').filter(part => part !== '')
  const orders = parts('_order').map(word => word.toLowerCase())
  for (const word of orders) {
    if (word !== 'asc' && word !== 'desc')
      throw invalidRequest(`The parameter _order must be asc or desc, not ${shown(word)}.`)
  }
  return parts('_sort').map((name, i) => ({
    field: name.replace(/^-/, '').split('.'),
    descending: name.startsWith('-') !== (orders[i] === 'desc'),
  }))
}

/** Whether a row passes the filters and the search. */
export const matches = (row: Json, { filters, search }: ListQuery): boolean =>
  filters.every(({ field, wanted }) => {
    const value = valueIn(row, field)
    return value !== undefined && wanted.includes(textOf(value))
  }) &&
  (search === '' || contains(row, search))

const textOf = (value: unknown): string =>
  typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value)

function contains(value: unknown, search: string): boolean {
  if (typeof value === 'object' && value !== null) return Object.values(value).some(inside => contains(inside, search))
  return value !== null && textOf(value).toLowerCase().includes(search)
}

/** Compares rows. The sort is stable. */
export function compare(row: Json, other: Json, order: readonly Order[]): number {
  for (const { field, descending } of order) {
    const difference = compareValues(valueIn(row, field), valueIn(other, field))
    if (difference !== 0) return descending ? -difference : difference
  }
  return 0
}

/** Numbers before texts before everything else; a missing value comes last. */
function compareValues(value: unknown, other: unknown): number {
  if (typeof value === 'number' && typeof other === 'number') return value - other
  const [rank, otherRank] = [rankOf(value), rankOf(other)]
  if (rank !== otherRank) return rank - otherRank
  const [text, otherText] = [textOf(value), textOf(other)]
  return text < otherText ? -1 : text > otherText ? 1 : 0
}

function rankOf(value: unknown): number {
  if (value === undefined || value === null) return 3
  return typeof value === 'number' ? 0 : typeof value === 'string' ? 1 : 2
}

/** Whether there is no filter and no order, so that the state can do the paging. */
export const isPlain = ({ filters, search, order }: ListQuery): boolean =>
  filters.length === 0 && search === '' && order.length === 0
