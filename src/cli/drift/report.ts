/** The results of a drift check as a report. */
import path from 'node:path'
import { type Finding, fromWorst, isAtLeast, type Severity } from '../../check/finding.js'
import { problemInWords } from '../../check/problem.js'
import type { DriftResult } from '../../recordings/index.js'
import { pluralize } from '../format.js'
import { countBySeverity, joinCounts, type Report, type ReportItem } from '../report/report.js'

const driftsOf = (result: DriftResult): readonly Finding[] => (result.kind === 'compared' ? result.drifts : [])

/** `recordings` is the total, including those that were not reached. */
function countOf(results: readonly DriftResult[], recordings: number) {
  const countKind = (kind: DriftResult['kind']) => results.filter(result => result.kind === kind).length
  const drifted = results.filter(result => driftsOf(result).length > 0).length
  return {
    recordings,
    same: countKind('compared') - drifted,
    drifted,
    ...countBySeverity(results.flatMap(driftsOf)),
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
function countLine(count: ReturnType<typeof countOf>): string {
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
  all.filter((other): other is Refused => other.kind === 'refused' && other.credential === credential)

/** A refused credential is reported once, with the first recording that uses it. */
const isFirstWithCredential = (result: Refused, all: readonly DriftResult[]) =>
  result === sameCredential(result.credential, all)[0]

function refusalText({ credential, status }: Refused, all: readonly DriftResult[]): string {
  const count = sameCredential(credential, all).length
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

interface DriftRun {
  readonly results: readonly DriftResult[]
  readonly total: number
  /** A recording fails at this severity or above. */
  readonly failOn: Severity
  readonly upstream: string
  readonly seconds: number
}

export function reportOf({ results, total, failOn, upstream, seconds }: DriftRun): Report {
  const count = countOf(results, total)
  return {
    ...{ name: 'drift', title: `Recordings compared with ${upstream}`, summary: countLine(count), seconds },
    groups: [
      {
        items: results.map(result => itemOf(result, results, failOn)),
        notes: mcpNotes(results),
        columns: ['severity', 'recording', 'difference'],
      },
    ],
    data: { ...count, findings: results },
  }
}

/** The calls of MCP servers, in one line. */
function mcpNotes(results: readonly DriftResult[]): readonly string[] {
  const count = results.filter(({ kind }) => kind === 'mcp').length
  return count === 0 ? [] : [`${pluralize(count, 'recording')} skipped: ${MCP_REASON}`]
}

const MCP_REASON = 'calls of MCP servers are not compared.'

function itemOf(result: DriftResult, all: readonly DriftResult[], failOn: Severity): ReportItem {
  const { file } = result
  const { dir, base } = path.posix.parse(file)
  const item = { names: [file], testName: base, classname: dir || 'recordings' }
  switch (result.kind) {
    case 'compared':
      return { ...item, ...comparedItem(result, failOn) }
    case 'skipped': {
      const { reason } = result
      const rows = [['skipped', file, reason]]
      return { ...item, outcome: 'skipped', message: reason, note: `skipped: ${reason}`, shown: 'usually', rows }
    }
    case 'mcp':
      return { ...item, outcome: 'skipped', message: MCP_REASON, shown: 'never', rows: [] }
    case 'notAsked': {
      const note = `not compared: ${result.reason}`
      const rows = [['not compared', file, result.reason]]
      return { ...item, outcome: 'skipped', message: note, note, shown: 'always', rows }
    }
    case 'refused':
      return { ...item, ...problemItem('refused', [refusalText(result, all)], isFirstWithCredential(result, all)) }
    case 'unreadable':
      return { ...item, ...problemItem('unreadable', result.problems.map(problemInWords), true) }
  }
}

function comparedItem(result: Extract<DriftResult, { kind: 'compared' }>, failOn: Severity) {
  const { file, drifts, updated } = result
  const hasDrifted = drifts.length > 0
  const isFailure = failuresOf(result, failOn).length > 0
  return {
    outcome: isFailure ? 'broken' : hasDrifted ? 'different' : 'held',
    ...{ findings: drifts, failOn, note: updated ? '(updated)' : undefined },
    shown: hasDrifted ? 'always' : 'never',
    rows: fromWorst(drifts).map(({ severity, path, sentence }) => [severity, file, `${path}: ${sentence}`]),
  } as const
}

/** Why a recording was not compared. A reason that applies to many is reported once. */
const problemItem = (type: string, sentences: readonly string[], isReportedHere: boolean) =>
  ({
    ...{ type, message: sentences.join(' ') },
    outcome: isReportedHere ? 'error' : 'skipped',
    replacement: isReportedHere ? sentences : [],
    shown: 'always',
    rows: isReportedHere ? [[type, '', sentences.join(' ')]] : [],
  }) as const
