/** An exchange with the live platform as it is kept: what was asked, what was answered and when, and nothing secret. */
import { isStreamType } from '../completions/events.js'
import { decodedChunks, headerIn } from '../core/http.js'

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
  /** Whether it is complete. A stream is, once it has sent `[DONE]`. */
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

export interface Capture {
  readonly status: number
  /** As they came, as node's flat array of names and values. */
  readonly headers: readonly string[]
  readonly headMs: number
  readonly endMs: number
  /** As the network delivered them: compressed where it came compressed. */
  readonly chunks: readonly RecordedChunk[]
  /** Whether it came to its end as HTTP has it. */
  readonly complete: boolean
}

/** Nothing is redacted yet. Rejects with an Error that says why when its compression cannot be read, or hides more than `mostBytes`. */
export async function responseOf(heard: Capture, mostBytes?: number): Promise<RecordedResponse> {
  const { status, headMs, endMs, complete } = heard
  const came = await decodedChunks(heard.chunks, headerIn(heard.headers, 'content-encoding'), mostBytes)
  const headers = thoseThatMatter(heard.headers)
  return {
    ...{ status, headers, headMs: rounded(headMs), endMs: rounded(endMs) },
    chunks: isStream({ headers }) ? came.map(({ atMs, bytes }) => ({ atMs: rounded(atMs), bytes })) : whole(came),
    complete: complete || hasSaidDone(bodyOf({ chunks: came.slice(-DONE_CHUNKS) })),
  }
}

/** The value of the first header of this name, which is in small letters. */
const rounded = (ms: number) => Math.round(ms * 10) / 10

/** The end of a stream comes in one piece, or in a few. */
const DONE_CHUNKS = 16

/** OpenAI's clients hang up when they have read it (peers.md, "client closes at [DONE]"). */
export const hasSaidDone = (tail: Buffer) => /(^|\n)data: ?\[DONE\]\r?\n/.test(tail.subarray(-1024).toString('latin1'))

/** A body that is no stream is one piece, however the network cut it. */
function whole(chunks: readonly RecordedChunk[]): readonly RecordedChunk[] {
  const bytes = bodyOf({ chunks })
  return bytes.length === 0 ? [] : [{ atMs: rounded(chunks.at(-1)?.atMs ?? 0), bytes }]
}

/** Headers of the connection, of the moment and of the way, which would not be true when they are played again. */
const unkept =
  /^(connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|date|age|content-length|content-encoding|server|via|alt-svc|nel|report-to|strict-transport-security|cf-.*|x-envoy-.*|access-control-.*)$/

export function thoseThatMatter(headers: readonly string[]): RecordedResponse['headers'] {
  const kept: [string, string][] = []
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i]?.toLowerCase() ?? ''
    if (!unkept.test(name)) kept.push([name, headers[i + 1] ?? ''])
  }
  return kept
}
