/** Reports of findings: lines for a terminal, JUnit XML for continuous integration, and the file a report is written to. */
import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { type Finding, type Severity, severities, type Violating, type ViolationCounts } from '../check/finding.js'
import { makeFolder, StartError, UsageError } from '../check/problem.js'
import { type Colors, harmless } from './output.js'

/** `critical  choices[].message: recorded object, live nothing`. */
export function findingLine({ severity, path, sentence }: Finding, colors: Colors): string {
  return `${colorOf(severity, colors)(severity.padEnd('critical'.length))}  ${harmless(`${path}: ${sentence}`)}`
}

function colorOf(severity: Severity, colors: Colors) {
  if (severity === 'critical') return colors.red
  return severity === 'warning' ? colors.yellow : colors.dim
}

export const countBySeverity = (findings: readonly Finding[]): Readonly<Record<Severity, number>> => {
  const of = (wanted: Severity) => findings.filter(({ severity }) => severity === wanted).length
  return { critical: of('critical'), warning: of('warning'), info: of('info') }
}

/** `2 drifted, 1 skipped`, without the zeros. */
export const listed = (parts: readonly (readonly [number, string])[]) =>
  parts.flatMap(([number, what]) => (number === 0 ? [] : [`${number} ${what}`])).join(', ')

/** The severity given with `--fail-on`; critical by default. Throws a UsageError for an unknown one. */
export function severityIn(written = 'critical'): Severity {
  const severity = severities.find(severity => severity === written)
  if (severity) return severity
  throw new UsageError(`--fail-on must be one of ${severities.toReversed().join(', ')}, not "${written}".`)
}

/** At most this many violations are printed per answer; the journal has all of them. */
const SAID = 3

/** An answer that breaks the contract, for people. */
export function violatingText({ endpoint, method, status, violations }: Violating, colors: Colors): string {
  const more = violations.length > SAID ? [`  … and ${violations.length - SAID} more`] : []
  return [
    colors.yellow(`Against the contract: ${endpoint ?? method} ${status}`),
    ...violations.slice(0, SAID).map(({ sentence, source }) => `  ${harmless(sentence)} (${source})`),
    ...more,
  ].join('\n')
}

/** One line at the end of a run; undefined if there were no violations. */
export function violationsText({ documented, decided, unjudged }: ViolationCounts, colors: Colors): string | undefined {
  if (documented + decided + unjudged === 0) return undefined
  const more = unjudged > 0 ? ` ${unjudged} answers were not judged: there were too many at once.` : ''
  return `Against the contract: ${colors.red(`${documented} documented`)}, ${decided} decided.${more}`
}

/** One test case of a JUnit report, with at most one of `failure`, `error` and `skipped`. `message` belongs to that. */
export interface JunitCase {
  readonly classname: string
  readonly name: string
  readonly result?: 'failure' | 'error' | 'skipped' | undefined
  readonly type?: string | undefined
  readonly message?: string | undefined
  /** The full text of the failure. */
  readonly text?: string | undefined
  readonly output?: string | undefined
}

/**
 * JUnit XML with one suite, written by hand: junit-report-builder (6 MB with lodash) and junit-xml have no place for the reason
 * of a skipped test or for the text of a failure, and xmlbuilder2 brings a whole DOM.
 */
export function junitXml(name: string, cases: readonly JunitCase[], seconds: number): string {
  const count = (wanted: JunitCase['result']) => cases.filter(({ result }) => result === wanted).length
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
${cases.map(caseXml).join('')}  </testsuite>
</testsuites>
`
}

function caseXml({ classname, name, result, type, message, text, output }: JunitCase): string {
  const element = (tag: string, about: string, inside: string | undefined) =>
    inside === undefined ? `      <${tag}${about}/>\n` : `      <${tag}${about}>${escaped(inside)}</${tag}>\n`
  const inside = [
    ...(result ? [element(result, attributes({ type, message }), text)] : []),
    ...(output === undefined ? [] : [element('system-out', '', output)]),
  ]
  const head = `    <testcase${attributes({ classname, name })}`
  return inside.length === 0 ? `${head}/>\n` : `${head}>\n${inside.join('')}    </testcase>\n`
}

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

/**
 * Creates the folders for a report, before the work it reports on. Throws a UsageError for a flag that names no file, and a
 * StartError if the place is not writable.
 */
export function requireWritable(flag: string, file: string): void {
  if (file === '') throw new UsageError(`${flag} must name a file.`)
  const place = path.resolve(file)
  let isFolder: boolean
  try {
    makeFolder(path.dirname(place))
    isFolder = existsSync(place) && statSync(place).isDirectory()
    // The trailing separator makes the system refuse a file in place of the folder.
    accessSync(existsSync(place) ? place : `${path.dirname(place)}${path.sep}.`, constants.W_OK)
  } catch (error) {
    throw notWritten(file, error)
  }
  if (isFolder) throw new UsageError(`${flag} must name a file, and ${file} is a folder.`)
}

/** Rejects with a StartError if the file cannot be written. */
export async function writeReport(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text)
  } catch (error) {
    throw notWritten(file, error)
  }
}

const notWritten = (file: string, error: unknown) =>
  new StartError(`${file} cannot be written (${(error as NodeJS.ErrnoException).code}).`)
