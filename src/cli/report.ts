/** Reports in a common form, written as text or JSON to standard output. */
import type { Finding } from '../check/finding.js'
import type { CommandLine, outputFlags } from './command.js'
import { type Colors, colorsFor, noColors, printable } from './output.js'

export interface Report {
  readonly summary: string
  /** A list is written as one line for each item. */
  readonly data: object
  /** The report for a terminal, without the summary. */
  readonly lines: (colors: Colors, isQuiet: boolean) => readonly string[]
}

/** `2 drifted, 1 skipped`, without the zeros. */
export const joinCounts = (parts: readonly (readonly [number, string])[]) =>
  parts.flatMap(([number, what]) => (number === 0 ? [] : [`${number} ${what}`])).join(', ')

/** `critical  choices[].message: recorded object, live null`, `critical  usage is gone`. */
export function findingLine(finding: Finding, colors: Colors = noColors): string {
  const { severity } = finding
  const color = { critical: colors.red, warning: colors.yellow, info: colors.dim }[severity]
  return `${color(severity.padEnd('critical'.length))}  ${printable(findingText(finding))}`
}

export function findingText({ path, sentence }: Finding): string {
  if (path === '') return sentence
  return sentence.startsWith('is ') ? `${path} ${sentence}` : `${path}: ${sentence}`
}

const marks = { held: '✓', broken: '✗', different: '≠', skipped: '-' }

/** `different` is a difference that is not a failure. */
export type CheckOutcome = keyof typeof marks

/** `✓ HEALTH-1  The health response is a JSON object. (note)` */
export function markedLine(
  outcome: CheckOutcome,
  [name, what, note]: readonly [name: string, what: string, note: string | undefined],
  colors: Colors,
): string {
  const color = { held: colors.green, broken: colors.red, different: colors.yellow, skipped: colors.dim }[outcome]
  const line = `${color(marks[outcome])} ${printable(name.padEnd(9))} ${what}`
  return note === undefined ? line : `${line} ${colors.dim(printable(note))}`
}

/** Creates the reporter of a command: text for people or, with --json, one line of JSON for each item of the data. */
export const createReporter = ({ json, quiet }: CommandLine<typeof outputFlags>['flags']) => ({
  /** Not shown to another program that may read both outputs. */
  progress: (total: number) =>
    quiet || (json && !process.stderr.isTTY) ? noProgress : createProgress(total, process.stderr),
  write(report: Report): Promise<void> {
    const text = json ? jsonOf(report) : textOf(report, colorsFor(process.stdout), quiet)
    // The process may exit afterwards, which would lose what a pipe has not taken yet.
    return new Promise(written => process.stdout.write(text, () => written()))
  },
})

const jsonOf = ({ data }: Report) =>
  (Array.isArray(data) ? data : [data]).map(one => `${JSON.stringify(one)}\n`).join('')

const textOf = ({ lines, summary }: Report, colors: Colors, isQuiet: boolean) =>
  [...lines(colors, isQuiet), ...(isQuiet ? [] : [summary])].map(line => `${line}\n`).join('')

export interface Progress {
  at(name: string): void
  step(): void
  end(): void
}

const noProgress: Progress = { at() {}, step() {}, end() {} }

type Terminal = Pick<NodeJS.WriteStream, 'write' | 'isTTY' | 'columns'>

/** Erases the line of a terminal, which the next one replaces. */
const ERASE = '\r\x1b[2K'
/** Elsewhere, a line is written this often. */
const LINE_MS = 5000

/** `12/80 AUTH-6.1`. */
export function createProgress(total: number, stream: Terminal): Progress {
  const isReplaced = stream.isTTY && process.env.TERM !== 'dumb'
  let done = 0
  let writtenMs = performance.now()
  return {
    at(name) {
      const text = `${done}/${total} ${name}`
      // A line that wraps could not be erased.
      if (isReplaced) return void stream.write(ERASE + text.slice(0, (stream.columns || 80) - 1))
      if (performance.now() - writtenMs < LINE_MS) return
      writtenMs = performance.now()
      stream.write(`${text}\n`)
    },
    step: () => void done++,
    end: () => void (isReplaced && stream.write(ERASE)),
  }
}
