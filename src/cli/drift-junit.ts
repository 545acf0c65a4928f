/** What came of comparing recordings with the live platform, as JUnit XML for continuous integration. */
import { wordProblem } from '../core/problem.js'
import type { Drift, Finding, Severity } from '../recordings/index.js'
import { driftsOf, failuresOf, fromWorst, isToldHere, refusalText } from './drift-count.js'
import { attributes, escaped, junitDocument } from './junit.js'

interface JunitOptions {
  /** From which severity on a recording has failed. */
  readonly threshold: Severity
  readonly seconds: number
}

/** One test case a recording: a failure where it drifted, the rest of what drifted in its output. */
export function junitOf(findings: readonly Finding[], { threshold, seconds }: JunitOptions): string {
  const count = (isCounted: (finding: Finding) => boolean) => findings.filter(isCounted).length
  const counts = {
    tests: findings.length,
    failures: count(finding => failuresOf(finding, threshold).length > 0),
    errors: count(
      finding => finding.kind === 'unreadable' || (finding.kind === 'refused' && isToldHere(finding, findings)),
    ),
    skipped: count(
      finding =>
        finding.kind === 'skipped' ||
        finding.kind === 'notAsked' ||
        (finding.kind === 'refused' && !isToldHere(finding, findings)),
    ),
    seconds,
  }
  return junitDocument(
    'drift',
    counts,
    findings.map(finding => testCase(finding, threshold, findings)),
  )
}

function testCase(finding: Finding, threshold: Severity, all: readonly Finding[]): string {
  const [folder, name] = finding.file.split(/\/(?=[^/]*$)/)
  const inside = outcome(finding, threshold, all)
  const head = `    <testcase${attributes({ classname: name === undefined ? 'recordings' : folder, name: name ?? folder })}`
  return inside === '' ? `${head}/>\n` : `${head}>\n${inside}    </testcase>\n`
}

function outcome(finding: Finding, threshold: Severity, all: readonly Finding[]): string {
  switch (finding.kind) {
    case 'compared':
      return failure(fromWorst(failuresOf(finding, threshold))) + rest(finding, threshold)
    case 'skipped':
      return `      <skipped${attributes({ message: finding.reason })}/>\n`
    case 'notAsked':
      return `      <skipped${attributes({ message: `not asked: ${finding.reason}` })}/>\n`
    case 'refused': {
      const message = refusalText(finding, all)
      return isToldHere(finding, all)
        ? `      <error${attributes({ type: 'refused', message })}/>\n`
        : `      <skipped${attributes({ message })}/>\n`
    }
    case 'unreadable':
      return `      <error${attributes({ type: 'unreadable', message: finding.problems.map(wordProblem).join(' ') })}/>\n`
  }
}

function failure(drifts: readonly Drift[]): string {
  const [worst] = drifts
  if (!worst) return ''
  const about = attributes({ type: worst.severity, message: `${worst.path}: ${worst.sentence}` })
  return `      <failure${about}>${escaped(texts(drifts))}</failure>\n`
}

function rest(finding: Finding, threshold: Severity): string {
  const failures = failuresOf(finding, threshold)
  const drifts = driftsOf(finding).filter(drift => !failures.includes(drift))
  return drifts.length === 0 ? '' : `      <system-out>${escaped(texts(fromWorst(drifts)))}</system-out>\n`
}

const texts = (drifts: readonly Drift[]) =>
  drifts.map(({ severity, path, sentence }) => `${severity} ${path}: ${sentence}`).join('\n')
