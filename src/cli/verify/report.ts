/** The results of `standin verify` as a report. */
import { fromWorst, isAtLeast } from '../../check/finding.js'
import type { AnswerDifference } from '../../contract/baseline.js'
import { type BrokenVerdict, type Clause, type ClauseResult, sections } from '../../contract/clause.js'
import { silent } from '../../contract/clauses/index.js'
import { formatAge, pluralize } from '../format.js'
import { markdownTable } from '../report/markdown.js'
import { countBySeverity, joinOutcomes, type Report, type ReportItem } from '../report/report.js'
import type { LiveComparison } from './against.js'

export interface VerifyRun {
  readonly url: string
  readonly isOwn: boolean
  readonly findings: readonly ClauseResult[]
  readonly calls: number
  readonly maxCalls: number
  readonly seconds: number
  readonly isStrict: boolean
  readonly against?: LiveComparison | undefined
}

/** `different` means that a decision of Standin does not hold, which is a failure only with --strict. */
function outcomeOf({ clause, verdict }: ClauseResult, isStrict: boolean) {
  if (verdict.kind !== 'broken') return verdict.kind
  return isStrict || clause.source === 'documented' ? 'broken' : 'different'
}

export function countOf({ findings, isStrict }: VerifyRun) {
  const count = (outcome: ReturnType<typeof outcomeOf>) =>
    findings.filter(result => outcomeOf(result, isStrict) === outcome).length
  return {
    clauses: findings.length,
    held: count('held'),
    /** Broken clauses, which count as failures. */
    broken: count('broken'),
    /** Decisions of Standin that the target does not share. */
    different: count('different'),
    skipped: count('skipped'),
  }
}

/** `74 clauses: 70 hold, 1 is broken, 2 differ, 1 skipped (42 calls of at most 60, 1.2 s)` */
function summary(run: VerifyRun): string {
  const { clauses, held, broken, different, skipped } = countOf(run)
  const counts = joinOutcomes(held, [
    [broken, broken === 1 ? 'is broken' : 'are broken'],
    [different, `${different === 1 ? 'differs' : 'differ'} from what Standin does`],
    [skipped, 'skipped'],
  ])
  const { calls, maxCalls, seconds } = run
  return `${pluralize(clauses, 'clause')}: ${counts} (${pluralize(calls, 'call')} of at most ${maxCalls}, ${seconds.toFixed(1)} s)`
}

/** Documented clauses that the live platform itself does not fulfil. */
const brokenAtLive = ({ findings }: LiveComparison) =>
  findings.filter(({ clause, verdict }) => clause.source === 'documented' && verdict.kind === 'broken')

const isFailure = ({ drifts }: AnswerDifference, { failOn }: LiveComparison) =>
  drifts.some(({ severity }) => isAtLeast(failOn, severity))

export const hasFailed = (run: VerifyRun): boolean => {
  const { against } = run
  if (countOf(run).broken > 0) return true
  if (!against) return false
  return brokenAtLive(against).length > 0 || against.differences.some(difference => isFailure(difference, against))
}

export function reportOf(run: VerifyRun): Report {
  const { url, isOwn, findings, isStrict, against, seconds } = run
  const groups = sections.map(section => ({
    title: section,
    items: findings.filter(({ clause }) => clause.section === section).map(result => clauseItem(result, isStrict)),
    columns: ['clause', 'what', 'source', 'outcome', 'the document says'],
  }))
  return {
    name: 'verify',
    title: `The contract, checked at ${isOwn ? 'a fresh stand-in' : url}`,
    groups: [...groups.filter(({ items }) => items.length > 0), ...(against ? [againstGroup(against)] : [])],
    summary: summary(run),
    seconds,
    data: dataOf(run),
    appendix: [
      '## What was not checked',
      'These sentences of the document cannot be checked from outside.',
      markdownTable(
        ['the document says', 'why it is not checked'],
        silent.filter(({ quote }) => !/^[#|]/.test(quote)).map(({ quote, why }) => [quote, why]),
      ),
    ],
  }
}

const words = { held: 'holds', broken: '**broken**', different: 'differs', skipped: 'skipped' }

function clauseItem(result: ClauseResult, isStrict: boolean): ReportItem {
  const { clause, verdict } = result
  const { id, what, source, section, quotes } = clause
  const outcome = outcomeOf(result, isStrict)
  const decided = source === 'decided' ? '(decided by Standin)' : undefined
  const why = verdict.kind === 'skipped' ? `skipped: ${verdict.why}` : undefined
  const rows = [[id, what, source, why ?? words[outcome], quotes.map(asText).join('<br>')]]
  const item: ReportItem = {
    ...{ outcome, what, rows, names: [id], classname: section },
    note: [decided, why].filter(Boolean).join(' ') || undefined,
    shown: verdict.kind === 'broken' ? 'always' : 'usually',
  }
  if (verdict.kind === 'skipped') return { ...item, message: verdict.why }
  if (verdict.kind === 'held') return item
  const message = `expected ${verdict.expected}, received ${verdict.came}`
  return { ...item, facts: factsOf(clause, verdict), type: source, message }
}

const factsOf = (
  { quotes, source }: Clause,
  { expected, came, shown }: BrokenVerdict,
): NonNullable<ReportItem['facts']> => [
  ['expected', expected],
  ['received', came],
  ['request', shown.asked],
  ['response', shown.answered],
  ...quotes.map(quote => [source === 'documented' ? 'document' : 'left open', asText(quote)] as const),
]

/** A table row or a heading as a line of text. */
const asText = (quote: string) => quote.replace(/^\| | \|$|^#+ /g, '').replaceAll(' | ', ' · ')

function againstGroup(against: LiveComparison) {
  const { compared, differences, savedIn } = against
  const { critical, warning, info } = countBySeverity(differences.flatMap(({ drifts }) => drifts))
  return {
    title: comparisonTitle(against),
    items: [
      ...brokenAtLive(against).map(liveItem),
      ...differences.map(difference => differenceItem(difference, against)),
    ],
    notes: [
      `${compared} answers compared: ${critical} critical, ${warning} warning, ${info} info`,
      ...(savedIn === undefined ? [] : [`Baseline saved in ${savedIn}`]),
    ],
    columns: ['severity', 'call', 'difference', 'the schema'],
  }
}

/** `Compared with the live platform at https://…, as it was 12d ago (2026-11-01)` */
function comparisonTitle({ target, at, isFresh }: LiveComparison, nowMs = Date.now()): string {
  const when = isFresh
    ? 'asked just now'
    : `as it was ${formatAge(nowMs - at.getTime())} ago (${at.toISOString().slice(0, 10)})`
  return `Compared with the live platform at ${target}, ${when}`
}

const LIVE = 'Compared with the live platform'

const liveItem = ({ clause: { id, what } }: ClauseResult): ReportItem => ({
  ...{ outcome: 'broken', names: [`live ${id}`], what, classname: LIVE, type: 'documented', shown: 'always' },
  message: "the live platform does not behave as the platform's document says",
  rows: [['broken', `live ${id}`, what, '']],
})

function differenceItem(difference: AnswerDifference, against: LiveComparison): ReportItem {
  const { calls, drifts, schema } = difference
  return {
    outcome: isFailure(difference, against) ? 'broken' : 'different',
    ...{ names: calls, classname: LIVE, findings: drifts, failOn: against.failOn, shown: 'always' },
    facts: [['schema', schema]],
    rows: fromWorst(drifts).map(({ severity, path, sentence }) => [
      ...[severity, calls.join('<br>'), `${path}: ${sentence}`, schema],
    ]),
  }
}

function dataOf(run: VerifyRun): object {
  const { url, isOwn, findings, calls, maxCalls, seconds, isStrict, against } = run
  const clauses = findings.map(result => {
    const { id, section, source, what, quotes } = result.clause
    const { kind: _kind, ...facts } = result.verdict
    return { id, section, source, what, quotes, outcome: outcomeOf(result, isStrict), ...facts }
  })
  const target = isOwn ? 'stand-in' : url
  const comparison = against && { against: againstData(against) }
  return { target, calls, maxCalls, seconds, count: countOf(run), ...comparison, clauses, notChecked: silent }
}

function againstData(against: LiveComparison) {
  const { target, at, isFresh, calls, compared, differences } = against
  const broken = brokenAtLive(against).map(({ clause }) => clause.id)
  return { target, at, isFresh, calls, compared, broken, differences }
}
