/** The flags of `standin verify`, and what they ask for. */
import { UsageError } from '../../check/problem.js'
import { wantedOf } from '../../contract/clause.js'
import { clauses } from '../../contract/clauses/index.js'
import { USUAL_MAX_CALLS } from '../../contract/target.js'
import { type CommandLine, sharedFlags, text, whole, yes } from '../command.js'
import { failOnFlag, reportFlags } from '../report/reporter.js'

const USUAL_BASELINE = 'fixtures/contract-baseline.json'

export const verifyFlags = {
  config: { ...sharedFlags.config, meaning: 'Configuration file of the fresh stand-in (none)' },
  upstream: {
    ...sharedFlags.upstream,
    meaning: 'Address of the live platform, where --target or --against says live',
  },
  json: { ...sharedFlags.json, meaning: 'Print the report as JSON, like --reporter json' },
  quiet: { ...sharedFlags.quiet, meaning: 'Print broken clauses only, and no progress' },
  strict: yes('Let a decision that is not kept count as broken, too'),
  only: text('GLOB', 'Only such clauses: AUTH-*,Errors,documented'),
  target: text('URL', 'Base address of what is verified; live is upstream.baseUrl (a fresh stand-in)'),
  auth: text('URL', 'Address of its auth backend, without /auth/v1 (the same)'),
  'api-key': text('KEY', 'An API key of the target'),
  'anon-key': text('KEY', 'The anon key of the target'),
  email: text('ADDRESS', 'Who signs in at the target'),
  password: text('TEXT', 'The password that goes with --email'),
  'password-stdin': yes('Read the password from standard input'),
  model: text('ID', 'The model that is asked (the first one)'),
  'max-calls': whole([1, 999_999], `No more calls than this (${USUAL_MAX_CALLS})`, USUAL_MAX_CALLS),
  ...reportFlags,
  against: text('URL', 'Compare with another platform, too; live is upstream.baseUrl, or what was kept of it'),
  'fail-on': failOnFlag('Which difference'),
  'update-baseline': yes('Keep the shapes of the live answers'),
  baseline: text('FILE', `Where they are kept (${USUAL_BASELINE})`),
}

export type VerifyLine = CommandLine<typeof verifyFlags>

export interface VerifyOptions {
  readonly wanted: ReturnType<typeof wantedOf>
  readonly maxCalls: number
  /** The baseline file. */
  readonly baseline: string
}

/** Throws a UsageError for flags that do not fit together. */
export function optionsIn({ flags }: VerifyLine): VerifyOptions {
  const { only, against, target, baseline = USUAL_BASELINE, 'max-calls': maxCalls } = flags
  const wanted = wantedOf(clauses, only)
  if (wanted.length === 0) {
    throw new UsageError(
      `No clause is called "${only}". Give ids such as AUTH-6.1 or HEALTH-*, a section such as Errors, documented or decided.`,
    )
  }
  const alone = (['update-baseline', 'baseline', 'fail-on'] as const).find(name => flags[name] && against === undefined)
  if (alone) throw new UsageError(`--${alone} needs --against: there is nothing to compare with.`)
  if (against !== undefined && target !== undefined) {
    throw new UsageError('--against compares with a fresh stand-in: leave out --target.')
  }
  if (flags['update-baseline'] && only !== undefined) {
    throw new UsageError('--update-baseline keeps the shapes of all answers: leave out --only.')
  }
  return { wanted, maxCalls, baseline }
}
