/** `standin verify --against`: compares a stand-in with the live platform, or with a baseline of it. */
import path from 'node:path'
import { ProblemsError, UsageError } from '../../check/problem.js'
import { answersOf, type Baseline, compareAnswers, readBaseline, writeBaseline } from '../../contract/baseline.js'
import { judgeAll } from '../../contract/clause.js'
import { clauses } from '../../contract/clauses/index.js'
import { createTarget, type Target, type TargetOptions } from '../../contract/target.js'
import { load } from '../load.js'
import { near } from '../output.js'
import type { Progress } from '../progress.js'
import { targetAt, type VerifyLine, type VerifyOptions, variables } from './target.js'

export type LiveComparison = Awaited<ReturnType<typeof against>>

/** The live platform, or its baseline. */
export type ComparisonTarget =
  | { readonly kind: 'live'; readonly target: TargetOptions }
  | ({ readonly kind: 'kept' } & Baseline)

/** Rejects with a UsageError if there is neither. A pull request without live credentials uses the baseline. */
export async function openOther(line: VerifyLine, options: VerifyOptions): Promise<ComparisonTarget> {
  const { against, 'update-baseline': updatesBaseline } = line.flags
  const named = against === 'live' ? nameOfLive(line) : against
  const target = named === undefined ? undefined : await targetAt(named, line, '--against')
  if (target?.apiKey || target?.anonKey) return { kind: 'live', target }
  const baseline = updatesBaseline ? undefined : await readBaseline(path.resolve(options.baseline))
  if (baseline) return { kind: 'kept', ...baseline }
  if (target && against !== 'live') return { kind: 'live', target }
  throw new UsageError(
    updatesBaseline
      ? '--update-baseline needs a live platform and its keys: upstream.* in the configuration, or the VERIFY_ variables.'
      : `There is no live platform to ask, and ${options.baseline} has no baseline of it. Set upstream.baseUrl and its keys.`,
  )
}

const nameOfLive = (line: VerifyLine): string | undefined =>
  load(line).config.upstream.baseUrl === '' ? process.env[variables.target] || undefined : 'live'

/** Throws a ProblemsError for a target that did not answer at all. */
export function requireReached(target: Target, { aborted }: AbortSignal): void {
  const why = target.unreachable()
  if (why === undefined || aborted) return
  throw new ProblemsError([{ origin: target.url, sentence: `cannot be reached (${why}).` }])
}

interface ComparisonRun extends VerifyOptions {
  readonly line: VerifyLine
  readonly progress: Progress
  readonly signal: AbortSignal
}

/** Checks the live platform, if it is to be asked, and compares its answers with those of `own`. */
export async function against(
  own: Target,
  other: ComparisonTarget,
  { line, wanted, maxCalls, baseline, progress, signal }: ComparisonRun,
) {
  const ours = await answersOf(own)
  const { 'fail-on': failOn = 'critical', 'update-baseline': updatesBaseline } = line.flags
  if (other.kind === 'kept') {
    const { target, at, answers } = other
    const none = { isFresh: false, failOn, findings: [], calls: 0 }
    return { ...compareAnswers(ours, answers), target, at, ...none }
  }
  const live = createTarget({ ...other.target, maxCalls, signal })
  const findings = await judgeAll({
    ...{ target: live, table: clauses, wanted },
    begun: ({ id }) => progress.at(`live ${id}`),
    ended: progress.step,
  })
  requireReached(live, signal)
  const [at, answers] = [new Date(), await answersOf(live)]
  const kept = updatesBaseline && !signal.aborted ? path.resolve(baseline) : undefined
  if (kept !== undefined) await writeBaseline(kept, { at, target: live.url, answers })
  return {
    ...compareAnswers(ours, answers),
    ...{ target: live.url, at, calls: live.calls() },
    /** Otherwise the baseline was used. */
    isFresh: true,
    /** How the live platform itself fulfils the contract. */
    findings,
    /** A difference is a failure at this severity or above. */
    failOn,
    /** The baseline file that was written. */
    ...(kept !== undefined && { kept: near(kept) }),
  }
}
