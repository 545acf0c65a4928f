/** A recorded exchange with the live platform: the request, the answer with its times, and no secrets. */
import { STATUS_CODES } from 'node:http'
import { isStreamType } from '../chat/events.js'
import { decompressChunks, headerIn } from '../core/http.js'

export interface Recording {
  /** When the request was made, as ISO 8601 in UTC. */
  readonly recordedAt: string
  /** The test whose request it is; empty for the run as a whole. */
  readonly test: string
  /** Its number among the equal requests of its test, from 1. */
  readonly place: number
  readonly request: RecordedRequest
  readonly response: RecordedResponse
}

/** A recording without its answer. */
export interface Question extends Omit<Recording, 'response'> {
  /** Whether an earlier version has written it, which knew nothing of tests. */
  readonly isEarlier?: true | undefined
}

/** A request without its credentials, normalized for comparison. */
export interface RecordedRequest {
  /** In upper case. */
  readonly method: string
  /** The path as requested, undecoded. */
  readonly path: string
  /** The part after the `?`, sorted by name; may be empty. */
  readonly query: string
  /** The headers that ask for a part of an answer, or for one that depends on what the client has. */
  readonly condition?: Readonly<Record<string, string>> | undefined
  readonly body: RequestBody
}

/** With `json`, the keys of objects are sorted. */
export type RequestBody =
  | { readonly kind: 'none' }
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'bytes'; readonly bytes: Buffer }

export interface RecordedResponse {
  readonly status: number
  /** The reason phrase, if it is not the usual one. */
  readonly statusText?: string | undefined
  /** Names in lower case. Hop-by-hop headers, length and date are left out. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** From the request to the head of the answer, in milliseconds. */
  readonly headMs: number
  /** The body, decompressed. A stream has its chunks as the network delivered them; any other body one for each moment. */
  readonly chunks: readonly RecordedChunk[]
  /** From the head to the end of the answer, in milliseconds. */
  readonly endMs: number
  /** Whether it is complete. A stream is complete once it has sent `[DONE]`, or has ended as HTTP demands. */
  readonly complete: boolean
  /** Whether the client left, and the rest had not come after half a minute. It is replayed as far as it goes. */
  readonly leftByClient?: true | undefined
}

export interface RecordedChunk {
  /** After the head, in milliseconds. */
  readonly atMs: number
  readonly bytes: Buffer
}

/** Whether the answer is a stream. The timing of other answers does not matter. */
export const isStream = ({ headers }: Pick<RecordedResponse, 'headers'>): boolean =>
  headers.some(([name, value]) => name === 'content-type' && isStreamType(value))

/** Whether an answer is sent piece by piece. */
export const hasRhythm = (response: RecordedResponse) => isStream(response) || response.chunks.length > 1

/**
 * Whether the answer is an error that may be gone when the request is repeated: one that broke off, or whose status tells
 * clients to try again. Errors such as 401 and 404 stay.
 */
export const isPassingError = ({ status, complete }: Pick<RecordedResponse, 'status' | 'complete'>): boolean =>
  !complete || isPassingStatus(status)

export const isPassingStatus = (status: number): boolean => status === 408 || status === 429 || status >= 500

export const recordedBody = ({ chunks }: Pick<RecordedResponse, 'chunks'>): Buffer =>
  chunks.length === 1 && chunks[0] ? chunks[0].bytes : Buffer.concat(chunks.map(({ bytes }) => bytes))

export interface Capture {
  readonly status: number
  readonly statusText?: string | undefined
  /** As received, in node's flat array of names and values. */
  readonly headers: readonly string[]
  readonly headMs: number
  readonly endMs: number
  /** As the network delivered them, possibly compressed. */
  readonly chunks: readonly RecordedChunk[]
  /** Whether the message was complete according to HTTP. */
  readonly complete: boolean
  /** Whether the client had left before the rest came. */
  readonly leftByClient?: true | undefined
}

/**
 * The largest body that is recorded, and the largest that a compressed one may become. No completion comes near it, and
 * larger files do not belong into a repository.
 */
export const MOST_BODY_BYTES = 16 * 1_048_576

/**
 * Not redacted yet. Rejects with an Error that says why if the answer cannot be decompressed, or is too large when
 * decompressed.
 */
export async function responseOf(
  capture: Capture,
  { method }: Pick<RecordedRequest, 'method'>,
): Promise<RecordedResponse> {
  const { status, headMs, endMs, complete, leftByClient } = capture
  const chunks = await decompressChunks(capture.chunks, headerIn(capture.headers, 'content-encoding'), MOST_BODY_BYTES)
  const headers = recordedHeaders(capture.headers, method)
  const hasLength = headerIn(capture.headers, 'content-length') !== undefined
  return {
    status,
    ...unusualReason(capture),
    headers,
    headMs: roundedMs(headMs),
    endMs: roundedMs(endMs),
    chunks: isStream({ headers })
      ? chunks.map(({ atMs, bytes }) => ({ atMs: roundedMs(atMs), bytes }))
      : joined(chunks, hasLength ? Number.POSITIVE_INFINITY : MOMENT_MS),
    complete: complete || hasDone(chunks),
    ...(leftByClient && !hasDone(chunks) && { leftByClient }),
  }
}

/** Rounds to a tenth of a millisecond. */
export const roundedMs = (ms: number) => Math.round(ms * 10) / 10

/** The end of a stream arrives in one piece or in a few. */
const DONE_CHUNKS = 16

/** Whether `[DONE]` was sent. OpenAI's clients hang up after reading it (peers.md, "client closes at [DONE]"). */
export function hasDone(chunks: readonly RecordedChunk[]): boolean {
  const tail = recordedBody({ chunks: chunks.slice(-DONE_CHUNKS) }).subarray(-1024)
  return /(^|\n)data: ?\[DONE\]\r?\n/.test(tail.toString('latin1'))
}

/** What arrives within this time was sent at once, wherever the network has cut it. */
const MOMENT_MS = 20

/** Joins the chunks that arrived within `withinMs`. */
function joined(chunks: readonly RecordedChunk[], withinMs: number): readonly RecordedChunk[] {
  const groups: [RecordedChunk, ...RecordedChunk[]][] = []
  for (const chunk of chunks) {
    const group = groups.at(-1)
    if (group && chunk.atMs - group[0].atMs < withinMs) group.push(chunk)
    else if (chunk.bytes.length > 0) groups.push([chunk])
  }
  return groups.map(group => ({ atMs: roundedMs(group.at(-1)?.atMs ?? 0), bytes: recordedBody({ chunks: group }) }))
}

/** The reason phrase of an answer if it is not the usual one, without characters that cannot be sent. */
export function unusualReason({ status, statusText }: Pick<Capture, 'status' | 'statusText'>) {
  return statusText === undefined || statusText === STATUS_CODES[status]
    ? {}
    : { statusText: statusText.replace(/[^\t\x20-\x7e\x80-\xff]/g, '') }
}

/** Headers about the connection, the time or the route, which would be wrong in a replay. */
const droppedHeaders =
  /^(connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|date|age|server|via|alt-svc|nel|report-to|strict-transport-security|cf-.*|x-envoy-.*|access-control-.*)$/

/** Headers about the body as it came. Without a body, they are all that is known of it. */
const bodyHeaders: ReadonlySet<string> = new Set(['content-length', 'content-encoding'])

export function recordedHeaders(headers: readonly string[], method: string): RecordedResponse['headers'] {
  const recorded: [string, string][] = []
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i]?.toLowerCase() ?? ''
    if (!droppedHeaders.test(name) && (method === 'HEAD' || !bodyHeaders.has(name)))
      recorded.push([name, headers[i + 1] ?? ''])
  }
  return recorded
}
