/** Writes a report in the format that the flags name, to a file or to standard output. */
import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { makeFolder, StartError, UsageError } from '../../check/problem.js'
import { type CommandLine, fileName, oneOf, type outputFlags } from '../command.js'
import { type Colors, colorsFor, noColors } from '../output.js'
import { createProgress, noProgress } from '../progress.js'
import type { Report, TestCase } from './report.js'

const reporters = ['text', 'json', 'junit'] as const

const outputFile = fileName('File for the report (standard output)')

export const reportFlags = {
  reporter: oneOf(reporters, ['FORMAT', 'Format of the report: text, json or junit (text)'], undefined),
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
      if (output === undefined) return void process.stdout.write(text)
      if (!quiet) console.error(report.summary)
      await writeReport(output, text)
    },
  }
}

const writers = {
  json: ({ data }: Report) => `${JSON.stringify(data)}\n`,
  junit: junitOf,
  text({ lines, summary }: Report, colors: Colors, isQuiet: boolean): string {
    const all = [...lines(colors, isQuiet), ...(isQuiet ? [] : [summary])]
    return all.map(line => `${line}\n`).join('')
  },
}

/** Creates the folders for a report before the work begins. Throws a StartError or a UsageError if it cannot be written. */
function requireWritable(file: string): void {
  const place = path.resolve(file)
  let isFolder: boolean
  try {
    makeFolder(path.dirname(place))
    isFolder = existsSync(place) && statSync(place).isDirectory()
    // The trailing separator makes the system refuse a file in place of the folder.
    accessSync(existsSync(place) ? place : `${path.dirname(place)}${path.sep}.`, constants.W_OK)
  } catch (error) {
    throw cannotWrite(file, error)
  }
  if (isFolder) throw new UsageError(`--output must name a file, and ${file} is a folder.`)
}

async function writeReport(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text)
  } catch (error) {
    throw cannotWrite(file, error)
  }
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
