/** What came of judging a target, in words for people, section by section. */
import { type Finding, sections } from '../contract/index.js'
import { type Colors, harmless } from './output.js'
import type { Against } from './verify-against.js'
import { countLine, countOf, effort, factsOf, type Outcome, outcomeOf, type Verified } from './verify-count.js'
import { besideLine, brokenAtLive, comparedLine, linesOf } from './verify-differences.js'

interface TextOptions {
  readonly colors: Colors
  /** Whether only problems are told. */
  readonly isQuiet: boolean
}

export function textOf(verified: Verified, { colors, isQuiet }: TextOptions): string {
  const { url, isOwn, findings, isStrict } = verified
  const isTold = (finding: Finding) => !isQuiet || ['broken', 'different'].includes(outcomeOf(finding, isStrict))
  const groups = sections.flatMap(section => {
    const ones = findings.filter(finding => finding.clause.section === section && isTold(finding))
    if (ones.length === 0) return []
    return ['', colors.bold(section), ...ones.flatMap(finding => findingLines(finding, isStrict, colors))]
  })
  const whom = isOwn ? 'a fresh stand-in' : harmless(url)
  const { against } = verified
  const isSame = against?.differences.length === 0 && brokenAtLive(against).length === 0
  const beside = against && !(isQuiet && isSame) ? ['', ...besideLines(against, colors)] : []
  const end = ['', `${countLine(countOf(verified))} (${effort(verified)})`]
  const lines = [`The contract, at ${whom}`, ...groups, ...beside, ...end]
  return isQuiet ? [...groups, ...beside, ''].slice(1).join('\n') : `${lines.join('\n')}\n`
}

function besideLines(against: Against, colors: Colors): readonly string[] {
  const differences = against.differences.flatMap(difference => [
    ...difference.calls.map(call => `  ${harmless(call)}`),
    ...linesOf(difference).map(
      line => `${INDENT}${line.startsWith('critical') ? colors.red(harmless(line)) : harmless(line)}`,
    ),
  ])
  const live = brokenAtLive(against).map(({ clause }) => `  ${colors.red('✗')} live ${clause.id} ${clause.what}`)
  const kept = against.kept === undefined ? [] : [`  Kept in ${against.kept}.`]
  return [colors.bold(harmless(besideLine(against))), ...live, ...differences, `  ${comparedLine(against)}`, ...kept]
}

const marks: Readonly<Record<Outcome, string>> = { held: '✓', broken: '✗', different: '≠', skipped: '-' }

function findingLines({ clause, verdict }: Finding, isStrict: boolean, colors: Colors): readonly string[] {
  const outcome = outcomeOf({ clause, verdict }, isStrict)
  const note = clause.source === 'decided' ? colors.dim(' (decided by Standin)') : ''
  const head = `  ${colorOf(outcome, colors)(marks[outcome])} ${clause.id.padEnd(9)} ${clause.what}${note}`
  if (verdict.kind === 'skipped') return [`${head} ${colors.dim(`skipped: ${harmless(verdict.why)}`)}`]
  if (verdict.kind === 'held') return [head]
  return [head, ...factsOf(clause, verdict).flatMap(([name, text]) => factLines(name, text, colors))]
}

const INDENT = ' '.repeat(6)
const NAME_WIDTH = 10

const factLines = (name: string, text: string, colors: Colors) =>
  text
    .split(/\r?\n/)
    .map((line, i) => `${INDENT}${colors.dim((i === 0 ? name : '').padEnd(NAME_WIDTH))} ${harmless(line)}`.trimEnd())

function colorOf(outcome: Outcome, colors: Colors) {
  if (outcome === 'held') return colors.green
  if (outcome === 'broken') return colors.red
  return outcome === 'different' ? colors.yellow : colors.dim
}
