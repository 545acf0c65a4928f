/** A loaded resource: a collection of rows at a path. */

import type { Access } from '../core/exchange.js'
import { isObject } from '../core/json.js'
import type { Json } from '../state/rows.js'
import type { ResourceAction } from './options.js'

export interface ReadyResource {
  /** As configured: `/builder/projects/:projectId/files`. */
  readonly path: string
  /** The names of the parameters in the path. Each is a field of the rows. */
  readonly params: readonly string[]
  readonly access: Access
  readonly only: readonly ResourceAction[]
  readonly id: {
    readonly field: readonly string[]
    readonly as: 'uuid' | 'integer' | 'given'
  }
  /** The field with the id of the user to whom a row belongs; `undefined` if rows belong to no one. */
  readonly owner: string | undefined
  readonly seeds: readonly SeedRow[]
  readonly digest: string
  /** The path parameters whose values are numbers in rows. */
  readonly numeric: ReadonlySet<string>
  /** Returns the first mistake of a row according to the schema. */
  readonly mistakeOf: ((row: Json) => string | undefined) | undefined
  /** The fields of rows that the configuration names. */
  readonly fields: ReadonlySet<string>
}

export interface SeedRow {
  readonly id: string
  readonly owner: string | null
  /** If the data file has the owner's email address. */
  readonly ownerEmail: string | undefined
  readonly parent: string
  readonly row: Json
  readonly digest: string
}

/** The value of a field. Inherited fields are not read. */
export function rowValue(row: unknown, field: readonly string[]): unknown {
  let value = row
  for (const name of field) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
    value = (value as Json)[name]
  }
  return value
}

/** A copy of the row with another value in a field. A new field comes first, as ids usually do. */
export function withRowValue(row: Json, [name = '', ...rest]: readonly string[], value: unknown): Json {
  const own = Object.hasOwn(row, name) ? row[name] : undefined
  const next = rest.length === 0 ? value : withRowValue(isObject(own) ? own : {}, rest, value)
  return Object.hasOwn(row, name) ? { ...row, [name]: next } : { [name]: next, ...row }
}

const LONGEST_ID = 500

/** Whether a number has no fraction and all its digits. */
export const isWhole = (value: unknown): boolean => typeof value === 'bigint' || Number.isSafeInteger(value)

/** The text of an id in a path; `undefined` for values that cannot be ids. Unpaired surrogates cannot be percent-encoded. */
export function idText(value: unknown): string | undefined {
  if (typeof value === 'bigint') return String(value)
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : undefined
  const isId = typeof value === 'string' && value !== '' && value.length <= LONGEST_ID && value.isWellFormed()
  return isId ? value : undefined
}

/** The path parameters of a row as one text: the key of its nested collection. */
export const parentOf = (params: readonly string[], values: Json): string =>
  params.length === 0 ? '' : JSON.stringify(params.map(name => String(rowValue(values, [name]))))
