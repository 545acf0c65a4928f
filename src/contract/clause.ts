/** A clause of the contract: one rule, where it comes from, how it is checked, and the verdict. */
import { glob } from '../core/paths.js'
import type { CallFor, EachCall } from './calls.js'
import type { AnswerCheck } from './checks.js'
import type { Section } from './document.js'
import { type Call, CallNotMade, type ShownCall, type Target } from './target.js'

/** A clause as the table has it; `needs` are the ids of others, with spaces between them. */
export type ClauseRow = readonly [
  id: string,
  needs: string,
  what: string,
  calls: CallFor | EachCall,
  ...checks: AnswerCheck[],
]

export interface Clause {
  /** Never changes. A D before the number marks a decision of Standin where the document says nothing. */
  readonly id: string
  readonly section: Section
  /**
   * The sentences and rows of the document that it follows from, verbatim. For a decision, those that leave it open.
   */
  readonly quotes: readonly string[]
  readonly what: string
  /** Whether the document says so, or Standin decided it because the document says nothing. */
  readonly source: 'documented' | 'decided'
  /** Clauses that must not be broken, or there is nothing to check. */
  readonly needs: readonly string[]
  readonly check: Check
}

/** May reject with a CallNotMade. */
export type Check = (target: Target) => Promise<ClauseVerdict>

/** Makes the calls of a clause and checks their answers until something is wrong. */
export const checkOf =
  (calls: CallFor | EachCall, checks: readonly AnswerCheck[]): Check =>
  target =>
    typeof calls === 'function' ? checkOne(target, calls, checks) : checkEach(target, calls, checks)

/** Skipped after a 429, which says nothing about the call itself. */
async function checkOne(target: Target, callFor: CallFor, checks: readonly AnswerCheck[]): Promise<ClauseVerdict> {
  const call = await callFor(target)
  const result = await target.ask(call)
  if (result.kind === 'answered' && result.status === 429) {
    return skipped('the target limits the rate of calls (status 429)')
  }
  return checkedAnswer(target, call, checks)
}

async function checkedAnswer(target: Target, call: Call, checks: readonly AnswerCheck[]): Promise<ClauseVerdict> {
  const result = await target.ask(call)
  for (const { expected, differs } of checks) {
    const came = result.kind === 'unanswered' ? `no answer: ${result.why}` : await differs(result, target, call)
    if (came === undefined) continue
    return { kind: 'broken', expected, came: target.clean(came), shown: target.shown(call, result) }
  }
  return held
}

async function checkEach(
  target: Target,
  { calls, fits, otherwise }: EachCall,
  checks: readonly AnswerCheck[],
): Promise<ClauseVerdict> {
  let verdict: ClauseVerdict = skipped(otherwise)
  for (const callFor of calls) {
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

export interface ClauseResult {
  readonly clause: Clause
  readonly verdict: ClauseVerdict
}

export type Judge = (clause: Clause) => Promise<ClauseVerdict>

/** Caches its verdicts. */
export function createJudge(target: Target, table: readonly Clause[]): Judge {
  const byId = new Map(table.map(clause => [clause.id, clause]))
  const known = new Map<string, Promise<ClauseVerdict>>()

  /** The first clause that it needs, directly or not, and that is broken. */
  async function brokenNeed({ needs }: Clause): Promise<string | undefined> {
    for (const needed of needs.flatMap(id => byId.get(id) ?? [])) {
      const { kind } = await judge(needed)
      const broken = kind === 'broken' ? needed.id : await brokenNeed(needed)
      if (broken !== undefined) return broken
    }
    return undefined
  }

  async function decide(clause: Clause): Promise<ClauseVerdict> {
    const broken = await brokenNeed(clause)
    if (broken !== undefined) return skipped(`${broken} is broken`)
    return clause.check(target).catch(error => {
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
