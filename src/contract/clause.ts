/** A clause of the contract: one rule, where it comes from, how it is checked, and the verdict. */
import { glob } from '../core/paths.js'
import { type Call, CallNotMade, type CallResult, type ReceivedAnswer, type ShownCall } from './call.js'
import type { Target } from './target.js'

/** The headings of the platform's document that have clauses, and a section for what it does not mention. */
export const sections = [
  'Resources and their fields',
  'Endpoints',
  'Authentication',
  'Errors',
  'Limits',
  'Beyond the document',
] as const

export type Section = (typeof sections)[number]

/** The definition of a clause. */
export interface ClauseForm {
  /** Never changes. A D before the number marks a decision of Standin where the document says nothing. */
  readonly id: string
  readonly section: Section
  /**
   * The sentences and rows of the document that it follows from, verbatim. For a decision, those that leave it open.
   */
  readonly quotes: readonly string[]
  readonly what: string
  /** Clauses that must hold first, or there is nothing to check. */
  readonly needs?: readonly string[]
  readonly check: Check
}

export interface Clause extends ClauseForm {
  /** Whether the document says so, or Standin decided it because the document says nothing. */
  readonly source: 'documented' | 'decided'
}

/** May reject with a CallNotMade. */
export type Check = (target: Target) => Promise<ClauseVerdict>

export type CallFor = (target: Target) => Call | Promise<Call>

/** What to check in an answer. */
export interface AnswerCheck {
  readonly expected: string
  /** Returns what was found instead; `undefined` if the answer is as expected. */
  readonly differs: (
    answered: ReceivedAnswer,
    target: Target,
    call: Call,
  ) => string | undefined | Promise<string | undefined>
}

/** Makes one call and checks its answer until something is wrong. Skipped after a 429. */
export const asking =
  (callFor: CallFor, ...checks: readonly AnswerCheck[]): Check =>
  async target => {
    const call = await callFor(target)
    const result = await target.ask(call)
    return isLimited(result) ? skipped(LIMITED) : checkedAnswer(target, call, checks)
  }

/** A documented endpoint, and calls to it, for clauses about credentials. */
export interface DocumentedEndpoint {
  /** The clause that says that it exists. */
  readonly clause: string
  readonly path: string
  /** With a valid credential. */
  readonly withCredential: CallFor
  /** Without any credential. */
  readonly withoutCredential: CallFor
}

/**
 * Like `asking`, for a clause about credentials. If the endpoint does not exist, only the clause about its existence is
 * broken. If the credential for that clause is not given, the first clause that calls without a credential is broken
 * instead.
 */
export const askingAt =
  (
    { clause, withCredential, withoutCredential }: DocumentedEndpoint,
    callFor: CallFor,
    ...checks: readonly AnswerCheck[]
  ): Check =>
  async target => {
    const call = await callFor(target)
    if (isMissing(await target.ask(call))) {
      const other = (await possible(target, withCredential)) ?? (await withoutCredential(target))
      const isOther = JSON.stringify(other) !== JSON.stringify(call)
      if (isOther && isMissing(await target.ask(other))) return skipped(`the endpoint does not exist (${clause})`)
    }
    return asking(() => call, ...checks)(target)
  }

const isMissing = (result: CallResult) => result.kind === 'answered' && result.status === 404

const LIMITED = 'the target limits the rate of calls (status 429)'

/** A 429 says nothing about the call itself. */
const isLimited = (result: CallResult) => result.kind === 'answered' && result.status === 429

async function checkedAnswer(target: Target, call: Call, checks: readonly AnswerCheck[]): Promise<ClauseVerdict> {
  const result = await target.ask(call)
  for (const { expected, differs } of checks) {
    const came = result.kind === 'unanswered' ? `no answer: ${result.why}` : await differs(result, target, call)
    if (came === undefined) continue
    return { kind: 'broken', expected, came: target.clean(came), shown: target.shown(call, result) }
  }
  return held
}

/** Makes several calls and checks the answers that `fits` accepts. Skipped, because of `why`, if there are none. */
export const askingEach =
  (
    callsFor: readonly CallFor[],
    fits: (answered: ReceivedAnswer) => boolean,
    why: string,
    ...checks: readonly AnswerCheck[]
  ): Check =>
  async target => {
    let verdict: ClauseVerdict = skipped(why)
    for (const callFor of callsFor) {
      const call = await possible(target, callFor)
      if (!call) continue
      const result = await target.ask(call)
      if (result.kind === 'unanswered' || !fits(result)) continue
      verdict = await checkedAnswer(target, call, checks)
      if (verdict.kind === 'broken') return verdict
    }
    return verdict
  }

/** Returns `undefined` if the call needs something that was not given. */
async function possible(target: Target, callFor: CallFor): Promise<Call | undefined> {
  try {
    return await callFor(target)
  } catch (error) {
    if (error instanceof CallNotMade) return undefined
    throw error
  }
}

export interface BrokenVerdict {
  readonly kind: 'broken'
  readonly expected: string
  readonly came: string
  readonly shown: ShownCall
}

/** The verdict if the clause could not be checked, with the reason. */
export interface SkippedVerdict {
  readonly kind: 'skipped'
  readonly why: string
}

export type ClauseVerdict = { readonly kind: 'held' } | BrokenVerdict | SkippedVerdict

export const held: ClauseVerdict = { kind: 'held' }

export const skipped = (why: string): SkippedVerdict => ({ kind: 'skipped', why })

/** The result for one clause. */
export interface ClauseResult {
  readonly clause: Clause
  readonly verdict: ClauseVerdict
}

/** Returns the verdict on any clause. */
export type Judge = (clause: Clause) => Promise<ClauseVerdict>

/** Caches its verdicts. */
export function createJudge(target: Target, table: readonly Clause[]): Judge {
  const byId = new Map(table.map(clause => [clause.id, clause]))
  const known = new Map<string, Promise<ClauseVerdict>>()

  async function decide({ needs = [], check }: Clause): Promise<ClauseVerdict> {
    for (const id of needs) {
      const needed = byId.get(id)
      const verdict = needed && (await judge(needed))
      if (verdict?.kind === 'broken') return skipped(`${id} is broken`)
      if (verdict?.kind === 'skipped') return skipped(verdict.why)
    }
    return check(target).catch(error => {
      if (error instanceof CallNotMade) return skipped(error.message)
      throw error
    })
  }

  const judge: Judge = clause => {
    const verdict = known.get(clause.id) ?? decide(clause)
    known.set(clause.id, verdict)
    return verdict
  }
  return judge
}

interface RunOptions {
  readonly target: Target
  /** All clauses, for those that others need. */
  readonly table: readonly Clause[]
  readonly wanted: readonly Clause[]
  readonly begun?: (clause: Clause) => void
  readonly ended?: (finding: ClauseResult) => void
}

/** One after the other, so that the target is not flooded. */
export async function judgeAll({ target, table, wanted, begun, ended }: RunOptions): Promise<readonly ClauseResult[]> {
  const judge = createJudge(target, table)
  const findings: ClauseResult[] = []
  for (const clause of wanted) {
    begun?.(clause)
    const finding = { clause, verdict: await judge(clause) }
    findings.push(finding)
    ended?.(finding)
  }
  return findings
}

/**
 * Selects clauses. `only` is a comma-separated list; `*` matches anything, and case is ignored. By default all are
 * selected.
 */
export function wantedOf(table: readonly Clause[], only = '*'): readonly Clause[] {
  const patterns = only
    .split(',')
    .map(part => part.trim())
    .filter(part => part !== '')
    .map(part => glob(part.toLowerCase()))
  return table.filter(({ id, section, source }) =>
    [id, section, source].some(name => patterns.some(pattern => pattern.test(name.toLowerCase()))),
  )
}
