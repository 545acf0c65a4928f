/** The options of `standin verify`, from its flags. */
import type { Severity } from '../check/finding.js'
import { UsageError } from '../check/problem.js'
import { type Clause, wantedOf } from '../contract/clause.js'
import { clauses } from '../contract/clauses/index.js'
import { USUAL_MAX_CALLS } from '../contract/target.js'
import type { CommandLine } from './arguments.js'
import { severityIn } from './report.js'

export const reporters = ['text', 'json', 'markdown', 'junit'] as const

export type Reporter = (typeof reporters)[number]

export interface VerifyOptions {
  readonly wanted: readonly Clause[]
  readonly reporter: Reporter
  /** The report file; standard output if undefined. */
  readonly output: string | undefined
  readonly maxCalls: number
  readonly isStrict: boolean
  /** What the answers are also compared with: `live` or an address. */
  readonly against: string | undefined
  /** The baseline file. */
  readonly baseline: string
  readonly updatesBaseline: boolean
  /** A difference is a failure at this severity or above. */
  readonly failOn: Severity
}

/** Throws a UsageError for invalid values. */
export function optionsIn({ given, json }: Pick<CommandLine, 'given' | 'json'>): VerifyOptions {
  const text = (flag: string) => given.get(flag) as string | undefined
  const name = text('reporter') ?? (json ? 'json' : 'text')
  const reporter = reporters.find(reporter => reporter === name)
  if (!reporter) throw new UsageError(`--reporter must be one of ${reporters.join(', ')}, not "${name}".`)
  if (json && reporter !== 'json') throw new UsageError(`--json and --reporter ${reporter} are two reports: give one.`)
  const maxCalls = text('max-calls') ?? String(USUAL_MAX_CALLS)
  if (!/^[1-9]\d{0,5}$/.test(maxCalls)) {
    throw new UsageError(`--max-calls must be a whole number from 1 to 999999, not "${maxCalls}".`)
  }
  const wanted = wantedOf(clauses, text('only'))
  if (wanted.length === 0) {
    throw new UsageError(
      `No clause is called "${text('only')}". Give ids such as AUTH-6.1 or HEALTH-*, a section such as Errors, documented or decided.`,
    )
  }
  return {
    ...{ wanted, reporter, output: text('output'), maxCalls: Number(maxCalls), isStrict: given.has('strict') },
    ...comparisonIn(given),
  }
}

const idle = ['update-baseline', 'baseline', 'fail-on'] as const

function comparisonIn(
  given: CommandLine['given'],
): Pick<VerifyOptions, 'against' | 'baseline' | 'updatesBaseline' | 'failOn'> {
  const text = (flag: string) => given.get(flag) as string | undefined
  const against = text('against')
  const alone = against === undefined ? idle.find(name => given.has(name)) : undefined
  if (alone !== undefined) throw new UsageError(`--${alone} needs --against: there is nothing to compare with.`)
  if (against !== undefined && given.has('target')) {
    throw new UsageError('--against compares with a fresh stand-in: leave out --target.')
  }
  const updatesBaseline = given.has('update-baseline')
  if (updatesBaseline && given.has('only')) {
    throw new UsageError('--update-baseline keeps the shapes of all answers: leave out --only.')
  }
  return { against, updatesBaseline, baseline: text('baseline') ?? USUAL_BASELINE, failOn: severityIn(text('fail-on')) }
}

const USUAL_BASELINE = 'fixtures/contract-baseline.json'
