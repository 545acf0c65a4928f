/** Counts what came of comparing recordings with the live platform. */
import { type Drift, type Finding, isAtLeast, type Severity, severities } from '../recordings/index.js'

export interface DriftCount {
  readonly recordings: number
  readonly same: number
  readonly drifted: number
  readonly critical: number
  readonly warning: number
  readonly info: number
  readonly updated: number
  readonly skipped: number
  readonly notAsked: number
  /** Those whose credential the live platform refuses. */
  readonly refused: number
  readonly unreadable: number
  /** Those that were left when the command was stopped. */
  readonly notReached: number
}

export const driftsOf = (finding: Finding): readonly Drift[] => (finding.kind === 'compared' ? finding.drifts : [])

/** From the worst on. */
export const fromWorst = (drifts: readonly Drift[]) =>
  drifts.toSorted((a, b) => severities.indexOf(b.severity) - severities.indexOf(a.severity))

/** Of so many recordings. */
export function countOf(findings: readonly Finding[], recordings: number): DriftCount {
  const kinds = (kind: Finding['kind']) => findings.filter(finding => finding.kind === kind).length
  const drifts = findings.flatMap(driftsOf)
  const drifted = findings.filter(finding => driftsOf(finding).length > 0).length
  const of = (wanted: Severity) => drifts.filter(({ severity }) => severity === wanted).length
  return {
    recordings,
    same: kinds('compared') - drifted,
    drifted,
    critical: of('critical'),
    warning: of('warning'),
    info: of('info'),
    updated: findings.filter(finding => finding.kind === 'compared' && finding.updated).length,
    skipped: kinds('skipped'),
    notAsked: kinds('notAsked'),
    refused: kinds('refused'),
    unreadable: kinds('unreadable'),
    notReached: recordings - findings.length,
  }
}

/** Whether it is the first of the findings that say the same: a refused credential is told once. */
export const isToldHere = (finding: Finding, all: readonly Finding[]): boolean =>
  finding.kind !== 'refused' ||
  finding === all.find(other => other.kind === 'refused' && other.credential === finding.credential)

/** Why recordings could not be compared, and what to do about it. */
export function refusalText(
  { credential, status }: Extract<Finding, { kind: 'refused' }>,
  all: readonly Finding[],
): string {
  const count = all.filter(other => other.kind === 'refused' && other.credential === credential).length
  const what = count === 1 ? '1 recording was' : `${count} recordings were`
  const advice = credential.startsWith('upstream.')
    ? 'Check it'
    : 'Set the key in the configuration, or run standin login'
  return `The live platform refuses ${credential} (${status}): ${what} not compared. ${advice}.`
}

/** The drifts of a finding that are this bad and are there still: what was updated has been accepted. */
export const failuresOf = (finding: Finding, threshold: Severity): readonly Drift[] =>
  finding.kind === 'compared' && !finding.updated
    ? finding.drifts.filter(({ severity }) => isAtLeast(threshold, severity))
    : []
