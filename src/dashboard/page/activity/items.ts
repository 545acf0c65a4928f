/** The list as it is shown: single requests, and the runs of agents, whose steps belong together. */
import type { JournalBrief } from '../../../journal/operations.js'

export interface Run {
  readonly id: string
  /** The oldest first. */
  readonly steps: readonly JournalBrief[]
}

/** Newest first. A run is where its newest step is. */
export function itemsOf(rows: readonly JournalBrief[]): readonly (JournalBrief | Run)[] {
  const byRun = Map.groupBy(rows, ({ run }) => run)
  return rows.flatMap((row): readonly (JournalBrief | Run)[] => {
    const steps = byRun.get(row.run) ?? []
    if (steps.length === 1) return [row]
    return row === steps[0] ? [{ id: row.run, steps: steps.toReversed() }] : []
  })
}

const startOf = ({ at }: JournalBrief) => Date.parse(at)

/** When a run began, how long it took, and its tokens. */
export function factsOfRun({ steps }: Run) {
  const startMs = Math.min(...steps.map(startOf))
  const endMs = Math.max(...steps.map(step => startOf(step) + step.durationMs))
  const tokens = steps.reduce((sum, { tokens }) => sum + (tokens ? tokens.prompt + tokens.completion : 0), 0)
  return { startMs, durationMs: endMs - startMs, tokens }
}
