/** Records the live platform's answers while they are proxied. Nothing is written before the client has its answer. */
import type { Exchange, ResponseObserver } from '../core/exchange.js'
import { createPauses, inSlices, nextTurn } from '../core/work.js'
import type { Redact, Redaction } from '../redact/index.js'
import { isEndless, opensServerStream, replyWithoutRecording } from './json-rpc.js'
import { type RequestIdentity, redactedRequest } from './key.js'
import { fileOf, type RecordingFile } from './names.js'
import {
  type Capture,
  hasDone,
  MOST_BODY_BYTES,
  type RecordedRequest,
  type Recording,
  responseOf,
} from './recording.js'
import { redactResponse } from './redacted.js'
import { createResponseBuffer, type ResponseBuffer } from './response-buffer.js'
import type { Run } from './run.js'
import type { Shelf } from './shelf.js'

export interface RecorderParts {
  readonly shelf: Shelf
  readonly run: Run
  readonly redact: Redact
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

/**
 * Writing a file takes several times as long as proxying its request. With this many requests in one pause, recordings
 * wait for a quieter moment.
 */
const BUSY = 5
const PAUSE_MS = 10
/** With more recordings in memory than this, none waits for a quieter moment. */
const MOST_WAITING = 2000
/**
 * New requests may arrive faster than files are written, for minutes. Once the recordings in memory take about this
 * much, further requests wait until some are written.
 */
const MOST_BYTES = 128 * 1_048_576
/** The memory that a recording takes until it is written, besides its bodies. */
const RECORDING_BYTES = 20_480

/** An exchange that is being recorded. */
interface OpenRecording {
  readonly exchange: Exchange
  readonly entry: RecordingFile
  /** The recordings of the same request from earlier runs. */
  readonly earlier: readonly RecordingFile[]
  /** Whether its answer goes on until the client leaves. */
  readonly isEndless: boolean
  /** The redacted request, and the redaction to use for the answer; absent if it has to be computed again. */
  readonly redacted: { readonly request: RecordedRequest; readonly redaction: Redaction } | undefined
}

/** A recorded exchange, and its answer as observed. */
interface ObservedAnswer extends OpenRecording, Omit<Capture, 'chunks' | 'complete'> {
  readonly recordedAt: string
  readonly buffer: ResponseBuffer
  readonly isComplete: boolean
}

export function createRecorder(parts: RecorderParts) {
  const { noteRequest, write, flush, room } = createWriter(parts)
  const onEnd = (result: ObservedAnswer | string) =>
    typeof result === 'string' ? parts.run.notRecorded(result) : write(result)

  return {
    /** Observes an exchange from its beginning; `undefined` if it is not recorded. The folder must have been listed. */
    observerOf(exchange: Exchange): NamedObserver | undefined {
      noteRequest()
      const recording = begin(exchange, parts)
      return recording && observerFor(recording, onEnd)
    },
    /** Resolves when everything that has ended so far is on disk. */
    flush,
    /** Resolves when there is memory for another recording. Returns `undefined` if there is already. */
    room,
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
    redacted: redaction && { request, redaction },
  }
}

/** Counts the recordings that wait to be written, and the memory that they take. */
function createWaiting() {
  const roomWaiters: (() => void)[] = []
  let count = 0
  let bytes = 0
  return {
    count: () => count,
    add(recordingBytes: number): void {
      count++
      bytes += recordingBytes
    },
    remove(recordingBytes: number): void {
      count--
      bytes -= recordingBytes
      if (bytes < MOST_BYTES) for (const resolve of roomWaiters.splice(0)) resolve()
    },
    room: () => (bytes < MOST_BYTES ? undefined : new Promise<void>(resolve => void roomWaiters.push(resolve))),
  }
}

/** Writes one recording after the other, when there is time for it. */
function createWriter(parts: RecorderParts) {
  let writing: Promise<void> = Promise.resolve()
  const waiting = createWaiting()
  let requests = 0
  let requestsBefore = 0
  const pauses = createPauses()

  async function quietMoment(): Promise<void> {
    await nextTurn()
    while (waiting.count() <= MOST_WAITING && requests - requestsBefore >= BUSY) {
      requestsBefore = requests
      await pauses.of(PAUSE_MS)
    }
    requestsBefore = requests
  }

  return {
    noteRequest(): void {
      requests++
    },
    write(answer: ObservedAnswer): void {
      const recordingBytes = RECORDING_BYTES + (answer.exchange.body?.length ?? 0) + answer.buffer.heldBytes()
      waiting.add(recordingBytes)
      writing = writing.then(quietMoment).then(() =>
        save(answer, parts)
          .catch(error => reportFailure(answer, error, parts))
          .finally(() => waiting.remove(recordingBytes)),
      )
    },
    room: waiting.room,
    flush: () => pauses.without(() => writing),
  }
}

async function save(answer: ObservedAnswer, parts: RecorderParts): Promise<void> {
  const { entry, isComplete, buffer, earlier } = answer
  const { shelf, run } = parts
  // An incomplete answer never replaces a complete one.
  if (!isComplete && shelf.of(entry.key).some(({ file }) => file === entry.file)) return buffer.drop()
  const recording = await recordingOf(answer, parts)
  if (typeof recording === 'string') return run.notRecorded(`${entry.file} was not saved: ${recording}.`)
  await shelf.put(entry, recording)
  run.recorded(entry.file)
  // Later recordings from an earlier run belong to another conversation.
  const laterEntries = entry.nth === 1 ? earlier.filter(old => old.nth > 1 && !run.isOwn(old.file)) : []
  for (const old of laterEntries) await shelf.remove(old)
}

function reportFailure({ entry, buffer }: ObservedAnswer, error: NodeJS.ErrnoException, parts: RecorderParts): void {
  const { run, report, warn } = parts
  buffer.drop()
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
      if (!head || (opensServerStream(recording.exchange) && !hasEvents(buffer.tail()))) return buffer.drop()
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
async function recordingOf(answer: ObservedAnswer, parts: RecorderParts): Promise<Recording | string> {
  const { exchange, recordedAt, status, headers, headMs, endMs, isComplete, buffer } = answer
  const { request, redaction } = answer.redacted ?? redactedRequest(exchange, parts.redact)
  const chunks = await buffer.take()
  const capture: Capture = { ...{ status, headers, headMs, endMs, chunks }, complete: isComplete }
  // Each step is short, but all of them together are not, as long as their code is not optimized.
  await nextTurn()
  const response = await responseOf(capture).catch(({ message }: Error) => message)
  if (typeof response === 'string') return response
  await nextTurn()
  return { recordedAt, request, response: await inSlices(redactResponse(response, redaction)) }
}
