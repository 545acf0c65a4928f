/** What differs between a stand-in and the live platform, in words for people. */
import type { Difference } from '../contract/index.js'
import { isAtLeast, type Severity } from '../recordings/index.js'
import { inAge } from './amounts.js'
import { fromWorst } from './drift-count.js'
import type { Against } from './verify-against.js'

/** `Beside the live platform at https://…, as it was 12 d ago (2026-11-01)` */
export function besideLine({ target, at, isFresh }: Against, nowMs = Date.now()): string {
  const when = isFresh
    ? 'asked just now'
    : `as it was ${inAge(nowMs - at.getTime())} ago (${at.toISOString().slice(0, 10)})`
  return `Beside the live platform at ${target}, ${when}`
}

/** `38 answers compared: 1 critical, 2 warnings, 0 info` */
export function comparedLine({ compared, differences }: Against): string {
  const of = (wanted: Severity) =>
    differences.flatMap(({ drifts }) => drifts).filter(({ severity }) => severity === wanted).length
  return `${compared} answers compared: ${of('critical')} critical, ${of('warning')} warning, ${of('info')} info`
}

/** How bad it is and what differs, the worst first, and what the schema says. */
export const linesOf = ({ drifts, schema }: Difference): readonly string[] => [
  ...fromWorst(drifts).map(
    ({ severity, path, sentence }) => `${severity.padEnd('critical'.length)}  ${path}: ${sentence}`,
  ),
  `the schema: ${schema}`,
]

/** Whether something differs that is so bad that it is a failure. */
export const isFailure = ({ drifts }: Difference, { failOn }: Pick<Against, 'failOn'>) =>
  drifts.some(({ severity }) => isAtLeast(failOn, severity))

/** The documented clauses that the live platform does not keep itself. */
export const brokenAtLive = ({ findings }: Against) =>
  findings.filter(({ clause, verdict }) => clause.source === 'documented' && verdict.kind === 'broken')
