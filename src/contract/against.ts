/** Compares two targets, answer by answer, and both with the schema. */
import { compare, type Drift } from '../recordings/index.js'
import type { ComparedAnswer } from './answer-of.js'

/** What is not answered in the same way. */
export interface Difference {
  /** The calls of which just this is true. */
  readonly calls: readonly string[]
  readonly drifts: readonly Drift[]
  /** What the schema has to say of it: which of the two it is with. */
  readonly schema: string
}

export interface Comparison {
  /** So many calls were answered by both. */
  readonly compared: number
  readonly differences: readonly Difference[]
}

type Answers = ReadonlyMap<string, ComparedAnswer>

/** Calls that only one of them has answered are not compared. */
export function compareAnswers(standin: Answers, live: Answers): Comparison {
  const both = [...standin].flatMap(([call, ours]) => {
    const theirs = live.get(call)
    return theirs ? [{ call, ours, theirs }] : []
  })
  const found = new Map<string, Difference>()
  for (const { call, ours, theirs } of both) {
    const drifts = compare(ours.shape, theirs.shape).map(spoken)
    if (drifts.length === 0) continue
    const schema = schemaSays(ours.misfit, theirs.misfit)
    // One cause may show in a dozen calls.
    const name = JSON.stringify([drifts, schema])
    found.set(name, { calls: [...(found.get(name)?.calls ?? []), call], drifts, schema })
  }
  return { compared: both.length, differences: [...found.values()] }
}

/** Nothing is recorded here: on the one side is the stand-in. */
const spoken = ({ sentence, ...drift }: Drift): Drift => ({
  ...drift,
  sentence: sentence.replaceAll('recorded', 'stand-in'),
})

function schemaSays(ours: string | undefined, theirs: string | undefined): string {
  if (ours === undefined && theirs === undefined) return 'both fit it'
  if (ours === undefined) return `the live answer does not fit it: ${theirs}`
  return theirs === undefined ? `the stand-in's answer does not fit it: ${ours}` : `neither fits it: ${theirs}`
}
