/** An exchange with the live platform as it is kept: what was asked, what was said and when, and nothing secret. */

import { isStreamType } from '../core/events.js'

/** One exchange; one file. */
export interface Recording {
  /** When the request was made, as ISO 8601 in UTC. */
  readonly recordedAt: string
  readonly request: RecordedRequest
  readonly response: RecordedResponse
}

/** A request without its credentials, in the form in which requests are compared. */
export interface RecordedRequest {
  /** In capitals. */
  readonly method: string
  /** The pathname as requested: not decoded. */
  readonly path: string
  /** What stands behind the `?`, sorted by name; empty where nothing does. */
  readonly query: string
  readonly body: RequestBody
}

/** `json`: the keys of its objects are sorted. */
export type RequestBody =
  | { readonly kind: 'none' }
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'bytes'; readonly bytes: Buffer }

export interface RecordedResponse {
  readonly status: number
  /** Names in small letters; those that matter: none of the connection's, no length, no date. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** From the request to the head of the answer, in milliseconds. */
  readonly headMs: number
  /** The body, decoded where it came compressed. The chunks of a stream as the network delivered them; any other body is one. */
  readonly chunks: readonly RecordedChunk[]
  /** From the head to the end of the answer, in milliseconds. */
  readonly endMs: number
  /** Whether it came to its end. A stream has, once it has said `[DONE]`. */
  readonly complete: boolean
}

export interface RecordedChunk {
  /** After the head, in milliseconds. */
  readonly atMs: number
  readonly bytes: Buffer
}

/** Whether the answer is one whose rhythm matters. */
export const isStream = ({ headers }: Pick<RecordedResponse, 'headers'>): boolean =>
  headers.some(([name, value]) => name === 'content-type' && isStreamType(value))

/** The whole body. */
export const bodyOf = ({ chunks }: Pick<RecordedResponse, 'chunks'>): Buffer =>
  chunks.length === 1 && chunks[0] ? chunks[0].bytes : Buffer.concat(chunks.map(({ bytes }) => bytes))
