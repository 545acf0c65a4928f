/** The results of a drift check as a report. */
import path from 'node:path'
import { type Finding, fromWorst, type Severity } from '../check/finding.js'
import { problemInWords } from '../check/problem.js'
import type { DriftResult } from '../recordings/index.js'
import { type Colors, pluralize, printable } from './output.js'
import { findingLine, joinCounts, type Report, type TestCase } from './report.js'

const driftsOf = (result: DriftResult): readonly Finding[] => (result.kind === 'compared' ? result.drifts : [])

/** `recordings` is the total, including those that were not reached. */
function driftCounts(results: readonly DriftResult[], recordings: number) {
  const countKind = (kind: DriftResult['kind']) => results.filter(result => result.kind === kind).length
  const countSeverity = (wanted: Severity) =>
    results.flatMap(driftsOf).filter(({ severity }) => severity === wanted).length
  const drifted = results.filter(result => driftsOf(result).length > 0).length
  return {
    recordings,
    same: countKind('compared') - drifted,
    drifted,
    critical: countSeverity('critical'),
    warning: countSeverity('warning'),
    info: countSeverity('info'),
    updated: results.filter(result => result.kind === 'compared' && result.updated).length,
    skipped: countKind('skipped') + countKind('mcp'),
    notAsked: countKind('notAsked'),
    /** Recordings whose credential the live platform refuses. */
    refused: countKind('refused'),
    unreadable: countKind('unreadable'),
    /** Recordings that were not compared because the command was stopped. */
    notReached: recordings - results.length,
  }
}

/** `12 recordings: 9 unchanged, 2 drifted (1 critical, 3 warnings), 1 skipped` */
function countLine(count: ReturnType<typeof driftCounts>): string {
  const drifts = joinCounts([
    [count.critical, 'critical'],
    [count.warning, count.warning === 1 ? 'warning' : 'warnings'],
    [count.info, 'info'],
  ])
  const parts = joinCounts([
    [count.drifted, `drifted (${drifts})`],
    [count.updated, 'updated'],
    [count.skipped, 'skipped'],
    [count.notAsked, 'not compared'],
    [count.refused, 'refused'],
    [count.unreadable, 'unreadable'],
    [count.notReached, 'not reached'],
  ])
  return `${pluralize(count.recordings, 'recording')}: ${[`${count.same} unchanged`, parts].filter(Boolean).join(', ')}`
}

type Refused = Extract<DriftResult, { kind: 'refused' }>

const sameCredential = (credential: string, all: readonly DriftResult[]) =>
  all.filter(other => other.kind === 'refused' && other.credential === credential)

/** A refused credential is reported once, with the first recording that uses it. */
const isFirstWithCredential = (result: Refused, all: readonly DriftResult[]) =>
  result === sameCredential(result.credential, all)[0]

function refusalText({ credential, status }: Refused, all: readonly DriftResult[]): string {
  const count = sameCredential(credential, all).length
  const what = count === 1 ? '1 recording was' : `${count} recordings were`
  const advice = credential.startsWith('upstream.') ? 'Check it' : 'Set the key in the configuration'
  return `The live platform refuses ${credential} (${status}): ${what} not compared. ${advice}.`
}

/** Whether clients would break. Updated recordings have no such drift, because their changes were accepted. */
export const isBroken = (result: DriftResult): boolean =>
  result.kind === 'compared' && !result.updated && result.drifts.some(({ severity }) => severity === 'critical')

const MCP_REASON = 'calls of MCP servers are not compared.'

export function reportOf(results: readonly DriftResult[], total: number, seconds: number): Report {
  const count = driftCounts(results, total)
  return {
    name: 'drift',
    summary: countLine(count),
    seconds,
    data: { ...count, findings: results },
    cases: results.map(result => caseOf(result, results)),
    lines: (colors, isQuiet) => driftLines(results, colors, isQuiet),
  }
}

function driftLines(results: readonly DriftResult[], colors: Colors, isQuiet: boolean): readonly string[] {
  const shown = isQuiet ? results.filter(({ kind }) => kind !== 'skipped') : results
  const lines = shown.flatMap(result => linesAboutOne(result, results, colors))
  const mcpCount = results.filter(({ kind }) => kind === 'mcp').length
  if (isQuiet || mcpCount === 0) return lines
  return [...lines, `${pluralize(mcpCount, 'recording')} skipped: ${MCP_REASON}`]
}

const skippedNote = ({ kind, reason }: Extract<DriftResult, { reason: string }>) =>
  kind === 'skipped' ? `skipped: ${reason}` : `not compared: ${reason}`

function linesAboutOne(result: DriftResult, all: readonly DriftResult[], colors: Colors): readonly string[] {
  const fileLine = (note: string) => `${printable(result.file)} ${colors.dim(printable(note))}`
  switch (result.kind) {
    case 'compared': {
      const findings = fromWorst(result.drifts).map(finding => `  ${findingLine(finding, colors)}`)
      if (findings.length === 0) return []
      return [result.updated ? fileLine('(updated)') : printable(result.file), ...findings]
    }
    case 'skipped':
    case 'notAsked':
      return [fileLine(skippedNote(result))]
    case 'refused':
      return isFirstWithCredential(result, all) ? [colors.red(printable(refusalText(result, all)))] : []
    case 'unreadable':
      return result.problems.map(problem => colors.red(printable(problemInWords(problem))))
    case 'mcp':
      return []
  }
}

function caseOf(result: DriftResult, all: readonly DriftResult[]): TestCase {
  const { dir, base } = path.posix.parse(result.file)
  const test = { name: base, classname: dir || 'recordings' }
  switch (result.kind) {
    case 'compared': {
      const [worst, ...others] = fromWorst(result.drifts)
      const details = worst ? [worst, ...others].map(finding => findingLine(finding)) : []
      if (!worst || !isBroken(result)) return { ...test, details }
      const message = `${worst.path}: ${worst.sentence}`
      return { ...test, result: 'failure', type: worst.severity, message, details }
    }
    case 'skipped':
      return { ...test, result: 'skipped', message: result.reason }
    case 'mcp':
      return { ...test, result: 'skipped', message: MCP_REASON }
    case 'notAsked':
      return { ...test, result: 'skipped', message: skippedNote(result) }
    case 'refused': {
      const outcome = isFirstWithCredential(result, all) ? 'error' : 'skipped'
      return { ...test, result: outcome, type: 'refused', message: refusalText(result, all) }
    }
    case 'unreadable':
      return { ...test, result: 'error', type: 'unreadable', message: result.problems.map(problemInWords).join(' ') }
  }
}
