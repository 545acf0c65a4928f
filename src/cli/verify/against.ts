/** `standin verify --against`: compares a stand-in with the live platform, or with a baseline of it. */
import path from 'node:path'
import { ProblemsError, UsageError } from '../../check/problem.js'
import { answersOf, type Baseline, compareAnswers, readBaseline, writeBaseline } from '../../contract/baseline.js'
import { judgeAll } from '../../contract/clause.js'
import { clauses } from '../../contract/clauses/index.js'
import { createTarget, type Target, type TargetOptions } from '../../contract/target.js'
import { load } from '../load.js'
import { relativePath } from '../output.js'
import type { Progress } from '../progress.js'
import { targetAt, type VerifyLine, type VerifyOptions, variables } from './target.js'

export type LiveComparison = Awaited<ReturnType<typeof compareWith>>

/** The live platform, or its baseline. */
export type ComparisonTarget =
  | { readonly kind: 'live'; readonly target: TargetOptions }
  | ({ readonly kind: 'baseline' } & Baseline)

/**
 * The live platform if there are credentials for it, otherwise the baseline: in CI, pull requests have no credentials.
 * Rejects with a UsageError if there is neither.
 */
export async function openComparisonTarget(line: VerifyLine, options: VerifyOptions): Promise<ComparisonTarget> {
  const { against, 'update-baseline': updatesBaseline } = line.flags
  const address = against === 'live' ? nameOfLive(line) : against
  const target = address === undefined ? undefined : await targetAt(address, line, '--against')
  if (target?.apiKey || target?.anonKey) return { kind: 'live', target }
  const baseline = updatesBaseline ? undefined : await readBaseline(path.resolve(options.baseline))
  if (baseline) return { kind: 'baseline', ...baseline }
  if (target && against !== 'live') return { kind: 'live', target }
  throw new UsageError(
    updatesBaseline
      ? '--update-baseline needs a live platform and its keys: upstream.* in the configuration, or the VERIFY_ variables.'
      : `There is neither a live platform nor a baseline (${options.baseline}) to compare with. Set upstream.baseUrl and its keys.`,
  )
}

const nameOfLive = (line: VerifyLine): string | undefined =>
  load(line).config.upstream.baseUrl === '' ? process.env[variables.target] || undefined : 'live'

/** Throws a ProblemsError if the target did not answer at all. */
export function requireReachable(target: Target, { aborted }: AbortSignal): void {
  const why = target.unreachable()
  if (why === undefined || aborted) return
  throw new ProblemsError([{ origin: target.url, sentence: `cannot be reached (${why}).` }])
}

interface ComparisonRun extends VerifyOptions {
  readonly line: VerifyLine
  readonly progress: Progress
  readonly signal: AbortSignal
}

/** Compares the answers of `own` with the baseline, or with those of the live platform, which is checked as well. */
export async function compareWith(
  own: Target,
  comparison: ComparisonTarget,
  { line, wanted, maxCalls, baseline, progress, signal }: ComparisonRun,
) {
  const ownAnswers = await answersOf(own)
  const { 'fail-on': failOn = 'critical', 'update-baseline': updatesBaseline } = line.flags
  if (comparison.kind === 'baseline') {
    const { target, at, answers } = comparison
    const notAsked = { isFresh: false, failOn, findings: [], calls: 0 }
    return { ...compareAnswers(ownAnswers, answers), target, at, ...notAsked }
  }
  const live = createTarget({ ...comparison.target, maxCalls, signal })
  const findings = await judgeAll({
    ...{ target: live, table: clauses, wanted },
    begun: ({ id }) => progress.at(`live ${id}`),
    ended: progress.step,
  })
  requireReachable(live, signal)
  const [at, answers] = [new Date(), await answersOf(live)]
  const baselineFile = updatesBaseline && !signal.aborted ? path.resolve(baseline) : undefined
  if (baselineFile !== undefined) await writeBaseline(baselineFile, { at, target: live.url, answers })
  return {
    ...compareAnswers(ownAnswers, answers),
    ...{ target: live.url, at, calls: live.calls() },
    /** Otherwise the baseline was used. */
    isFresh: true,
    /** How the live platform itself fulfils the contract. */
    findings,
    /** A difference is a failure at this severity or above. */
    failOn,
    /** The baseline file that was written. */
    ...(baselineFile !== undefined && { savedIn: relativePath(baselineFile) }),
  }
}
