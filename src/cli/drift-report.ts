/** The results of a drift check as a report. */
import { type Finding, fromWorst, type Severity } from '../check/finding.js'
import { problemInWords } from '../check/problem.js'
import type { DriftResult } from '../recordings/index.js'
import { type Colors, pluralize, printable } from './output.js'
import { findingLine, findingText, joinCounts, type Report } from './report.js'

const driftsOf = (result: DriftResult): readonly Finding[] => (result.kind === 'compared' ? result.drifts : [])

interface DriftGroup extends Finding {
  readonly files: readonly string[]
}

/** The findings, the worst and most frequent first. */
function groupsOf(results: readonly DriftResult[]): readonly DriftGroup[] {
  const found = results.flatMap(result => driftsOf(result).map(finding => ({ finding, file: result.file })))
  const groups = Map.groupBy(found, ({ finding }) => `${finding.severity} ${findingText(finding)}`)
  const all = [...groups.values()].flatMap(same =>
    same[0] ? [{ ...same[0].finding, files: same.map(({ file }) => file) }] : [],
  )
  return fromWorst(all.toSorted((a, b) => b.files.length - a.files.length))
}

/** `recordings` is the total, including those that were not reached. */
function driftCounts(results: readonly DriftResult[], recordings: number) {
  const countKind = (kind: DriftResult['kind']) => results.filter(result => result.kind === kind).length
  const groups = groupsOf(results)
  const countSeverity = (wanted: Severity) => groups.filter(({ severity }) => severity === wanted).length
  const drifted = results.filter(result => driftsOf(result).length > 0).length
  return {
    recordings,
    same: countKind('compared') - drifted,
    drifted,
    critical: countSeverity('critical'),
    warning: countSeverity('warning'),
    info: countSeverity('info'),
    updated: results.filter(result => result.kind === 'compared' && result.updated).length,
    skipped: countKind('skipped'),
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

/** Whether --update would replace it, which it does not with an answer of another status. */
const isOutdated = (result: DriftResult) =>
  result.kind === 'compared' &&
  !result.updated &&
  result.drifts.length > 0 &&
  result.drifts.every(({ path }) => path !== 'status')

const TAKE_LIVE = 'Take the live answers into the recordings: standin drift --update'

export function reportOf(results: readonly DriftResult[], total: number): Report {
  const count = driftCounts(results, total)
  return {
    summary: countLine(count),
    data: { ...count, groups: groupsOf(results), findings: results },
    lines: (colors, isQuiet) => driftLines(results, colors, isQuiet),
  }
}

function driftLines(results: readonly DriftResult[], colors: Colors, isQuiet: boolean): readonly string[] {
  const updated = new Set(
    results.flatMap(result => (result.kind === 'compared' && result.updated ? [result.file] : [])),
  )
  const found = groupsOf(results)
  const others = [...updated].filter(file => !found.some(({ files }) => files.includes(file)))
  return [
    ...found.flatMap(group => groupLines(group, updated, colors)),
    ...(isQuiet || others.length === 0 ? [] : [`new content: ${filesText(others)}`, ...fileLines(others, updated)]),
    ...noteLines(results, isQuiet, colors),
    ...results.flatMap(result => problemLines(result, results, colors)),
    ...(results.some(isOutdated) && !isQuiet ? [colors.cyan(`→ ${TAKE_LIVE}`)] : []),
  ]
}

const MOST_NAMES = 3

const groupLines = (group: DriftGroup, updated: ReadonlySet<string>, colors: Colors): readonly string[] => [
  `${findingLine(group, colors)}: ${filesText(group.files)}`,
  ...fileLines(group.files, updated),
]

const filesText = ({ length }: readonly string[]) => pluralize(length, 'recording')

function fileLines(files: readonly string[], updated: ReadonlySet<string>): readonly string[] {
  const named = files.slice(0, MOST_NAMES).map(file => `  ${printable(file)}${updated.has(file) ? ' (updated)' : ''}`)
  return files.length > MOST_NAMES ? [...named, `  … and ${files.length - MOST_NAMES} more`] : named
}

function noteLines(results: readonly DriftResult[], isQuiet: boolean, { dim }: Colors): readonly string[] {
  const noted = results.filter(result => 'reason' in result).filter(({ kind }) => !isQuiet || kind !== 'skipped')
  return [...Map.groupBy(noted, skippedNote)].map(([note, same]) => {
    const [first, ...more] = same.map(({ file }) => printable(file))
    return `${more.length === 0 ? first : pluralize(same.length, 'recording')} ${dim(printable(note))}`
  })
}

const skippedNote = ({ kind, reason }: Extract<DriftResult, { reason: string }>) =>
  kind === 'skipped' ? `skipped: ${reason}` : `not compared: ${reason}`

function problemLines(result: DriftResult, all: readonly DriftResult[], { red }: Colors): readonly string[] {
  if (result.kind === 'unreadable') return result.problems.map(problem => red(printable(problemInWords(problem))))
  if (result.kind !== 'refused' || !isFirstWithCredential(result, all)) return []
  return [red(printable(refusalText(result, all)))]
}
