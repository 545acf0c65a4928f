/** Which values can be kept: the same ones by every kind of state. */
import { isKeepable, TakenError } from '../core/state.js'
import type { AnyRow, AnyShape } from './shapes.js'

export type Value = string | number | boolean | null

/** JSON, as opposed to a value, is text in a database and frozen objects in memory. */
interface Forms<T> {
  json(text: string): T
  value(value: Value): T
}

/** A row, or some columns of one, in the form in which it is kept. Throws a TypeError when a value cannot be kept. */
export function kept<T>({ json }: AnyShape, row: AnyRow, forms: Forms<T>): Record<string, T> {
  const columns = Object.entries(row).filter(([, value]) => value !== undefined)
  return Object.fromEntries(
    columns.map(([column, value]) => {
      if (json.includes(column)) return [column, forms.json(JSON.stringify(value))]
      if (isValue(value) && isWhole(value)) return [column, forms.value(value)]
      throw new TypeError(
        `${column} cannot be kept: it is no text, number or boolean, or text with NUL or half a character.`,
      )
    }),
  )
}

/** What is asked for, column by column. Throws a TypeError when a value is left open, which would mean every row. */
export function conditions(where: AnyRow): readonly (readonly [column: string, value: Value])[] {
  return Object.entries(where).map(([column, value]) => {
    if (isValue(value)) return [column, value]
    throw new TypeError(`${column} cannot be asked for: it is no text, number or boolean, nor null.`)
  })
}

const isValue = (value: unknown): value is Value =>
  value === null || typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)

export const isWhole = (value: Value): boolean => typeof value !== 'string' || isKeepable(value)

export const taken = () =>
  new TakenError('A row with this key, or a value that may be there only once, is there already.')
