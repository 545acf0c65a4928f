/** How often property tests try: a tenth of what they name, each time by another seed; all of it with FC_RUNS=all. */
import fc from 'fast-check'

const FEWEST = 10

/** What a property test gives as its `numRuns`. */
export const runs = (all: number): number =>
  process.env.FC_RUNS === 'all' ? all : Math.min(all, Math.max(FEWEST, Math.ceil(all / 10)))

// Those that name no number.
fc.configureGlobal({ numRuns: runs(200) })
