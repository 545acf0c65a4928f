/** The common form of reports, from which text, JSON, Markdown and JUnit XML are written. */
import { type Finding, fromWorst, type Severity } from '../../check/finding.js'
import { type Colors, noColors, printable } from '../output.js'

export interface Report {
  /** The test suite in JUnit: `verify`. */
  readonly name: string
  readonly title: string
  readonly groups: readonly Group[]
  readonly summary: string
  readonly seconds: number
  readonly data: object
  readonly appendix?: readonly string[]
}

interface Group {
  /** Missing for a plain list of files. */
  readonly title?: string
  readonly items: readonly ReportItem[]
  readonly notes?: readonly string[]
  readonly columns: readonly string[]
}

export interface ReportItem {
  /** `different` is a difference that is not a failure. */
  readonly outcome: 'held' | 'broken' | 'different' | 'skipped' | 'error'
  /** What was checked: the id of a clause, a file, or calls. */
  readonly names: readonly string[]
  readonly classname: string
  readonly testName?: string
  /** What was checked, in words, if the names do not say it. Such an item gets a mark (✓ or ✗) in a terminal. */
  readonly what?: string
  readonly note?: string | undefined
  readonly findings?: readonly Finding[]
  /** Findings of this severity or above are failures. */
  readonly failOn?: Severity
  readonly facts?: readonly (readonly [name: string, text: string])[]
  /** Why the item is broken, skipped or an error, and the same in one word. */
  readonly message?: string | undefined
  readonly type?: string
  /** The lines that a terminal shows instead of names, findings and facts. */
  readonly replacement?: readonly string[]
  /** When a terminal shows it; `usually` means not with --quiet. */
  readonly shown: 'always' | 'usually' | 'never'
  readonly rows: readonly (readonly string[])[]
}

export const countBySeverity = (findings: readonly Finding[]): Readonly<Record<Severity, number>> => {
  const count = (wanted: Severity) => findings.filter(({ severity }) => severity === wanted).length
  return { critical: count('critical'), warning: count('warning'), info: count('info') }
}

/** `2 drifted, 1 skipped`, without the zeros. */
export const joinCounts = (parts: readonly (readonly [number, string])[]) =>
  parts.flatMap(([number, what]) => (number === 0 ? [] : [`${number} ${what}`])).join(', ')

/** `70 hold, 1 is broken`. The first count is shown even if it is zero. */
export const joinOutcomes = (held: number, others: Parameters<typeof joinCounts>[0]) =>
  [`${held} ${held === 1 ? 'holds' : 'hold'}`, joinCounts(others)].filter(Boolean).join(', ')

/** `critical  choices[].message: recorded object, live nothing`. */
export function findingLine({ severity, path, sentence }: Finding, colors: Colors = noColors): string {
  const color = { critical: colors.red, warning: colors.yellow, info: colors.dim }[severity]
  return `${color(severity.padEnd('critical'.length))}  ${printable(path === '' ? sentence : `${path}: ${sentence}`)}`
}

const marks = { held: '✓', broken: '✗', different: '≠', skipped: '-', error: '✗' }

const NAME_WIDTH = 10

export function itemLines(item: ReportItem, indent: number, colors: Colors): readonly string[] {
  const { outcome, names, what, note, findings = [], facts = [], replacement: instead } = item
  const margin = ' '.repeat(indent)
  if (instead) return instead.map(line => margin + colors.red(printable(line)))
  const inner = ' '.repeat(indent === 0 ? 2 : 6)
  const head = what === undefined ? '' : `${colorOf(outcome, colors)(marks[outcome])} `
  const tail = what === undefined ? '' : ` ${what}`
  const heads = names.map(name => margin + head + printable(what === undefined ? name : name.padEnd(9)) + tail)
  const last = heads.pop() ?? ''
  return [
    ...heads,
    note === undefined ? last : `${last} ${colors.dim(printable(note))}`,
    ...fromWorst(findings).map(finding => inner + findingLine(finding, colors)),
    ...facts.flatMap(([name, text]) =>
      text.split(/\r?\n/).map((line, i) => {
        const label = colors.dim((i === 0 ? name : '').padEnd(NAME_WIDTH))
        return `${inner}${label} ${printable(line)}`.trimEnd()
      }),
    ),
  ]
}

function colorOf(outcome: ReportItem['outcome'], colors: Colors) {
  if (outcome === 'held') return colors.green
  if (outcome === 'skipped') return colors.dim
  return outcome === 'different' ? colors.yellow : colors.red
}
