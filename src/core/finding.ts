/** A finding: something that is not as the contract, a recording or another platform has it. */

/** From the least to the worst. */
export const severities = ['info', 'warning', 'critical'] as const
/** `critical` breaks clients, `warning` may, `info` is worth knowing. */
export type Severity = (typeof severities)[number]

export interface Finding {
  readonly severity: Severity
  /** The field, as `choices[0].message`; empty for the answer as a whole; the name of what is not in the body: `status`, `content-type`. */
  readonly path: string
  /** What is wrong. It quotes nothing of what an answer says. */
  readonly sentence: string
}

/** A finding about one answer, by the contract. */
export interface Violation extends Finding {
  /** Whether platform-api.md says so, or only what others do and Standin has decided. */
  readonly source: 'documented' | 'decided'
  /** The section of platform-api.md. */
  readonly section?: string
}

/** Whether it is this bad, or worse. */
export const isAtLeast = (threshold: Severity, severity: Severity) =>
  severities.indexOf(severity) >= severities.indexOf(threshold)

/** The worst first. */
export const fromWorst = <F extends { readonly severity: Severity }>(findings: readonly F[]): readonly F[] =>
  findings.toSorted((a, b) => severities.indexOf(b.severity) - severities.indexOf(a.severity))

/** How many violations there are of each source. */
export interface ViolationCounts {
  readonly documented: number
  readonly decided: number
  /** Answers that there was no time to judge, in a flood. */
  readonly unjudged: number
}

/** An exchange whose answer breaks the contract. */
export interface Violating {
  /** Its id in the journal. */
  readonly id: string
  readonly method: string
  readonly endpoint: string | null
  readonly status: number
  readonly mode: string
  readonly violations: readonly Violation[]
}
