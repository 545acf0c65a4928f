/** Watches a piece of work for what ends access: rows that are removed, banned or revoked. */
import type { TableName, Tables } from '../core/state.js'
import { type AnyTable, shapeOf, tablesOf } from './shapes.js'

export function watchDoors(tables: Tables) {
  let closed = false
  const watched = (name: TableName): AnyTable => {
    const table = tables[name] as unknown as AnyTable
    const { doors } = shapeOf(name)
    if (!doors) return table
    return {
      ...table,
      async update(key, changes) {
        const touched = doors.filter(column => changes[column] !== undefined)
        const before = touched.length > 0 ? await table.get(key) : undefined
        await table.update(key, changes)
        if (before && touched.some(column => before[column] !== changes[column])) closed = true
      },
      async remove(where) {
        const removed = await table.remove(where)
        if (removed > 0) closed = true
        return removed
      },
    }
  }
  return {
    tables: tablesOf(watched),
    /** Whether something that gave access may do so no longer. */
    get closed(): boolean {
      return closed
    },
  }
}
