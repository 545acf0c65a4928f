/** What the control API tells the page of the journal, as JSON. */
import type { Caller } from '../core/caller.js'

/** An exchange in short. */
export interface BriefJson {
  readonly id: string
  readonly at: string
  readonly scope: string
  readonly caller: Caller
  readonly method: string
  readonly path: string
  readonly endpoint: string | null
  readonly mode: string | null
  readonly model: string | null
  readonly source: string | null
  readonly missed: boolean
  readonly status: number | null
  readonly error: string | null
  readonly hint: string | null
  /** What OpenAI says to such a request, where it refuses it. */
  readonly openaiRefuses: string | null
  readonly complete: boolean
  readonly requestBytes: number
  readonly responseBytes: number
  readonly firstByteMs: number | null
  readonly durationMs: number
  readonly pieces: number
  readonly piecesAtMs: readonly number[]
}

/** An exchange in full. */
export interface EntryJson {
  readonly id: string
  readonly at: string
  readonly scope: string
  readonly caller: Caller
  readonly request: {
    readonly method: string
    readonly path: string
    readonly query: string
    readonly headers: Readonly<Record<string, string>>
    readonly body?: unknown
    readonly bytes: number
    readonly truncated: boolean
  }
  readonly endpoint: string | null
  readonly mode: string | null
  readonly source: string | null
  readonly remark: string | null
  readonly status: number | null
  readonly error: string | null
  readonly hint: string | null
  /** What OpenAI says to such a request, where it refuses it. */
  readonly openaiRefuses: string | null
  readonly complete: boolean
  /** What the live platform said, where the client got it in the documented form. */
  readonly upstream?: AnswerJson
  readonly response: AnswerJson & { readonly piecesAtMs: readonly number[] }
  readonly firstByteMs: number | null
  readonly durationMs: number
  /** What the answer of the live platform, or of a recording, has against the contract. */
  readonly violations: readonly ViolationJson[]
}

export interface AnswerJson {
  readonly headers: Readonly<Record<string, string>>
  readonly body?: unknown
  readonly bytes: number
  readonly truncated: boolean
}

export interface ViolationJson {
  readonly path: string
  readonly sentence: string
  readonly severity: 'critical' | 'warning' | 'info'
  readonly source: 'documented' | 'decided'
}

/** A request that no recording answered, and the recording that comes nearest. */
export interface MissJson {
  readonly at: string
  readonly method: string
  readonly path: string
  readonly reason: string
  readonly nearest?:
    | {
        readonly file: string
        readonly differences: readonly {
          readonly field: string
          readonly recorded?: string | undefined
          readonly asked?: string | undefined
        }[]
      }
    | undefined
}

/** How many exchanges there were in a while, and how long they took. */
export interface TickJson {
  readonly at: string
  readonly overMs: number
  readonly requests: number
  readonly errors: number
  readonly p50Ms: number | null
  readonly p95Ms: number | null
}
