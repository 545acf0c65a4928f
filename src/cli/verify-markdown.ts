/** What came of judging a target, as Markdown: for a pull request, or for somebody who knows only the platform's document. */
import { type Finding, sections, silent } from '../contract/index.js'
import { fromWorst } from './drift-count.js'
import type { Against } from './verify-against.js'
import { countLine, countOf, effort, factsOf, type Outcome, outcomeOf, spoken, type Verified } from './verify-count.js'
import { besideLine, brokenAtLive, comparedLine } from './verify-differences.js'

const words: Readonly<Record<Outcome, string>> = {
  held: 'holds',
  broken: '**broken**',
  different: 'differs',
  skipped: 'skipped',
}

export function markdownOf(verified: Verified): string {
  const { url, isOwn, findings, isStrict } = verified
  const problems = findings.filter(({ verdict }) => verdict.kind === 'broken')
  return `${[
    `# The contract, at ${isOwn ? 'a fresh stand-in' : code(url)}`,
    `${countLine(countOf(verified))} (${effort(verified)}).`,
    ...(verified.against ? beside(verified.against) : []),
    ...problems.map(finding => problem(finding, isStrict)),
    ...sections.flatMap(section => table(section, verified)),
    '## What was not checked',
    'These sentences of the document say nothing that can be checked from outside.',
    rows(
      ['the document says', 'why it is not checked'],
      silent.filter(({ quote }) => !/^[#|]/.test(quote)).map(({ quote, why }) => [quote, why]),
    ),
  ].join('\n\n')}\n`
}

function beside(against: Against): readonly string[] {
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

function problem({ clause, verdict }: Finding, isStrict: boolean): string {
  if (verdict.kind !== 'broken') return ''
  const facts = factsOf(clause, verdict).map(([name, text]) =>
    text.includes('\n') ? `- ${name}:\n\n${block(text)}` : `- ${name}: ${code(text)}`,
  )
  const outcome = words[outcomeOf({ clause, verdict }, isStrict)].replaceAll('*', '')
  return [`## ${clause.id}: ${outcome}`, clause.what, facts.join('\n')].join('\n\n')
}

function table(section: string, { findings, isStrict }: Verified): readonly string[] {
  const ones = findings.filter(({ clause }) => clause.section === section)
  if (ones.length === 0) return []
  const cells = ones.map(finding => {
    const { clause, verdict } = finding
    const why = verdict.kind === 'skipped' ? `: ${verdict.why}` : ''
    return [clause.id, clause.what, clause.source, words[outcomeOf(finding, isStrict)] + why, quotesOf(finding)]
  })
  return [`## ${section}`, rows(['clause', 'what', 'source', 'outcome', 'the document says'], cells)]
}

const quotesOf = ({ clause }: Finding) => clause.quotes.map(spoken).join('<br>')

const rows = (head: readonly string[], cells: readonly (readonly string[])[]) =>
  [head, head.map(() => '---'), ...cells.map(row => row.map(cell))].map(row => `| ${row.join(' | ')} |`).join('\n')

/** Tags of the document, such as `<model_id>`, are text; only our own line break is none. */
const cell = (text: string) =>
  text
    .replace(/<(?!br>)/g, '&lt;')
    .replaceAll('|', '\\|')
    .replace(/\s*\n\s*/g, ' ')

/** As code, whatever it holds. */
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
