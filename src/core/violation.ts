/** What an answer of the platform has against the contract. */

export interface Violation {
  /** The field, as `choices[0].message`; empty for the answer as a whole. */
  readonly path: string
  /** What is wrong. It quotes nothing of the answer. */
  readonly sentence: string
  readonly severity: 'critical' | 'warning' | 'info'
  /** Whether platform-api.md says so, or only what others do and Standin has decided to do as well. */
  readonly source: 'documented' | 'decided'
  /** The section of platform-api.md. */
  readonly section?: string
}

/** How many there are of each kind. */
export interface ViolationCounts {
  readonly documented: number
  readonly decided: number
  /** Answers that nobody had the time to judge, in a flood. */
  readonly unjudged: number
}

/** An exchange whose answer has something against the contract. */
export interface Violating {
  /** Its id in the journal. */
  readonly id: string
  readonly method: string
  readonly endpoint: string | null
  readonly status: number
  readonly mode: string
  readonly violations: readonly Violation[]
}
