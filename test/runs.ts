/** Settings for all tests: how often property tests run (a tenth of the number they name, with a new seed each time; all of it with FC_RUNS=all), and that answers are checked against their schemas. */
import fc from 'fast-check'
import { answers } from '../src/core/operation.js'
import { hashCost } from '../src/supabase/passwords.js'

const FEWEST = 10

/** The `numRuns` of a property test; with another `fewest` for one property of very many. */
export const runs = (all: number, fewest = FEWEST): number =>
  process.env.FC_RUNS === 'all' ? all : Math.min(all, Math.max(fewest, Math.ceil(all / 10)))

// For properties that name no number.
fc.configureGlobal({ numRuns: runs(200) })

// Every answer of an operation is checked against its declared schema, in every test.
answers.isChecked = true

// Most tests create users, and hashing passwords would take longer than the rest of the test. test/supabase/passwords.test.ts uses the real cost.
hashCost.logN = 4
