/** The latest exchanges, each once, and the number of those that were skipped. */
import { factTest } from '../../../core/caller.js'
import type { JournalBrief } from '../../../journal/operations.js'

/** The most rows on the page, which are drawn as they are. Older ones are found by searching the journal. */
export const MOST_ROWS = 200
/** The size of the batches in which rows are removed, since each removal copies the list. */
const SLACK = 100

const isProblem = factTest({ problems: true })

export function createHistory() {
  let rows: JournalBrief[] = []
  let lastId = 0
  let run: string | undefined
  let skipped = 0

  /** Removes the rows of a scope, or all of them. They are not added again. */
  function clear(scope?: string): void {
    rows = scope === undefined ? [] : rows.filter(row => row.scope !== scope)
    if (scope === undefined) skipped = 0
  }

  return {
    add(briefs: readonly JournalBrief[]): void {
      // After a reconnect, some exchanges arrive again.
      const fresh = briefs.filter(({ id }) => Number(id) > lastId)
      for (const { id } of fresh) {
        // Ids have no gaps, so missing ones were skipped by the server, or while the connection was lost.
        skipped += Number(id) - lastId - 1
        lastId = Number(id)
      }
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
    now() {
      const shown = rows.slice(-MOST_ROWS).reverse()
      const unruled = shown.filter(row => row.missed && !isProblem(row)).length
      return { rows: shown, skipped, problems: shown.filter(isProblem).length, unruled }
    },
  }
}
