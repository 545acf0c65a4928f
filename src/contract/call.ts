/** What a target is asked, with which credentials, and what comes back. */

/** What opens a target. What is not given is not checked. */
export interface Credentials {
  readonly apiKey?: string | undefined
  readonly anonKey?: string | undefined
  readonly email?: string | undefined
  readonly password?: string | undefined
}

/** One request. */
export interface Call {
  readonly to: 'platform' | 'auth'
  readonly method: string
  /** With its query, below the base address. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** Whether neither its body nor that of its answer is shown to anybody. */
  readonly isPrivate?: true
}

/** An answer, whole. */
export interface Answered {
  readonly kind: 'answered'
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

/** What came: an answer, or why there is none. */
export type Heard = Answered | { readonly kind: 'unanswered'; readonly why: string }

/** Sends a call. Rejects with an Error that says why no answer came. */
export type Send = (call: Call, signal: AbortSignal) => Promise<Answered>

/** Thrown where a call is not made, and why not: then nothing was checked, and nothing is broken. */
export class Unasked extends Error {
  override readonly name = 'Unasked'
}

/** A model that nobody lists. */
export const UNKNOWN_MODEL = 'there-is-no-such-model'
