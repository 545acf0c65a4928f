/** The results of `standin verify` as a report. */
import type { BrokenVerdict, Clause, ClauseResult } from '../contract/clause.js'
import { sections, silent } from '../contract/document.js'
import { type Colors, pluralize, printable } from './output.js'
import { type CheckOutcome, joinCounts, markedLine, type Report } from './report.js'

export interface VerifyRun {
  readonly url: string
  readonly isOwn: boolean
  readonly findings: readonly ClauseResult[]
  readonly calls: number
  readonly maxCalls: number
  readonly seconds: number
  readonly isStrict: boolean
}

/** A decision of Standin that does not hold is a failure only with --strict. */
function outcomeOf({ clause, verdict }: ClauseResult, { isStrict }: VerifyRun): CheckOutcome {
  if (verdict.kind !== 'broken') return verdict.kind
  return isStrict || clause.source === 'documented' ? 'broken' : 'different'
}

export function clauseCounts(run: VerifyRun) {
  const count = (outcome: CheckOutcome) => run.findings.filter(result => outcomeOf(result, run) === outcome).length
  return {
    clauses: run.findings.length,
    held: count('held'),
    broken: count('broken'),
    /** Decisions of Standin that the target does not share. */
    different: count('different'),
    skipped: count('skipped'),
  }
}

/** `74 clauses: 70 hold, 1 is broken, 2 differ, 1 skipped (42 calls of at most 60, 1.2 s)` */
function summary(run: VerifyRun): string {
  const { clauses, held, broken, different, skipped } = clauseCounts(run)
  const others = joinCounts([
    [broken, broken === 1 ? 'is broken' : 'are broken'],
    [different, `${different === 1 ? 'differs' : 'differ'} from what Standin does`],
    [skipped, 'skipped'],
  ])
  const counts = [`${held} ${held === 1 ? 'holds' : 'hold'}`, others].filter(Boolean).join(', ')
  const { calls, maxCalls, seconds } = run
  return `${pluralize(clauses, 'clause')}: ${counts} (${pluralize(calls, 'call')} of at most ${maxCalls}, ${seconds.toFixed(1)} s)`
}

export const reportOf = (run: VerifyRun): Report => ({
  summary: summary(run),
  data: dataOf(run),
  lines: (colors, isQuiet) => verifyLines(run, colors, isQuiet),
})

function verifyLines(run: VerifyRun, colors: Colors, isQuiet: boolean): readonly string[] {
  const shown = isQuiet ? run.findings.filter(({ verdict }) => verdict.kind === 'broken') : run.findings
  const blocks = sections.flatMap(section => {
    const inSection = shown.filter(({ clause }) => clause.section === section)
    const lines = inSection.flatMap(result => clauseLines(result, run, colors))
    return lines.length === 0 ? [] : ['', colors.bold(section), ...lines]
  })
  if (isQuiet) return blocks.slice(1)
  const target = run.isOwn ? 'a fresh stand-in' : run.url
  return [printable(`The contract, checked at ${target}`), ...blocks, '']
}

function clauseLines(result: ClauseResult, run: VerifyRun, colors: Colors): readonly string[] {
  const { clause, verdict } = result
  const notes = [
    ...(clause.source === 'decided' ? ['(decided by Standin)'] : []),
    ...(verdict.kind === 'skipped' ? [`skipped: ${verdict.why}`] : []),
  ]
  const note = notes.length === 0 ? undefined : notes.join(' ')
  const head = `  ${markedLine(outcomeOf(result, run), [clause.id, clause.what, note], colors)}`
  return verdict.kind === 'broken'
    ? [head, ...factsOf(clause, verdict).flatMap(fact => factLines(fact, colors))]
    : [head]
}

type Fact = readonly [name: string, text: string]

const factsOf = ({ quotes, source }: Clause, { expected, came, shown }: BrokenVerdict): readonly Fact[] => [
  ['expected', expected],
  ['received', came],
  ['request', shown.asked],
  ['response', shown.answered],
  ...quotes.map(quote => [source === 'documented' ? 'document' : 'left open', asText(quote)] as const),
]

const asText = (quote: string) => quote.replace(/^\| | \|$|^#+ /g, '').replaceAll(' | ', ' · ')

const NAME_WIDTH = 10

const factLines = ([name, text]: Fact, colors: Colors) =>
  text.split(/\r?\n/).map((line, i) => {
    const label = colors.dim((i === 0 ? name : '').padEnd(NAME_WIDTH))
    return `      ${label} ${printable(line)}`.trimEnd()
  })

function dataOf(run: VerifyRun): object {
  const { url, isOwn, findings, calls, maxCalls, seconds } = run
  const clauses = findings.map(result => {
    const { id, section, source, what, quotes } = result.clause
    const { kind: _kind, ...facts } = result.verdict
    return { id, section, source, what, quotes, outcome: outcomeOf(result, run), ...facts }
  })
  const target = isOwn ? 'stand-in' : url
  return { target, calls, maxCalls, seconds, count: clauseCounts(run), clauses, notChecked: silent }
}
