/** A finding: something that is not as the contract, a recording or another platform has it. */
import * as v from 'valibot'
import { closed, word } from './check.js'

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

const text = v.string('text')
const whole = v.pipe(v.number('a number'), v.integer('a whole number'))

/** A finding about one answer, by the contract. */
export const violation = Object.assign(
  closed({
    path: text,
    sentence: text,
    severity: word(severities),
    /** Whether platform-api.md says so, or only what others do and Standin has decided. */
    source: word(['documented', 'decided']),
    /** The section of platform-api.md. */
    section: v.exactOptional(text),
  }),
  { named: 'Violation' },
)
export type Violation = Readonly<v.InferOutput<typeof violation>>

const difference = closed({
  /** `messages[0].content`, `query.limit`. */
  field: text,
  /** As JSON; missing where the field is not there. */
  recorded: v.optional(text),
  asked: v.optional(text),
})
/** One field that is not the same. */
export type Difference = Readonly<v.InferOutput<typeof difference>>

export const closestRecording = closed({ file: text, differences: v.array(difference) })
/** The recording that comes nearest to a request, and where the two differ. */
export interface ClosestRecording {
  readonly file: string
  readonly differences: readonly Difference[]
}

/** Whether it is this bad, or worse. */
export const isAtLeast = (threshold: Severity, severity: Severity) =>
  severities.indexOf(severity) >= severities.indexOf(threshold)

/** The worst first. */
export const fromWorst = <F extends { readonly severity: Severity }>(findings: readonly F[]): readonly F[] =>
  findings.toSorted((a, b) => severities.indexOf(b.severity) - severities.indexOf(a.severity))

/** How many violations there are of each source. */
export const violationCounts = closed({
  documented: whole,
  decided: whole,
  /** Answers that there was no time to judge, in a flood. */
  unjudged: whole,
})
export type ViolationCounts = Readonly<v.InferOutput<typeof violationCounts>>

/** An exchange whose answer breaks the contract. */
export const violating = closed({
  /** Its id in the journal. */
  id: text,
  method: text,
  endpoint: v.nullable(text),
  status: whole,
  mode: text,
  violations: v.array(violation),
})
export type Violating = Readonly<Omit<v.InferOutput<typeof violating>, 'violations'>> & {
  readonly violations: readonly Violation[]
}
