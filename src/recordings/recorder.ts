/** Records the live platform's answers while they are proxied. Nothing is written before the client has its answer. */
import type { Exchange } from '../core/exchange.js'
import type { ResponseObserver } from '../core/reply.js'
import type { SerialQueue } from '../core/work.js'
import type { Shelf } from './folder.js'
import { isEndless, opensServerStream, replyWithoutRecording } from './json-rpc.js'
import type { RequestIdentity } from './key.js'
import { fileOf, type RecordingFile } from './names.js'
import { type Capture, MOST_BODY_BYTES, type RecordedChunk, type RecordedRequest, responseOf } from './recording.js'
import type { Redaction } from './redact/index.js'
import { redactedResponse } from './redacted.js'
import type { Run } from './run.js'

export interface RecorderParts {
  readonly shelf: Shelf
  readonly run: Run
  readonly identify: (exchange: Exchange) => RequestIdentity
  readonly warn: (sentence: string) => void
  readonly report: (error: unknown) => void
  /** Writes recordings one after the other. */
  readonly saveInOrder: SerialQueue
}

/** An observer that knows from the beginning which file it will write. */
export interface NamedObserver extends ResponseObserver {
  readonly file: string
}

/** A client that repeats a request in a loop must not fill the disk. */
const MOST_OF_ONE_REQUEST = 100

/** An exchange that is being recorded. */
interface OpenRecording {
  readonly exchange: Exchange
  readonly entry: RecordingFile
  /** The recordings of the same request from earlier runs. */
  readonly earlier: readonly RecordingFile[]
  /** Whether its answer goes on until the client leaves. */
  readonly isEndless: boolean
  /** Without its secrets. */
  readonly request: RecordedRequest
  /** The redaction of the request, to be used for its answer too. */
  readonly redaction: Redaction
}

/** A recorded exchange, and its answer as observed. */
type ObservedAnswer = OpenRecording & { readonly recordedAt: string; readonly capture: Capture }

export function createRecorder(parts: RecorderParts) {
  const onEnd = (result: ObservedAnswer | string) => {
    if (typeof result === 'string') parts.run.notRecorded(result)
    // Written in this turn of the event loop; only an answer that has to be decompressed takes longer.
    else void parts.saveInOrder(() => save(result, parts).catch(error => reportFailure(result, error, parts)))
  }

  return {
    /** Observes an exchange from its beginning; `undefined` if it is not recorded. The folder must have been listed. */
    observerOf(exchange: Exchange): NamedObserver | undefined {
      const recording = begin(exchange, parts)
      return recording && observerFor(recording, onEnd)
    },
    /** Resolves when everything that has ended so far is on disk. */
    flush: () => parts.saveInOrder(async () => {}),
  }
}

/** Decides which file an exchange is recorded in; `undefined` if it is not recorded. */
function begin(exchange: Exchange, { shelf, run, identify }: RecorderParts): OpenRecording | undefined {
  const { request, key, redaction, objection } = identify(exchange)
  if (replyWithoutRecording(exchange, request)) return undefined
  if (objection !== undefined) {
    run.notRecorded(`${fileOf(request, key, 1)} was not saved: ${objection}.`)
    return undefined
  }
  const existing = shelf.of(key)
  const { nth, earlier, isFirst } = run.begin(key, existing)
  if (nth > MOST_OF_ONE_REQUEST) {
    if (isFirst || nth === MOST_OF_ONE_REQUEST + 1) {
      run.notRecorded(`At most ${MOST_OF_ONE_REQUEST} recordings of one request are saved: ${fileOf(request, key, 1)}.`)
    }
    return undefined
  }
  // A hand-written file name is kept.
  const file = existing.find(other => other.nth === nth)?.file ?? fileOf(request, key, nth)
  return {
    exchange,
    entry: { file, key, nth },
    earlier,
    isEndless: isEndless(exchange, request),
    request,
    redaction,
  }
}

async function save({ entry, earlier, recordedAt, request, redaction, capture }: ObservedAnswer, parts: RecorderParts) {
  const { shelf, run } = parts
  const answer = await responseOf(capture, request).catch(({ message }: Error) => message)
  if (typeof answer === 'string') return run.notRecorded(`${entry.file} was not saved: ${answer}.`)
  // An incomplete answer never replaces a complete one.
  if (!answer.complete && shelf.of(entry.key).some(({ file }) => file === entry.file)) return
  shelf.put(entry, { recordedAt, request, response: redactedResponse(answer, redaction, request.path) })
  run.recorded(entry.file)
  // Later recordings from an earlier run belong to another conversation.
  const later = entry.nth === 1 ? earlier.filter(old => old.nth > 1 && !run.isOwn(old.file)) : []
  for (const old of later) shelf.remove(old)
}

function reportFailure({ entry }: ObservedAnswer, error: NodeJS.ErrnoException, parts: RecorderParts): void {
  const { run, report, warn } = parts
  const sentence = `${entry.file} was not saved (${error.code ?? error.message}).`
  run.notRecorded(sentence)
  // A full or read-only disk is not a bug of ours.
  if (error.code === undefined) report(error)
  else warn(sentence)
}

/**
 * Collects the answer of an exchange. `onEnd` is called with the answer, or with the reason why it cannot be saved.
 */
function observerFor(recording: OpenRecording, onEnd: (result: ObservedAnswer | string) => void): NamedObserver {
  const { entry, exchange, isEndless } = recording
  const recordedAt = nextMoment()
  const startedMs = performance.now()
  let head: (Pick<Capture, 'status' | 'headers' | 'statusText'> & { readonly atMs: number }) | undefined
  let chunks: RecordedChunk[] = []
  let totalBytes = 0
  return {
    file: entry.file,
    head(status, headers, statusText) {
      head = { status, headers, statusText, atMs: performance.now() }
    },
    bytes(bytes) {
      totalBytes += bytes.length
      if (totalBytes > MOST_BODY_BYTES) chunks = []
      // A copy: the bytes are a small part of a large network buffer, which would otherwise stay in memory.
      else if (head) chunks.push({ atMs: performance.now() - head.atMs, bytes: Buffer.from(bytes) })
    },
    end(isWhole) {
      // There was no answer to save: a server may open its stream and send nothing, or refuse to open it.
      if (!head || (opensServerStream(exchange) && !chunks.some(({ bytes }) => bytes.includes('data:')))) return
      if (totalBytes > MOST_BODY_BYTES) return onEnd(`Larger than ${MOST_BODY_BYTES} bytes: ${entry.file}.`)
      const { atMs, ...rest } = head
      const headMs = atMs - startedMs
      const endMs = performance.now() - atMs
      onEnd({
        ...recording,
        recordedAt,
        capture: { ...rest, headMs, endMs, chunks, complete: isWhole || isEndless },
      })
    },
  }
}

/** How far the times of recordings may be ahead of the clock when many are made at once. */
const MOST_AHEAD_MS = 100

let latestMs = 0

/** Recordings of the same millisecond get different times, since their order counts if a field that is ignored later makes their requests equal. */
function nextMoment(): string {
  const nowMs = Date.now()
  latestMs = Math.max(nowMs, Math.min(latestMs + 1, nowMs + MOST_AHEAD_MS))
  return new Date(latestMs).toISOString()
}
