/** The common form of reports, from which text, JSON and JUnit XML are written, and the lines that several of them have. */
import type { Finding } from '../../check/finding.js'
import { type Colors, noColors, printable } from '../output.js'

export interface Report {
  /** The command, which is also the name of the test suite in JUnit. */
  readonly name: string
  readonly summary: string
  readonly seconds: number
  readonly data: object
  readonly cases: readonly TestCase[]
  /** The report for a terminal, without the summary. */
  readonly lines: (colors: Colors, isQuiet: boolean) => readonly string[]
}

/** What was checked, as a test in JUnit. */
export interface TestCase {
  readonly classname: string
  readonly name: string
  /** Absent for a test that has passed. */
  readonly result?: 'failure' | 'error' | 'skipped'
  readonly type?: string
  /** Why it has not passed. */
  readonly message?: string | undefined
  /** The details: the text of a failure or an error, or else the output of the test. */
  readonly details?: readonly string[]
}

/** `2 drifted, 1 skipped`, without the zeros. */
export const joinCounts = (parts: readonly (readonly [number, string])[]) =>
  parts.flatMap(([number, what]) => (number === 0 ? [] : [`${number} ${what}`])).join(', ')

/** `critical  choices[].message: recorded object, live nothing`. */
export function findingLine({ severity, path, sentence }: Finding, colors: Colors = noColors): string {
  const color = { critical: colors.red, warning: colors.yellow, info: colors.dim }[severity]
  return `${color(severity.padEnd('critical'.length))}  ${printable(path === '' ? sentence : `${path}: ${sentence}`)}`
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
