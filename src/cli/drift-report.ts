/** What came of comparing recordings with the live platform, in words for people. */
import { wordProblem } from '../core/problem.js'
import type { Drift, Finding, Severity } from '../recordings/index.js'
import { type DriftCount, fromWorst, isToldHere, refusalText } from './drift-count.js'
import { type Colors, harmless } from './output.js'

/** Recording by recording; of those that are the same nothing is said. */
export const findingLines = (findings: readonly Finding[], colors: Colors): readonly string[] =>
  findings.flatMap(finding =>
    finding.kind === 'refused'
      ? isToldHere(finding, findings)
        ? [colors.red(harmless(refusalText(finding, findings)))]
        : []
      : linesOf(finding, colors),
  )

function linesOf(finding: Exclude<Finding, { kind: 'refused' }>, colors: Colors): readonly string[] {
  const file = harmless(finding.file)
  switch (finding.kind) {
    case 'compared':
      if (finding.drifts.length === 0) return []
      return [
        finding.updated ? `${file} ${colors.dim('(updated)')}` : file,
        ...fromWorst(finding.drifts).map(drift => driftLine(drift, colors)),
      ]
    case 'skipped':
      return [`${file} ${colors.dim(`skipped: ${harmless(finding.reason)}`)}`]
    case 'notAsked':
      return [`${file} ${colors.yellow(`not asked: ${harmless(finding.reason)}`)}`]
    case 'unreadable':
      return finding.problems.map(problem => colors.red(harmless(wordProblem(problem))))
  }
}

function driftLine({ severity, path, sentence }: Drift, colors: Colors): string {
  return `  ${colorOf(severity, colors)(severity.padEnd('critical'.length))}  ${harmless(`${path}: ${sentence}`)}`
}

function colorOf(severity: Severity, colors: Colors) {
  if (severity === 'critical') return colors.red
  return severity === 'warning' ? colors.yellow : colors.dim
}

/** `12 recordings: 9 the same, 2 drifted (1 critical, 3 warnings), 1 skipped` */
export function countLine(count: DriftCount): string {
  const drifts = listed([
    [count.critical, 'critical'],
    [count.warning, counted(count.warning, 'warning', 'warnings')],
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
  const all = `${count.recordings} ${counted(count.recordings, 'recording', 'recordings')}`
  return `${all}: ${count.same} the same${parts === '' ? '' : `, ${parts}`}`
}

/** Those of which there are any. */
const listed = (parts: readonly (readonly [number, string])[]) =>
  parts.flatMap(([number, what]) => (number === 0 ? [] : [`${number} ${what}`])).join(', ')

const counted = (number: number, one: string, many: string) => (number === 1 ? one : many)
