/** What the page keeps of what it was told: the last exchanges, each once, and how many there was no room for. */
import type { JournalBrief } from '../../journal/operations.js'

/** More rows nobody looks through; they are looked up in the journal. */
export const MOST_ROWS = 2000
/** Taken away together, since each time costs. */
const SLACK = 500

interface History {
  add(briefs: readonly JournalBrief[]): void
  /** Forgets the rows; what was told before does not come back. */
  clear(): void
  /** A connection is there that tells all behind the id `after`. Forgets everything where Standin was started again: ids begin anew. True when it was. */
  began(run: string, after: string): boolean
  newestFirst(): readonly JournalBrief[]
  /** How many were told, and how many only counted, since the page began or was cleared. */
  counts(): { readonly told: number; readonly skipped: number }
}

export function createHistory(): History {
  let rows: JournalBrief[] = []
  let lastId = 0
  let run: string | undefined
  let told = 0
  let skipped = 0

  function clear(): void {
    rows = []
    told = 0
    skipped = 0
  }

  return {
    add(briefs) {
      // After a pause in the connection some are told again.
      const fresh = briefs.filter(({ id }) => Number(id) > lastId)
      for (const { id } of fresh) {
        // Ids have no gaps: who is missing was not told, for want of time or of a connection.
        skipped += Number(id) - lastId - 1
        lastId = Number(id)
      }
      told += fresh.length
      rows.push(...fresh)
      if (rows.length > MOST_ROWS + SLACK) rows = rows.slice(-MOST_ROWS)
    },
    clear,
    began(now, after) {
      const before = run
      run = now
      if (before === now) return false
      clear()
      lastId = Number(after)
      return before !== undefined
    },
    newestFirst: () => rows.slice(-MOST_ROWS).reverse(),
    counts: () => ({ told, skipped }),
  }
}
