/** Counts what came of judging a target. */
import type { Broken, Clause, Finding } from '../contract/index.js'
import type { Against } from './verify-against.js'

/** A run as reports tell it. */
export interface Verified {
  readonly url: string
  readonly isOwn: boolean
  readonly findings: readonly Finding[]
  readonly calls: number
  readonly maxCalls: number
  readonly seconds: number
  readonly isStrict: boolean
  /** How it is beside the live platform, where that was asked for. */
  readonly against?: Against | undefined
}

export interface VerifyCount {
  readonly clauses: number
  readonly held: number
  /** Clauses that are not kept and ought to be. */
  readonly broken: number
  /** Decisions of Standin that the target does not share. */
  readonly different: number
  readonly skipped: number
}

/** What became of a clause, in a word: `different` is a decision that is not kept, where that is no failure. */
export type Outcome = 'held' | 'broken' | 'different' | 'skipped'

export function outcomeOf({ clause, verdict }: Finding, isStrict: boolean): Outcome {
  if (verdict.kind !== 'broken') return verdict.kind
  return isStrict || clause.source === 'documented' ? 'broken' : 'different'
}

export function countOf({ findings, isStrict }: Pick<Verified, 'findings' | 'isStrict'>): VerifyCount {
  const of = (outcome: Outcome) => findings.filter(finding => outcomeOf(finding, isStrict) === outcome).length
  return {
    clauses: findings.length,
    held: of('held'),
    broken: of('broken'),
    different: of('different'),
    skipped: of('skipped'),
  }
}

/** `74 clauses: 70 hold, 1 is broken, 2 differ, 1 skipped` */
export function countLine({ clauses, held, broken, different, skipped }: VerifyCount): string {
  const parts = [
    [held, held === 1 ? 'holds' : 'hold'],
    [broken, broken === 1 ? 'is broken' : 'are broken'],
    [different, `${different === 1 ? 'differs' : 'differ'} from what Standin does`],
    [skipped, 'skipped'],
  ] as const
  const told = parts.flatMap(([number, what], i) => (number === 0 && i > 0 ? [] : [`${number} ${what}`])).join(', ')
  return `${clauses} ${clauses === 1 ? 'clause' : 'clauses'}: ${told}`
}

/** `42 calls of at most 60, 1.2 s` */
export const effort = ({ calls, maxCalls, seconds }: Pick<Verified, 'calls' | 'maxCalls' | 'seconds'>) =>
  `${calls} ${calls === 1 ? 'call' : 'calls'} of at most ${maxCalls}, ${seconds.toFixed(1)} s`

/** Each fact of what is broken, by its name. */
export function factsOf(
  { quotes, source }: Clause,
  { expected, came, shown }: Broken,
): readonly (readonly [string, string])[] {
  return [
    ['expected', expected],
    ['came', came],
    ['asked', shown.asked],
    ['answered', shown.answered],
    ...quotes.map(quote => [source === 'documented' ? 'document' : 'left open', spoken(quote)] as const),
  ]
}

/** A row of a table, or a heading, as a line of text. */
export const spoken = (quote: string) => quote.replace(/^\| | \|$|^#+ /g, '').replaceAll(' | ', ' · ')
