/** The results of `standin verify`: in words for people, as JSON, as JUnit XML, and as Markdown for a pull request. */
import { type Finding, fromWorst, isAtLeast } from '../check/finding.js'
import type { AnswerDifference } from '../contract/baseline.js'
import { type Broken, type Clause, type ClauseResult, sections } from '../contract/clause.js'
import { silent } from '../contract/silent.js'
import { inAge } from './amounts.js'
import { type Colors, harmless } from './output.js'
import { countBySeverity, findingLine, type JunitCase, junitXml } from './report.js'
import type { LiveComparison } from './verify-against.js'

/** A run of `standin verify`. */
export interface VerifyRun {
  readonly url: string
  readonly isOwn: boolean
  readonly findings: readonly ClauseResult[]
  readonly calls: number
  readonly maxCalls: number
  readonly seconds: number
  readonly isStrict: boolean
  /** The comparison with the live platform, if it was asked for. */
  readonly against?: LiveComparison | undefined
}

/** The outcome of a clause. `different` means that one of Standin's own decisions does not hold, which is a failure only with --strict. */
type ClauseOutcome = 'held' | 'broken' | 'different' | 'skipped'

function outcomeOf({ clause, verdict }: ClauseResult, isStrict: boolean): ClauseOutcome {
  if (verdict.kind !== 'broken') return verdict.kind
  return isStrict || clause.source === 'documented' ? 'broken' : 'different'
}

export function countOf({ findings, isStrict }: VerifyRun) {
  const of = (outcome: ClauseOutcome) => findings.filter(result => outcomeOf(result, isStrict) === outcome).length
  return {
    clauses: findings.length,
    held: of('held'),
    /** Broken clauses that count as failures. */
    broken: of('broken'),
    /** Decisions of Standin that the target does not share. */
    different: of('different'),
    skipped: of('skipped'),
  }
}

/** `74 clauses: 70 hold, 1 is broken, 2 differ, 1 skipped (42 calls of at most 60, 1.2 s)` */
export function summary(run: VerifyRun): string {
  const { clauses, held, broken, different, skipped } = countOf(run)
  const parts = [
    [held, held === 1 ? 'holds' : 'hold'],
    [broken, broken === 1 ? 'is broken' : 'are broken'],
    [different, `${different === 1 ? 'differs' : 'differ'} from what Standin does`],
    [skipped, 'skipped'],
  ] as const
  const counts = parts.flatMap(([number, what], i) => (number === 0 && i > 0 ? [] : [`${number} ${what}`])).join(', ')
  const { calls, maxCalls, seconds } = run
  const effort = `${calls} ${calls === 1 ? 'call' : 'calls'} of at most ${maxCalls}, ${seconds.toFixed(1)} s`
  return `${clauses} ${clauses === 1 ? 'clause' : 'clauses'}: ${counts} (${effort})`
}

/** The facts of a broken clause, with their names. */
function factsOf(
  { quotes, source }: Clause,
  { expected, came, shown }: Broken,
): readonly (readonly [name: string, text: string])[] {
  return [
    ['expected', expected],
    ['came', came],
    ['asked', shown.asked],
    ['answered', shown.answered],
    ...quotes.map(quote => [source === 'documented' ? 'document' : 'left open', asText(quote)] as const),
  ]
}

/** A table row or a heading as a line of text. */
const asText = (quote: string) => quote.replace(/^\| | \|$|^#+ /g, '').replaceAll(' | ', ' · ')

/** `Beside the live platform at https://…, as it was 12 d ago (2026-11-01)` */
function besideLine({ target, at, isFresh }: LiveComparison, nowMs = Date.now()): string {
  const when = isFresh
    ? 'asked just now'
    : `as it was ${inAge(nowMs - at.getTime())} ago (${at.toISOString().slice(0, 10)})`
  return `Beside the live platform at ${target}, ${when}`
}

/** `38 answers compared: 1 critical, 2 warning, 0 info` */
function comparedLine({ compared, differences }: LiveComparison): string {
  const { critical, warning, info } = countBySeverity(differences.flatMap(({ drifts }) => drifts))
  return `${compared} answers compared: ${critical} critical, ${warning} warning, ${info} info`
}

const isFailure = ({ drifts }: AnswerDifference, { failOn }: LiveComparison) =>
  drifts.some(({ severity }) => isAtLeast(failOn, severity))

/** Documented clauses that the live platform itself breaks. */
const brokenAtLive = ({ findings }: LiveComparison) =>
  findings.filter(({ clause, verdict }) => clause.source === 'documented' && verdict.kind === 'broken')

/** Whether the run counts as failed. */
export const hasFailed = (run: VerifyRun): boolean =>
  countOf(run).broken > 0 ||
  (run.against !== undefined &&
    (brokenAtLive(run.against).length > 0 ||
      run.against.differences.some(difference => run.against && isFailure(difference, run.against))))

interface TextOptions {
  readonly colors: Colors
  /** Whether only problems are shown. */
  readonly isQuiet: boolean
}

/** In words for people, section by section. */
export function textOf(run: VerifyRun, { colors, isQuiet }: TextOptions): string {
  const { url, isOwn, findings, isStrict, against } = run
  const isShown = (result: ClauseResult) => !isQuiet || result.verdict.kind === 'broken'
  const groups = sections.flatMap(section => {
    const results = findings.filter(result => result.clause.section === section && isShown(result))
    if (results.length === 0) return []
    return ['', colors.bold(section), ...results.flatMap(result => resultLines(result, isStrict, colors))]
  })
  const isSame = against?.differences.length === 0 && brokenAtLive(against).length === 0
  const beside = against && !(isQuiet && isSame) ? ['', ...besideLines(against, colors)] : []
  if (isQuiet) return [...groups, ...beside, ''].slice(1).join('\n')
  const head = `The contract, at ${isOwn ? 'a fresh stand-in' : harmless(url)}`
  return `${[head, ...groups, ...beside, '', summary(run)].join('\n')}\n`
}

const INDENT = ' '.repeat(6)
const NAME_WIDTH = 10

function besideLines(against: LiveComparison, colors: Colors): readonly string[] {
  const differences = against.differences.flatMap(({ calls, drifts, schema }) => [
    ...calls.map(call => `  ${harmless(call)}`),
    ...fromWorst(drifts).map(finding => INDENT + findingLine(finding, colors)),
    `${INDENT}the schema: ${harmless(schema)}`,
  ])
  const live = brokenAtLive(against).map(({ clause }) => `  ${colors.red('✗')} live ${clause.id} ${clause.what}`)
  const kept = against.kept === undefined ? [] : [`  Kept in ${against.kept}.`]
  return [colors.bold(harmless(besideLine(against))), ...live, ...differences, `  ${comparedLine(against)}`, ...kept]
}

const marks: Readonly<Record<ClauseOutcome, string>> = { held: '✓', broken: '✗', different: '≠', skipped: '-' }

function resultLines(result: ClauseResult, isStrict: boolean, colors: Colors): readonly string[] {
  const { clause, verdict } = result
  const outcome = outcomeOf(result, isStrict)
  const note = clause.source === 'decided' ? colors.dim(' (decided by Standin)') : ''
  const head = `  ${colorOf(outcome, colors)(marks[outcome])} ${clause.id.padEnd(9)} ${clause.what}${note}`
  if (verdict.kind === 'skipped') return [`${head} ${colors.dim(`skipped: ${harmless(verdict.why)}`)}`]
  if (verdict.kind === 'held') return [head]
  return [head, ...factsOf(clause, verdict).flatMap(([name, text]) => factLines(name, text, colors))]
}

const factLines = (name: string, text: string, colors: Colors) =>
  text
    .split(/\r?\n/)
    .map((line, i) => `${INDENT}${colors.dim((i === 0 ? name : '').padEnd(NAME_WIDTH))} ${harmless(line)}`.trimEnd())

function colorOf(outcome: ClauseOutcome, colors: Colors) {
  if (outcome === 'held') return colors.green
  if (outcome === 'broken') return colors.red
  return outcome === 'different' ? colors.yellow : colors.dim
}

/** For programs. */
export function jsonOf(run: VerifyRun): string {
  const { url, isOwn, findings, calls, maxCalls, seconds, isStrict, against } = run
  const clauses = findings.map(result => {
    const { id, section, source, what, quotes } = result.clause
    const { kind: _kind, ...facts } = result.verdict
    return { id, section, source, what, quotes, outcome: outcomeOf(result, isStrict), ...facts }
  })
  const target = isOwn ? 'stand-in' : url
  const count = countOf(run)
  const beside = against && { against: besideJson(against) }
  return `${JSON.stringify({ target, calls, maxCalls, seconds, count, ...beside, clauses, notChecked: silent })}\n`
}

function besideJson(against: LiveComparison) {
  const { target, at, isFresh, calls, compared, differences } = against
  const broken = brokenAtLive(against).map(({ clause }) => clause.id)
  return { target, at, isFresh, calls, compared, broken, differences }
}

/** One test case per clause, and one for each call that the live platform answers differently. */
export function junitOf({ findings, isStrict, seconds, against }: VerifyRun): string {
  const beside = (against?.differences ?? []).flatMap(difference => {
    const result = differenceResult(difference, against !== undefined && isFailure(difference, against))
    return difference.calls.map(name => ({ classname: 'Beside the live platform', name, ...result }))
  })
  const cases = findings.map(result => {
    const { section, id, what } = result.clause
    return { classname: section, name: `${id} ${what}`, ...clauseResult(result, isStrict) }
  })
  return junitXml('verify', [...cases, ...beside], seconds)
}

type JunitResult = Omit<JunitCase, 'classname' | 'name'>

function differenceResult({ drifts, schema }: AnswerDifference, isBad: boolean): JunitResult {
  const lines = [...fromWorst(drifts).map(plainLine), `the schema: ${schema}`]
  const text = lines.join('\n')
  return isBad ? { result: 'failure', type: 'difference', message: lines[0], text } : { output: text }
}

const plainLine = ({ severity, path, sentence }: Finding) =>
  `${severity.padEnd('critical'.length)}  ${path}: ${sentence}`

function clauseResult(result: ClauseResult, isStrict: boolean): JunitResult {
  const { clause, verdict } = result
  if (verdict.kind === 'held') return {}
  if (verdict.kind === 'skipped') return { result: 'skipped', message: verdict.why }
  const text = factsOf(clause, verdict)
    .map(([name, fact]) => `${name}: ${fact}`)
    .join('\n')
  if (outcomeOf(result, isStrict) === 'different') return { output: `differs\n${text}` }
  const message = `expected ${verdict.expected}, came ${verdict.came}`
  return { result: 'failure', type: clause.source, message, text }
}

const words: Readonly<Record<ClauseOutcome, string>> = {
  held: 'holds',
  broken: '**broken**',
  different: 'differs',
  skipped: 'skipped',
}

/** For a pull request, or for a reader who knows only the platform's document. */
export function markdownOf(run: VerifyRun): string {
  const { url, isOwn, findings, isStrict, against } = run
  const problems = findings.filter(({ verdict }) => verdict.kind === 'broken')
  return `${[
    `# The contract, at ${isOwn ? 'a fresh stand-in' : code(url)}`,
    `${summary(run)}.`,
    ...(against ? besideMarkdown(against) : []),
    ...problems.map(result => problem(result, isStrict)),
    ...sections.flatMap(section => table(section, run)),
    '## What was not checked',
    'These sentences of the document say nothing that can be checked from outside.',
    rows(
      ['the document says', 'why it is not checked'],
      silent.filter(({ quote }) => !/^[#|]/.test(quote)).map(({ quote, why }) => [quote, why]),
    ),
  ].join('\n\n')}\n`
}

function besideMarkdown(against: LiveComparison): readonly string[] {
  const live = brokenAtLive(against).map(({ clause }) => [clause.id, 'the live platform', clause.what])
  const differences = against.differences.flatMap(({ calls, drifts, schema }) =>
    fromWorst(drifts).map(({ severity, path, sentence }) => [
      severity,
      calls.join('<br>'),
      `${path}: ${sentence}`,
      schema,
    ]),
  )
  return [
    `## ${besideLine(against)}`,
    `${comparedLine(against)}.`,
    ...(live.length === 0 ? [] : [rows(['broken', 'by', 'what'], live)]),
    ...(differences.length === 0 ? [] : [rows(['severity', 'call', 'difference', 'the schema'], differences)]),
  ]
}

function problem(result: ClauseResult, isStrict: boolean): string {
  const { clause, verdict } = result
  if (verdict.kind !== 'broken') return ''
  const facts = factsOf(clause, verdict).map(([name, text]) =>
    text.includes('\n') ? `- ${name}:\n\n${block(text)}` : `- ${name}: ${code(text)}`,
  )
  const outcome = words[outcomeOf(result, isStrict)].replaceAll('*', '')
  return [`## ${clause.id}: ${outcome}`, clause.what, facts.join('\n')].join('\n\n')
}

function table(section: string, { findings, isStrict }: VerifyRun): readonly string[] {
  const results = findings.filter(({ clause }) => clause.section === section)
  if (results.length === 0) return []
  const cells = results.map(result => {
    const { clause, verdict } = result
    const why = verdict.kind === 'skipped' ? `: ${verdict.why}` : ''
    const quotes = clause.quotes.map(asText).join('<br>')
    return [clause.id, clause.what, clause.source, words[outcomeOf(result, isStrict)] + why, quotes]
  })
  return [`## ${section}`, rows(['clause', 'what', 'source', 'outcome', 'the document says'], cells)]
}

const rows = (head: readonly string[], cells: readonly (readonly string[])[]) =>
  [head, head.map(() => '---'), ...cells.map(row => row.map(cell))].map(row => `| ${row.join(' | ')} |`).join('\n')

/** Escapes tags in the document's text, such as `<model_id>`, but not our own line breaks. */
const cell = (text: string) =>
  text
    .replace(/<(?!br>)/g, '&lt;')
    .replaceAll('|', '\\|')
    .replace(/\s*\n\s*/g, ' ')

/** Formats any text as inline code. */
function code(text: string): string {
  const fence = '`'.repeat(longestRun(text) + 1)
  const gap = /^`|`$/.test(text) ? ' ' : ''
  return fence + gap + text + gap + fence
}

function block(text: string): string {
  const fence = '`'.repeat(Math.max(3, longestRun(text) + 1))
  return [fence, ...text.split('\n'), fence].map(line => `  ${line}`).join('\n')
}

const longestRun = (text: string) => Math.max(0, ...(text.match(/`+/g) ?? []).map(({ length }) => length))
