/** The latest exchanges, each once, and the number of those that were skipped. */
import { factTest } from '../../../core/caller.js'
import type { JournalBrief } from '../../../journal/operations.js'

/** The most rows on the page, which are drawn as they are. Older ones are found by searching the journal. */
export const MOST_ROWS = 200

const isProblem = factTest({ problems: true })

/** What is new in a batch: after a reconnect, some exchanges arrive again. */
function newIn(briefs: readonly JournalBrief[], lastId: number) {
  const fresh = briefs.filter(({ id }) => Number(id) > lastId)
  const newestId = Number(fresh.at(-1)?.id ?? lastId)
  // Ids have no gaps, so missing ones were skipped by the server, or while the connection was lost.
  return { fresh, newestId, missing: newestId - lastId - fresh.length }
}

/** How many rows need attention. */
const countsOf = (rows: readonly JournalBrief[]) => ({
  problems: rows.filter(isProblem).length,
  unruled: rows.filter(row => row.missed && !isProblem(row)).length,
})

export function createHistory() {
  /** Newest first. */
  let rows: readonly JournalBrief[] = []
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
      const { fresh, newestId, missing } = newIn(briefs, lastId)
      lastId = newestId
      skipped += missing
      rows = [...fresh.toReversed(), ...rows].slice(0, MOST_ROWS)
    },
    clear,
    /** Removes all rows if Standin cleared them, up to this id, during a lost connection. Returns whether there were any. */
    clearUntil(id: string): boolean {
      lastId = Math.max(lastId, Number(id))
      const hasOld = Number(rows.at(-1)?.id) <= Number(id)
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
    now: () => ({ rows, skipped, ...countsOf(rows) }),
  }
}
