/** Reports in a common form, written as text, JSON or JUnit XML to a file or to standard output. */
import { accessSync, constants, type Stats, statSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { Finding } from '../check/finding.js'
import { makeFolder, StartError, UsageError } from '../check/problem.js'
import { type CommandLine, fileName, type outputFlags, wordFlag } from './command.js'
import { type Colors, canOverwrite, colorsFor, noColors, printable } from './output.js'

export interface Report {
  /** The command, which is also the name of the test suite in JUnit. */
  readonly name: string
  readonly summary: string
  readonly seconds: number
  /** A list is written as one line for each item. */
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

const reporters = ['text', 'json', 'junit'] as const

const outputFile = fileName('File for the report (standard output)')

export const reportFlags = {
  reporter: wordFlag(reporters, ['FORMAT', 'Format of the report: text, json or junit (text)'], undefined),
  /** A dash is standard output. */
  output: {
    ...outputFile,
    parse: (input: string | undefined, name: string) => outputFile.parse(input === '-' ? undefined : input, name),
  },
}

type ReporterFlags = CommandLine<typeof reportFlags & typeof outputFlags>['flags']

/** Creates the reporter before the work begins. Throws a UsageError or a StartError if the file cannot be written. */
export function createReporter({ reporter, output, json, quiet }: ReporterFlags) {
  const format = reporter ?? (json ? 'json' : 'text')
  if (json && format !== 'json')
    throw new UsageError(`--json and --reporter ${format} contradict each other: give only one of them.`)
  if (output !== undefined) requireWritable(output)
  return {
    /** Not shown to another program that may read both outputs. */
    progress: (total: number) =>
      quiet || !(format === 'text' || output !== undefined || process.stderr.isTTY)
        ? noProgress
        : createProgress(total, process.stderr),
    async write(report: Report): Promise<void> {
      // Files get no colours.
      const colors = output === undefined ? colorsFor(process.stdout) : noColors
      const text = writers[format](report, colors, quiet)
      // The process may exit afterwards, which would lose what a pipe has not taken yet.
      if (output === undefined) return new Promise(written => process.stdout.write(text, () => written()))
      if (!quiet) console.error(report.summary)
      await writeFile(output, text).catch(error => {
        throw cannotWrite(output, error)
      })
    },
  }
}

const writers = {
  json: ({ data }: Report) => (Array.isArray(data) ? data : [data]).map(one => `${JSON.stringify(one)}\n`).join(''),
  junit: junitOf,
  text({ lines, summary }: Report, colors: Colors, isQuiet: boolean): string {
    const all = [...lines(colors, isQuiet), ...(isQuiet ? [] : [summary])]
    return all.map(line => `${line}\n`).join('')
  },
}

/** Creates the folders for a report before the work begins. Throws a StartError or a UsageError if it cannot be written. */
function requireWritable(file: string): void {
  const place = path.resolve(file)
  let kind: Stats | undefined
  try {
    makeFolder(path.dirname(place))
    kind = statSync(place, { throwIfNoEntry: false })
    // The trailing separator makes the system refuse a file in place of the folder.
    accessSync(kind ? place : `${path.dirname(place)}${path.sep}.`, constants.W_OK)
  } catch (error) {
    throw cannotWrite(file, error)
  }
  if (kind?.isDirectory()) throw new UsageError(`--output must name a file, and ${file} is a folder.`)
}

const cannotWrite = (file: string, error: unknown) =>
  new StartError(`${file} cannot be written (${(error as NodeJS.ErrnoException).code}).`)

/**
 * Written by hand, since junit-report-builder (6 MB with lodash) supports neither the reason of a skipped test nor the text of a failure, and
 * the elements are less code than calls to an XML builder.
 */
function junitOf({ name, cases, seconds }: Report): string {
  const count = (wanted: TestCase['result']) => cases.filter(({ result }) => result === wanted).length
  const counts = attributes({
    tests: cases.length,
    failures: count('failure'),
    errors: count('error'),
    skipped: count('skipped'),
    time: seconds.toFixed(3),
  })
  return `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="standin ${name}"${counts}>
  <testsuite name="${name}"${counts}>
${cases.map(caseText).join('')}  </testsuite>
</testsuites>
`
}

function caseText({ classname, name, result, type, message, details = [] }: TestCase): string {
  const head = `    <testcase${attributes({ classname, name })}`
  const text = details.join('\n')
  if (result === undefined && text === '') return `${head}/>\n`
  const content = result ? element(result, attributes({ type, message }), text) : element('system-out', '', text)
  return `${head}>\n${content}    </testcase>\n`
}

const element = (tag: string, attributeText: string, content: string) =>
  content === '' ? `      <${tag}${attributeText}/>\n` : `      <${tag}${attributeText}>${escaped(content)}</${tag}>\n`

const attributes = (values: Readonly<Record<string, string | number | undefined>>) =>
  Object.entries(values)
    .map(([name, value]) => (value === undefined ? '' : ` ${name}="${escaped(String(value))}"`))
    .join('')

/** Removes the characters that XML 1.0 cannot represent. */
const escaped = (text: string) =>
  text
    // biome-ignore lint/suspicious/noControlCharactersInRegex: this regex looks for them
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff\p{Surrogate}]/gu, '')
    .replace(/[&<>"]/g, character => `&#${character.charCodeAt(0)};`)

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
