/** Reports in a common form, written as text or JSON to standard output. */
import type { Finding } from '../check/finding.js'
import type { CommandLine, outputFlags } from './command.js'
import { type Colors, canOverwrite, colorsFor, noColors, printable } from './output.js'

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

interface Terminal extends Pick<NodeJS.WriteStream, 'write'> {
  readonly isTTY?: boolean
  readonly columns?: number
}

const BAR_WIDTH = 20
/** Clears the line of the bar. */
const ERASE = '\r\x1b[2K'
/** Drawing more often than this would not be visible. */
const DRAW_MS = 80
const LINE_MS = 5000
const TICK_MS = 1000

export function createProgress(total: number, stream: Terminal, now: () => number = () => performance.now()): Progress {
  const startedMs = now()
  const isBar = canOverwrite(stream)
  let isDrawn = false
  let done = 0
  let name = ''
  let lastWriteMs = isBar ? Number.NEGATIVE_INFINITY : startedMs

  function writeIfDue(): void {
    const nowMs = now()
    if (nowMs - lastWriteMs < (isBar ? DRAW_MS : LINE_MS)) return
    lastWriteMs = nowMs
    const facts = `${Math.floor((done / total) * 100)} % ${done}/${total} ${Math.floor((nowMs - startedMs) / 1000)} s ${name}`
    isDrawn = isBar
    stream.write(isBar ? ERASE + barWith(done / total, facts, stream) : `${facts}\n`)
  }

  // Updates the time even while a single answer takes long.
  const tick = setInterval(writeIfDue, TICK_MS)

  return {
    at(current) {
      name = current
      writeIfDue()
    },
    step() {
      done++
      writeIfDue()
    },
    end() {
      clearInterval(tick)
      if (isDrawn) stream.write(ERASE)
      isDrawn = false
    },
  }
}

/** A bar followed by the facts, cut to the width of the terminal: a line that wraps could not be erased. */
function barWith(part: number, facts: string, { columns }: Terminal): string {
  const filled = Math.floor(part * BAR_WIDTH)
  const bar = '█'.repeat(filled) + '░'.repeat(BAR_WIDTH - filled)
  return `${bar} ${facts}`.slice(0, (columns || 80) - 1)
}
