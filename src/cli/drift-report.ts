/** The results of a drift check: in words for people, as counts, and as JUnit XML. */
import { type Finding, fromWorst, isAtLeast, type Severity } from '../check/finding.js'
import { wordProblem } from '../check/problem.js'
import type { DriftResult } from '../recordings/index.js'
import { type Colors, harmless } from './output.js'
import { countBySeverity, findingLine, type JunitCase, junitXml, listed } from './report.js'

interface DriftCount extends Readonly<Record<Severity, number>> {
  readonly recordings: number
  readonly same: number
  readonly drifted: number
  readonly updated: number
  readonly skipped: number
  readonly notAsked: number
  /** Recordings whose credential the live platform refuses. */
  readonly refused: number
  readonly unreadable: number
  /** Recordings that were not compared because the command was stopped. */
  readonly notReached: number
}

const driftsOf = (result: DriftResult): readonly Finding[] => (result.kind === 'compared' ? result.drifts : [])

/** `recordings` is the total, including those that were not reached. */
export function countOf(results: readonly DriftResult[], recordings: number): DriftCount {
  const kinds = (kind: DriftResult['kind']) => results.filter(result => result.kind === kind).length
  const drifted = results.filter(result => driftsOf(result).length > 0).length
  return {
    recordings,
    same: kinds('compared') - drifted,
    drifted,
    ...countBySeverity(results.flatMap(driftsOf)),
    updated: results.filter(result => result.kind === 'compared' && result.updated).length,
    skipped: kinds('skipped'),
    notAsked: kinds('notAsked'),
    refused: kinds('refused'),
    unreadable: kinds('unreadable'),
    notReached: recordings - results.length,
  }
}

/** `12 recordings: 9 the same, 2 drifted (1 critical, 3 warnings), 1 skipped` */
export function countLine(count: DriftCount): string {
  const drifts = listed([
    [count.critical, 'critical'],
    [count.warning, count.warning === 1 ? 'warning' : 'warnings'],
    [count.info, 'info'],
  ])
  const parts = listed([
    [count.drifted, `drifted (${drifts})`],
    [count.updated, 'updated'],
    [count.skipped, 'skipped'],
    [count.notAsked, 'not asked'],
    [count.refused, 'refused'],
    [count.unreadable, 'not readable'],
    [count.notReached, 'not reached'],
  ])
  const all = `${count.recordings} ${count.recordings === 1 ? 'recording' : 'recordings'}`
  return `${all}: ${count.same} the same${parts === '' ? '' : `, ${parts}`}`
}

type Refused = Extract<DriftResult, { kind: 'refused' }>

const refusedWith = (credential: string, all: readonly DriftResult[]) =>
  all.filter((other): other is Refused => other.kind === 'refused' && other.credential === credential)

/** A refused credential is reported once, with the first recording that uses it. */
const isReportedHere = (result: Refused, all: readonly DriftResult[]) =>
  result === refusedWith(result.credential, all)[0]

/** Why recordings could not be compared, and what to do about it. */
function refusalText({ credential, status }: Refused, all: readonly DriftResult[]): string {
  const count = refusedWith(credential, all).length
  const what = count === 1 ? '1 recording was' : `${count} recordings were`
  const advice = credential.startsWith('upstream.')
    ? 'Check it'
    : 'Set the key in the configuration, or run standin login'
  return `The live platform refuses ${credential} (${status}): ${what} not compared. ${advice}.`
}

/** Findings at or above the threshold. Updated recordings have none, because their changes were accepted. */
export const failuresOf = (result: DriftResult, threshold: Severity): readonly Finding[] =>
  result.kind === 'compared' && !result.updated
    ? result.drifts.filter(({ severity }) => isAtLeast(threshold, severity))
    : []

/** One recording after another, without those that are unchanged. */
export const resultLines = (results: readonly DriftResult[], colors: Colors): readonly string[] =>
  results.flatMap(result => linesOf(result, results, colors))

function linesOf(result: DriftResult, all: readonly DriftResult[], colors: Colors): readonly string[] {
  const file = harmless(result.file)
  switch (result.kind) {
    case 'compared':
      if (result.drifts.length === 0) return []
      return [
        result.updated ? `${file} ${colors.dim('(updated)')}` : file,
        ...fromWorst(result.drifts).map(finding => `  ${findingLine(finding, colors)}`),
      ]
    case 'skipped':
      return [`${file} ${colors.dim(`skipped: ${harmless(result.reason)}`)}`]
    case 'notAsked':
      return [`${file} ${colors.yellow(`not asked: ${harmless(result.reason)}`)}`]
    case 'refused':
      return isReportedHere(result, all) ? [colors.red(harmless(refusalText(result, all)))] : []
    case 'unreadable':
      return result.problems.map(problem => colors.red(harmless(wordProblem(problem))))
  }
}

interface JunitOptions {
  /** A recording fails at this severity or above. */
  readonly threshold: Severity
  readonly seconds: number
}

/** One test case per recording. */
export const junitOf = (results: readonly DriftResult[], { threshold, seconds }: JunitOptions): string =>
  junitXml(
    'drift',
    results.map(result => {
      const [folder = '', name] = result.file.split(/\/(?=[^/]*$)/)
      const called = name === undefined ? { classname: 'recordings', name: folder } : { classname: folder, name }
      return { ...called, ...junitResult(result, threshold, results) }
    }),
    seconds,
  )

function junitResult(
  result: DriftResult,
  threshold: Severity,
  all: readonly DriftResult[],
): Omit<JunitCase, 'classname' | 'name'> {
  switch (result.kind) {
    case 'compared':
      return comparedCase(result, threshold)
    case 'skipped':
      return { result: 'skipped', message: result.reason }
    case 'notAsked':
      return { result: 'skipped', message: `not asked: ${result.reason}` }
    case 'refused': {
      const message = refusalText(result, all)
      return isReportedHere(result, all)
        ? { result: 'error', type: 'refused', message }
        : { result: 'skipped', message }
    }
    case 'unreadable':
      return { result: 'error', type: 'unreadable', message: result.problems.map(wordProblem).join(' ') }
  }
}

/** A failure if it drifted too far; less severe findings become its output. */
function comparedCase(result: Extract<DriftResult, { kind: 'compared' }>, threshold: Severity) {
  const failures = fromWorst(failuresOf(result, threshold))
  const others = fromWorst(result.drifts.filter(finding => !failures.includes(finding)))
  const [worst] = failures
  const message = worst && `${worst.path}: ${worst.sentence}`
  return {
    ...(worst && { result: 'failure' as const, type: worst.severity, message, text: texts(failures) }),
    ...(others.length > 0 && { output: texts(others) }),
  }
}

const texts = (findings: readonly Finding[]) =>
  findings.map(({ severity, path, sentence }) => `${severity} ${path}: ${sentence}`).join('\n')
