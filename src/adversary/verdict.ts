/** Verdicts on a client, and the facts of a run from which they are found. */
import type { Fault } from '../core/fault.js'
import type { ClientCall } from './calls.js'

/** Each verdict, with the heading of docs/adversary.md below which it is explained. */
export const explanations = {
  'truncation-accepted': 'failures-of-the-wire',
  'retry-after-ignored': 'failures-of-the-wire',
  'retried-hopeless': 'failures-of-the-wire',
  'retry-storm': 'failures-of-the-wire',
  'no-retry': 'failures-of-the-wire',
  'executed-twice': 'failures-of-the-wire',
  'connection-kept': 'failures-of-the-wire',
  failed: 'failures-of-the-wire',
  hung: 'failures-of-the-wire',
  'failure-swallowed': 'failures-of-the-wire',
  'done-twice': 'lost-answers-and-crashes',
  lost: 'lost-answers-and-crashes',
  'paid-again': 'lost-answers-and-crashes',
  stuck: 'lost-answers-and-crashes',
  leaked: 'a-hostile-model',
  markup: 'a-hostile-model',
  'obeyed-injection': 'a-hostile-model',
  'wrong-tool': 'a-hostile-model',
  'no-limit': 'a-hostile-model',
  'results-missing': 'a-hostile-model',
  'signed-out-by-429': 'sessions',
  'signed-out': 'sessions',
  'refresh-storm': 'sessions',
  'stale-session-used': 'sessions',
  'work-lost': 'sessions',
  'served-after-revocation': 'sessions',
} as const

export type VerdictCode = keyof typeof explanations
export const verdictCodes = Object.keys(explanations) as unknown as readonly [VerdictCode, ...VerdictCode[]]

export interface ClientVerdict {
  readonly code: VerdictCode
  /** Whether it is a mistake of the client. It may also be right to fail. */
  readonly isBug: boolean
  readonly sentence: string
  readonly calls: readonly ClientCall[]
}

export interface ClientRun {
  /** All of its calls, in order. */
  readonly calls: readonly ClientCall[]
  readonly hit: ClientCall
  readonly fault: Fault
  /** The calls of the same client without the fault, if they are known. */
  readonly before?: readonly ClientCall[]
  readonly end: 'passed' | 'failed' | 'killed'
}

export interface RunFacts extends ClientRun {
  /** The same call, also the one that was hit. */
  readonly same: readonly ClientCall[]
  /** How often the client sends it anyway. */
  readonly usual: number
  readonly again: readonly ClientCall[]
  readonly isRepeated: boolean
  readonly later: readonly ClientCall[]
}

export type Evidence = Omit<ClientVerdict, 'code' | 'isBug'> & { readonly isBug?: false }
export type FindVerdict = (run: RunFacts) => Evidence | undefined
