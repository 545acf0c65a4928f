/** One drift: what the live platform no longer does as it was recorded, and how bad that is. */

/** From the least to the worst. */
export const severities = ['info', 'warning', 'critical'] as const
/** `critical` breaks clients, `warning` may, `info` is worth knowing. */
export type Severity = (typeof severities)[number]

/** One way in which the live platform is no longer what was recorded. */
export interface Drift {
  readonly severity: Severity
  /** `choices[].message.refusal`; of what is no part of the body its name: `status`, `content-type`. */
  readonly path: string
  /** What was recorded and what is said now. */
  readonly sentence: string
}

/** Whether it is this bad, or worse. */
export const isAtLeast = (threshold: Severity, severity: Severity) =>
  severities.indexOf(severity) >= severities.indexOf(threshold)
