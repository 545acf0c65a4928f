/** A clause of the contract: one rule, where it is from, and how it is checked. */
import { type Answered, type Call, type Heard, Unasked } from './call.js'
import type { Target } from './target.js'
import { held, skipped, type Verdict } from './verdict.js'

/** The headings of the platform's document, and a place for what it has no word for. */
export const sections = [
  'What the service does',
  'Resources and their fields',
  'Endpoints',
  'Authentication',
  'Errors',
  'Limits',
  'Versioning',
  'Beyond the document',
] as const

export type Section = (typeof sections)[number]

export interface Clause {
  /** Never changes; a D says that it is a decision. */
  readonly id: string
  readonly section: Section
  /** The sentences and rows of the document that it is from, to the letter; of a decision, those that leave it open. */
  readonly quotes: readonly string[]
  readonly what: string
  /** Whether the document says so, or Standin does where the document says nothing. */
  readonly source: 'documented' | 'decided'
  /** Clauses that must hold, or there is nothing to look at. */
  readonly needs?: readonly string[]
  readonly check: Check
}

/** May reject with an Unasked. */
export type Check = (target: Target) => Promise<Verdict>

export type CallFor = (target: Target) => Call | Promise<Call>

/** What is looked for in an answer. */
export interface Look {
  readonly expected: string
  /** What there is instead; nothing where it is as expected. */
  readonly differs: (answered: Answered, target: Target, call: Call) => string | undefined | Promise<string | undefined>
}

/** Makes one call, and looks at its answer until something is wrong with it. Skipped where that is a 429. */
export const asking =
  (callFor: CallFor, ...looks: readonly Look[]): Check =>
  async target => {
    const call = await callFor(target)
    const heard = await target.ask(call)
    return isLimited(heard) ? skipped(LIMITED) : looked(target, call, looks)
  }

/** A documented endpoint, as a clause about who may ask it needs it. */
export interface DocumentedEndpoint {
  /** The clause that says that it is there. */
  readonly clause: string
  readonly path: string
  /** With the credential that opens it. */
  readonly rightly: CallFor
  /** Without any credential. */
  readonly bare: CallFor
}

/**
 * The same for a clause about credentials. An endpoint that is not there says nothing about them: that is one breach, of the clause that says
 * that it is there. Without the credential for that, the first clause that asks without any reports it.
 */
export const askingAt =
  ({ clause, rightly, bare }: DocumentedEndpoint, callFor: CallFor, ...looks: readonly Look[]): Check =>
  async target => {
    const call = await callFor(target)
    if (isMissing(await target.ask(call))) {
      const other = (await possible(target, rightly)) ?? (await bare(target))
      const isOther = JSON.stringify(other) !== JSON.stringify(call)
      if (isOther && isMissing(await target.ask(other))) return skipped(`the endpoint is not there, which is ${clause}`)
    }
    return asking(() => call, ...looks)(target)
  }

const isMissing = (heard: Heard) => heard.kind === 'answered' && heard.status === 404

const LIMITED = 'the target limits the rate of calls, and answered with status 429'

/** Whoever limits the rate of calls has not judged this one. */
const isLimited = (heard: Heard) => heard.kind === 'answered' && heard.status === 429

async function looked(target: Target, call: Call, looks: readonly Look[]): Promise<Verdict> {
  const heard = await target.ask(call)
  for (const { expected, differs } of looks) {
    const came = heard.kind === 'unanswered' ? `no answer: ${heard.why}` : await differs(heard, target, call)
    if (came === undefined) continue
    return { kind: 'broken', expected, came: target.clean(came), shown: target.shown(call, heard) }
  }
  return held
}

/** Makes several calls, and looks at those answers that `fits`. Skipped where there are none. */
export const askingEach =
  (
    callsFor: readonly CallFor[],
    fits: (answered: Answered) => boolean,
    why: string,
    ...looks: readonly Look[]
  ): Check =>
  async target => {
    let verdict: Verdict = skipped(why)
    for (const callFor of callsFor) {
      const call = await possible(target, callFor)
      if (!call) continue
      const heard = await target.ask(call)
      if (heard.kind === 'unanswered' || !fits(heard)) continue
      verdict = await looked(target, call, looks)
      if (verdict.kind === 'broken') return verdict
    }
    return verdict
  }

/** Nothing where the call needs what is not given. */
async function possible(target: Target, callFor: CallFor): Promise<Call | undefined> {
  try {
    return await callFor(target)
  } catch (error) {
    if (error instanceof Unasked) return undefined
    throw error
  }
}
