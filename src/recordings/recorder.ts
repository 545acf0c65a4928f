/** Records the live platform's answers while they are proxied. Nothing is written before the client has its answer. */
import type { Exchange, ResponseObserver } from '../core/exchange.js'
import type { Redaction } from '../redact/index.js'
import type { Shelf } from './folder.js'
import { isEndless, opensServerStream, replyWithoutRecording } from './json-rpc.js'
import type { RequestIdentity } from './key.js'
import { fileOf, type RecordingFile } from './names.js'
import {
  type Capture,
  hasDone,
  MOST_BODY_BYTES,
  type RecordedChunk,
  type RecordedRequest,
  type Recording,
  responseOf,
} from './recording.js'
import { redactedResponse } from './redacted.js'
import type { Run } from './run.js'

export interface RecorderParts {
  readonly shelf: Shelf
  readonly run: Run
  readonly identify: (exchange: Exchange) => RequestIdentity
  readonly warn: (sentence: string) => void
  readonly report: (error: unknown) => void
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
interface ObservedAnswer extends OpenRecording, Omit<Capture, 'chunks' | 'complete'> {
  readonly recordedAt: string
  readonly buffer: ReturnType<typeof createResponseBuffer>
  readonly isComplete: boolean
}

export function createRecorder(parts: RecorderParts) {
  let saving: Promise<void> = Promise.resolve()
  const onEnd = (result: ObservedAnswer | string) => {
    if (typeof result === 'string') parts.run.notRecorded(result)
    // Written in this turn of the event loop; only an answer that has to be decompressed takes longer.
    else saving = saving.then(() => save(result, parts).catch(error => reportFailure(result, error, parts)))
  }

  return {
    /** Observes an exchange from its beginning; `undefined` if it is not recorded. The folder must have been listed. */
    observerOf(exchange: Exchange): NamedObserver | undefined {
      const recording = begin(exchange, parts)
      return recording && observerFor(recording, onEnd)
    },
    /** Resolves when everything that has ended so far is on disk. */
    flush: () => saving,
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
    ...{ exchange, entry: { file, key, nth }, earlier },
    isEndless: isEndless(exchange, request),
    ...{ request, redaction },
  }
}

async function save(answer: ObservedAnswer, parts: RecorderParts): Promise<void> {
  const { entry, isComplete, earlier } = answer
  const { shelf, run } = parts
  // An incomplete answer never replaces a complete one.
  if (!isComplete && shelf.of(entry.key).some(({ file }) => file === entry.file)) return
  const recording = await recordingOf(answer)
  if (typeof recording === 'string') return run.notRecorded(`${entry.file} was not saved: ${recording}.`)
  shelf.put(entry, recording)
  run.recorded(entry.file)
  // Later recordings from an earlier run belong to another conversation.
  const laterEntries = entry.nth === 1 ? earlier.filter(old => old.nth > 1 && !run.isOwn(old.file)) : []
  for (const old of laterEntries) shelf.remove(old)
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
  const { entry } = recording
  const recordedAt = nextMoment()
  const startedMs = performance.now()
  const buffer = createResponseBuffer()
  let head: { readonly status: number; readonly headers: readonly string[]; readonly atMs: number } | undefined
  let isTooLarge = false
  return {
    file: entry.file,
    head(status, headers) {
      head = { status, headers, atMs: performance.now() }
    },
    bytes(bytes) {
      if (head && !isTooLarge) isTooLarge = !buffer.add(bytes, performance.now() - head.atMs)
    },
    end(complete) {
      // There was no answer to save.
      if (!head || (opensServerStream(recording.exchange) && !hasEvents(buffer.tail()))) return
      if (isTooLarge) return onEnd(`Larger than ${MOST_BODY_BYTES} bytes: ${entry.file}.`)
      const { status, headers, atMs } = head
      onEnd({
        ...{ ...recording, recordedAt, status, headers, buffer },
        headMs: atMs - startedMs,
        endMs: performance.now() - atMs,
        isComplete: complete || recording.isEndless || hasDone(buffer.tail()),
      })
    },
  }
}

/** The end of a stream is about ten bytes long; this allows for a few events after it. */
const TAIL_BYTES = 1024

/** Collects an answer in memory while it arrives: its bytes with their times. */
function createResponseBuffer() {
  let chunks: RecordedChunk[] = []
  let totalBytes = 0
  let tail: Buffer = Buffer.alloc(0)
  return {
    /**
     * Adds bytes that arrived at `atMs`. Returns false once the limit is exceeded; nothing is collected from then on.
     */
    add(bytes: Buffer, atMs: number): boolean {
      totalBytes += bytes.length
      if (totalBytes > MOST_BODY_BYTES) {
        chunks = []
        return false
      }
      // A copy: the bytes are a small part of a large network buffer, which would otherwise stay in memory.
      chunks.push({ atMs, bytes: Buffer.from(bytes) })
      tail =
        bytes.length >= TAIL_BYTES ? bytes.subarray(-TAIL_BYTES) : Buffer.concat([tail, bytes]).subarray(-TAIL_BYTES)
      return true
    },
    /** The last bytes, enough to see how the answer ended. */
    tail: () => tail,
    /** Everything, in the pieces in which it arrived. */
    chunks: (): readonly RecordedChunk[] => chunks,
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

/** Whether anything was sent: a server may open its stream and send nothing, or refuse to open it. */
const hasEvents = (tail: Buffer) => /(^|\n)data:/.test(tail.toString('latin1'))

/** Returns the recording, or why the answer cannot be recorded. */
async function recordingOf(answer: ObservedAnswer): Promise<Recording | string> {
  const { recordedAt, request, redaction, status, headers, headMs, endMs, isComplete, buffer } = answer
  const capture: Capture = { status, headers, headMs, endMs, chunks: buffer.chunks(), complete: isComplete }
  const response = await responseOf(capture).catch(({ message }: Error) => message)
  if (typeof response === 'string') return response
  return { recordedAt, request, response: redactedResponse(response, redaction) }
}
