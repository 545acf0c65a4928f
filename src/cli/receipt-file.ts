/** The file that `exec --receipt` writes: what a run did, as JSON. Those of several parts of a run can be joined. */
import { randomUUID } from 'node:crypto'
import path from 'node:path'
import { verdictCodes } from '../adversary/verdict.js'
import { check } from '../check/check.js'
import { violationCounts } from '../check/finding.js'
import { arrayOf, boolean, closed, integer, map, number, orNull, text, wholeNumber, word } from '../check/forms.js'
import { type Problem, ProblemsError, readText, unreadable } from '../check/problem.js'
import { isObject, jsonOf, stringifyExact } from '../core/json.js'
import type { ValueOf } from '../core/operation.js'
import { joinReceipts, type Receipt, replaceFile, summed } from '../recordings/index.js'
import { reportForm } from '../run/operations.js'
import { version } from '../version.js'

const counted = closed({ total: wholeNumber, failed: wholeNumber })

const shownCall = { id: text, method: text, path: text, status: orNull(wholeNumber), startMs: number }
const findings = closed({
  planned: wholeNumber,
  seconds: number,
  results: arrayOf(
    closed({
      call: closed({ key: text, title: text, method: text, path: text }),
      fault: text,
      seconds: number,
      wasHit: boolean,
      verdicts: arrayOf(
        closed({ code: word(verdictCodes), isBug: boolean, sentence: text, calls: arrayOf(closed(shownCall)) }),
      ),
    }),
  ),
})

/** What makes a run fail, beside its command. */
const checks = closed({ strict: boolean, strictUnused: boolean, failOnViolation: boolean })

export const runForm = closed({
  /** As in the report of one of its processes. `folder` is relative to the project. */
  ...reportForm.entries,
  mode: text,
  onMiss: text,
  exitCode: wholeNumber,
  checks,
  isWhole: boolean,
  /** The recordings that would be unused if all tests had run. */
  unusedOfAll: arrayOf(text),
  violationCounts,
  /** By method and path. */
  requests: map(text, counted, 'a map of counts'),
  /** Advice on paths that the platform does not have, and how often they were asked for. */
  unknownPaths: map(text, wholeNumber, 'a map of counts'),
  notReported: arrayOf(text),
  /** Options of the command line that tests set themselves, by these files. */
  ownOptions: map(text, arrayOf(text), 'a map of files'),
  /** Variables that point elsewhere, as sentences. */
  elsewhere: arrayOf(text),
  /** With --adversary. */
  findings: orNull(findings),
})
export type RunResult = ValueOf<typeof runForm>
export type Checks = ValueOf<typeof checks>
export type PrintedEnd = Pick<RunResult, 'receipt' | 'violationCounts' | 'overBudget' | 'onMiss'>

/** Changes when the files of two versions cannot be joined. */
const FORM = 1

/** What every form has, so that another one can be named. */
const head = { standinReceipt: integer(FORM, FORM), standin: text, run: text }
const fileForm = closed({ ...head, result: runForm })

interface ReadReceipt {
  readonly file: string
  readonly run: string
  readonly result: RunResult
}

/**
 * Writes at once that the run has not ended, which is what its file says if it is killed. The returned function writes the result. Both
 * throw the system's error.
 */
export function beginReceipt(file: string): (result: RunResult) => void {
  const begun = { standinReceipt: FORM, standin: version, run: randomUUID() }
  const write = (more: object) => replaceFile(path.resolve(file), `${stringifyExact({ ...begun, ...more }, 2)}\n`)
  write({})
  return result => write({ result })
}

/** Reads the receipts of the parts of one run, in whatever order. Throws a ProblemsError that names each file that cannot be one of them. */
export function readReceipts(files: readonly string[]): readonly ReadReceipt[] {
  const problems: Problem[] = []
  const receipts = files.toSorted().flatMap(file => {
    const read = readReceipt(file)
    if ('run' in read) return read
    problems.push(read)
    return []
  })
  const [first] = receipts
  for (const [i, { file, run, result }] of receipts.entries()) {
    const same = receipts.slice(0, i).find(other => other.run === run)
    if (same) problems.push({ origin: file, sentence: `is the same run as ${same.file}. Give each run once.` })
    else if (first && !isSameFolder(result.folder, first.result.folder))
      problems.push({
        origin: file,
        sentence: `is about the recordings in ${result.folder}, and ${first.file} about those in ${first.result.folder}. Join the receipts of one folder.`,
      })
  }
  if (problems.length > 0) throw new ProblemsError(problems)
  return receipts
}

function readReceipt(file: string): ReadReceipt | Problem {
  let value: unknown
  try {
    value = jsonOf(readText(file, file))
  } catch (error) {
    return unreadable(file, error)
  }
  if (value === undefined) return { origin: file, sentence: 'is no receipt, or only a part of one: it is not JSON.' }
  if (!isObject(value) || !('standinReceipt' in value))
    return { origin: file, sentence: 'is no receipt. standin exec --receipt FILE writes one.' }
  const { standinReceipt: form, standin } = value as Readonly<Record<string, unknown>>
  if (form !== FORM)
    return {
      origin: file,
      sentence: `is from Standin ${String(standin)}, whose receipts have another form than those of ${version}. Use one version for all.`,
    }
  if (!('result' in value))
    return { origin: file, sentence: 'is of a run that has not ended, or was killed. Run it again.' }
  const read = check(fileForm, value, { whole: 'the receipt' })
  if ('value' in read) return { file, run: read.value.run, result: read.value.result }
  const [mistake] = read.mistakes
  return { origin: file, sentence: `is damaged: ${mistake?.sentence} Run it again.` }
}

/** Whether the folders may be one, of which one part of the run knew less than another. */
const isSameFolder = (one: string, other: string) => `/${one}`.endsWith(`/${other}`) || `/${other}`.endsWith(`/${one}`)

/** What receipts have in common that should be in one of them: tests that ran twice, whose requests count twice. */
export function commonTests(receipts: readonly ReadReceipt[]): readonly string[] {
  const seen = new Map<string, string>()
  const sentences = new Map<string, number>()
  for (const { file, result } of receipts)
    for (const test of Object.keys(result.receipt?.tests ?? {})) {
      const other = seen.get(test)
      if (other !== undefined && test !== '') {
        const pair = `${other} and ${file}`
        sentences.set(pair, (sentences.get(pair) ?? 0) + 1)
      }
      seen.set(test, file)
    }
  return [...sentences].map(
    ([pair, count]) =>
      `${pair} have ${count === 1 ? 'a test' : `${count} tests`} in common, whose requests count twice.`,
  )
}

/** The result of runs that are parts of one, in whatever order they are given. `isWhole` says that together they ran all tests. */
export function joinResults(results: readonly RunResult[], isWhole: boolean): RunResult {
  const all = <T>(list: (one: RunResult) => readonly T[]) => results.flatMap(list)
  const [first] = results
  if (!first) throw new RangeError('There is nothing to join.')
  const removed = unique(all(one => one.removed))
  const unusedOfAll = unique(all(one => one.unusedOfAll))
  return {
    ...first,
    receipt: joinedReceipt(results, { isWhole, removed, unusedOfAll }),
    isWhole,
    removed,
    unusedOfAll,
    misses: all(one => one.misses),
    violations: all(one => one.violations),
    overBudget: unique(all(one => one.overBudget)),
    mode: unique(results.map(({ mode }) => mode)).join(' and '),
    exitCode: Math.max(...results.map(({ exitCode }) => exitCode)),
    checks: results.map(({ checks }) => checks).reduce(eitherOf),
    violationCounts: summed(results.map(one => one.violationCounts)),
    requests: joinedMap(
      results.map(({ requests }) => requests),
      summed,
    ),
    unknownPaths: summed(results.map(one => one.unknownPaths)),
    notReported: unique(all(one => one.notReported)),
    ownOptions: joinedMap(
      results.map(({ ownOptions }) => ownOptions),
      files => unique(files.flat()),
    ),
    elsewhere: unique(all(one => one.elsewhere)),
    findings: joinedFindings(results.flatMap(one => one.findings ?? [])),
  }
}

function joinedReceipt(
  results: readonly RunResult[],
  { isWhole, removed, unusedOfAll }: Pick<RunResult, 'isWhole' | 'removed' | 'unusedOfAll'>,
): Receipt | null {
  const receipts = results.flatMap(({ receipt }) => receipt ?? [])
  if (receipts.length === 0) return null
  // A part without a test has no recording of a test that ran.
  const asked = receipts.filter(({ tests }) => Object.keys(tests).length > 0)
  const joined = joinReceipts(receipts)
  const unused = isWhole ? unusedOfAll : joinReceipts(asked.length > 0 ? asked : receipts).unused
  const isGone = new Set([...removed, ...joined.used])
  const left = (files: readonly string[]) => files.filter(file => !isGone.has(file)).toSorted()
  return { ...joined, unused: left(unused), notAsked: left(joined.recorded > 0 && isWhole ? unused : joined.notAsked) }
}

/** The checks that at least one of them makes. */
export const eitherOf = (one: Checks, other: Checks): Checks => ({
  strict: one.strict || other.strict,
  strictUnused: one.strictUnused || other.strictUnused,
  failOnViolation: one.failOnViolation || other.failOnViolation,
})

const unique = (items: readonly string[]) => [...new Set(items)]

function joinedMap<T>(maps: readonly Readonly<Record<string, T>>[], join: (values: readonly T[]) => T) {
  const byName = Map.groupBy(
    maps.flatMap(one => Object.entries(one)),
    ([name]) => name,
  )
  return Object.fromEntries([...byName].map(([name, entries]) => [name, join(entries.map(([, value]) => value))]))
}

const joinedFindings = (all: readonly ValueOf<typeof findings>[]): RunResult['findings'] =>
  all.length === 0
    ? null
    : {
        ...summed(all.map(({ planned, seconds }) => ({ planned, seconds }))),
        results: all.flatMap(({ results }) => results),
      }
