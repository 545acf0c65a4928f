/** The latest exchanges, each once, and the number of those that were skipped. */
import type { JournalBrief } from '../../../journal/operations.js'

/** The most rows on the page. Older ones can be looked up in the journal. */
export const MOST_ROWS = 2000
/** The size of the batches in which rows are removed, since each removal copies the list. */
const SLACK = 500

export function createHistory() {
  let rows: JournalBrief[] = []
  let lastId = 0
  let run: string | undefined
  let counts = { told: 0, skipped: 0 }

  /** Removes the rows of a scope, or all of them. They are not added again. */
  function clear(scope?: string): void {
    rows = scope === undefined ? [] : rows.filter(row => row.scope !== scope)
    if (scope === undefined) counts = { told: 0, skipped: 0 }
  }

  return {
    add(briefs: readonly JournalBrief[]): void {
      // After a reconnect, some exchanges arrive again.
      const fresh = briefs.filter(({ id }) => Number(id) > lastId)
      for (const { id } of fresh) {
        // Ids have no gaps, so missing ones were skipped by the server, or while the connection was lost.
        counts.skipped += Number(id) - lastId - 1
        lastId = Number(id)
      }
      counts.told += fresh.length
      rows.push(...fresh)
      if (rows.length > MOST_ROWS + SLACK) rows = rows.slice(-MOST_ROWS)
    },
    clear,
    /** Removes all rows if Standin cleared them, up to this id, during a lost connection. Returns whether there were any. */
    clearUntil(id: string): boolean {
      lastId = Math.max(lastId, Number(id))
      const hasOld = Number(rows[0]?.id ?? Number.POSITIVE_INFINITY) <= Number(id)
      if (hasOld) clear()
      return hasOld
    },
    /** To be called when the connection opens. If Standin was restarted, clears everything, since ids start over, and returns true. */
    began(now: string, after: string): boolean {
      const before = run
      run = now
      if (before === now) return false
      clear()
      lastId = Number(after)
      return before !== undefined
    },
    newestFirst: (): readonly JournalBrief[] => rows.slice(-MOST_ROWS).reverse(),
    /** How many exchanges were received and skipped since the list was opened or cleared. */
    counts: () => counts,
  }
}
