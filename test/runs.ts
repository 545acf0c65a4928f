/** What holds for all tests: how often properties are tried (a tenth of what they name, each time by another seed; all of it with FC_RUNS=all), and that answers are what they are declared to be. */
import fc from 'fast-check'
import { answers } from '../src/api/operation.js'
import { builtWorker } from '../src/core/work.js'
import { hashCost } from '../src/supabase/passwords.js'

const FEWEST = 10

/** What a property test gives as its `numRuns`; with another `fewest` where the property is one of very many. */
export const runs = (all: number, fewest = FEWEST): number =>
  process.env.FC_RUNS === 'all' ? all : Math.min(all, Math.max(fewest, Math.ceil(all / 10)))

// Those that name no number.
fc.configureGlobal({ numRuns: runs(200) })

// Every answer of an operation is held against the schema that it declares, in whatever test asks it.
answers.isChecked = true

// Most tests make users, and hashing passwords would take longer than the rest of them. test/supabase/passwords.test.ts uses the real cost.
hashCost.logN = 4

// A worker thread that compiles the source takes a second to start.
builtWorker.url = new URL('../dist/worker.js', import.meta.url)
