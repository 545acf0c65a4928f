/** Records the live platform's answers while they pass. Nothing is written before the client has its answer. */
import type { Exchange, ResponseObserver } from '../core/exchange.js'
import { createPauses, inSlices, othersTurn } from '../core/work.js'
import type { Redact, Redaction } from '../redact/index.js'
import { createResponseBuffer, type ResponseBuffer } from './gathered.js'
import { isEndless, opensServerStream, replyWithoutRecording } from './json-rpc.js'
import { type RequestIdentity, redactedRequest } from './key.js'
import { fileOf, type RecordingFile } from './names.js'
import { type Capture, hasSaidDone, type RecordedRequest, type Recording, responseOf } from './recording.js'
import { redactResponse } from './redacted.js'
import type { Run } from './run.js'
import type { Shelf } from './shelf.js'

export interface RecorderParts {
  readonly shelf: Shelf
  readonly run: Run
  readonly redact: Redact
  readonly identify: (exchange: Exchange) => RequestIdentity
  readonly save: 'all' | 'onlyNew'
  readonly maxBytes: number
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
/** With more recordings in memory than this, none waits any longer. */
const MOST_WAITING = 2000
/**
 * Requests that are all new may come in for minutes faster than files are written. Once the recordings in memory take
 * about this much, further requests wait until some are written.
 */
const MOST_BYTES = 128 * 1_048_576
/** What a recording takes until it is written, besides the bytes of its bodies. */
const RECORDING_BYTES = 20_480

/** An exchange that is being recorded. */
interface OpenRecording {
  readonly exchange: Exchange
  readonly kept: RecordingFile
  /** The recordings of the same request from earlier runs. */
  readonly earlier: readonly RecordingFile[]
  /** Whether its answer goes on until the client leaves. */
  readonly isEndless: boolean
  /** The redacted request, and the redaction to use for the answer; absent if it has to be computed again. */
  readonly redacted: { readonly request: RecordedRequest; readonly redaction: Redaction } | undefined
}

/** What was seen of its answer. */
interface ObservedAnswer extends OpenRecording, Omit<Capture, 'chunks' | 'complete'> {
  readonly recordedAt: string
  readonly gathered: ResponseBuffer
  readonly isComplete: boolean
}

export function createRecorder(parts: RecorderParts) {
  const { run, maxBytes } = parts
  const { noteRequest, write, flush, room } = createWriter(parts)
  return {
    /** Observes an exchange from its beginning; `undefined` if it is not recorded. The folder must have been listed. */
    observerOf(exchange: Exchange): NamedObserver | undefined {
      noteRequest()
      const begun = begin(exchange, parts)
      return (
        begun && watching(begun, maxBytes, seen => (typeof seen === 'string' ? run.notRecorded(seen) : write(seen)))
      )
    },
    /** Resolves when everything that has ended so far is on disk. */
    flush,
    /** Resolves when there is memory for another recording. Returns `undefined` if there is. */
    room,
  }
}

/** Decides which file an exchange is recorded in; `undefined` if it is not recorded. */
function begin(exchange: Exchange, { shelf, run, identify, save }: RecorderParts): OpenRecording | undefined {
  const { request, key, redaction } = identify(exchange)
  if (replyWithoutRecording(exchange, request)) return undefined
  const there = shelf.of(key)
  // In mode replay, only what no recording has answered is recorded.
  const { nth, earlier, isFirst } = run.begin(key, there, exchange.mode === 'replay')
  if (save === 'onlyNew' && earlier.length > 0) return undefined
  if (nth > MOST_OF_ONE_REQUEST) {
    if (isFirst || nth === MOST_OF_ONE_REQUEST + 1) {
      run.notRecorded(`At most ${MOST_OF_ONE_REQUEST} recordings of one request are saved: ${fileOf(request, key, 1)}.`)
    }
    return undefined
  }
  // A hand-written file name is kept.
  const file = there.find(kept => kept.nth === nth)?.file ?? fileOf(request, key, nth)
  return {
    ...{ exchange, kept: { file, key, nth }, earlier, isEndless: isEndless(exchange, request) },
    redacted: redaction && { request, redaction },
  }
}

/** How many recordings are in memory until they are written, and what they take. */
function createWaiting() {
  const forRoom: (() => void)[] = []
  let count = 0
  let bytes = 0
  return {
    count: () => count,
    add(own: number): void {
      count++
      bytes += own
    },
    remove(own: number): void {
      count--
      bytes -= own
      if (bytes < MOST_BYTES) for (const resolve of forRoom.splice(0)) resolve()
    },
    room: () => (bytes < MOST_BYTES ? undefined : new Promise<void>(resolve => void forRoom.push(resolve))),
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
    await othersTurn()
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
    write(seen: ObservedAnswer): void {
      const own = RECORDING_BYTES + (seen.exchange.body?.length ?? 0) + seen.gathered.heldBytes()
      waiting.add(own)
      writing = writing.then(quietMoment).then(() =>
        keep(seen, parts)
          .catch(error => failed(seen, error, parts))
          .finally(() => waiting.remove(own)),
      )
    },
    room: waiting.room,
    flush: () => pauses.without(() => writing),
  }
}

async function keep(seen: ObservedAnswer, parts: RecorderParts): Promise<void> {
  const { kept, isComplete, gathered, earlier } = seen
  const { shelf, run } = parts
  // An incomplete answer never replaces a complete one.
  if (!isComplete && shelf.of(kept.key).some(({ file }) => file === kept.file)) return gathered.drop()
  const recording = await recordingOf(seen, parts)
  if (typeof recording === 'string') return run.notRecorded(`${kept.file} is not kept: ${recording}.`)
  await shelf.put(kept, recording)
  run.recorded(kept.file)
  // Later recordings from an earlier run belong to another conversation.
  const later = kept.nth === 1 ? earlier.filter(old => old.nth > 1 && !run.isOwn(old.file)) : []
  for (const old of later) await shelf.remove(old)
}

function failed({ kept, gathered }: ObservedAnswer, error: NodeJS.ErrnoException, parts: RecorderParts): void {
  const { run, report, warn } = parts
  gathered.drop()
  const sentence = `${kept.file} is not kept (${error.code ?? error.message}).`
  run.notRecorded(sentence)
  // A full or read-only disk is not a bug of ours.
  if (error.code === undefined) report(error)
  else warn(sentence)
}

/**
 * Collects the answer of an exchange. `over` is called with what was seen, or with the reason why it cannot be saved.
 */
function watching(
  begun: OpenRecording,
  maxBytes: number,
  over: (seen: ObservedAnswer | string) => void,
): NamedObserver {
  const { kept } = begun
  const recordedAt = nextMoment()
  const startedMs = performance.now()
  const gathered = createResponseBuffer(maxBytes)
  let head: { readonly status: number; readonly headers: readonly string[]; readonly atMs: number } | undefined
  let isTooLarge = false
  return {
    file: kept.file,
    head(status, headers) {
      head = { status, headers, atMs: performance.now() }
    },
    bytes(bytes) {
      if (head && !isTooLarge) isTooLarge = !gathered.add(bytes, performance.now() - head.atMs)
    },
    end(complete) {
      // There was no answer to save.
      if (!head || (opensServerStream(begun.exchange) && !hasEvents(gathered.tail()))) return gathered.drop()
      if (isTooLarge) return over(`Larger than recordings.maxBytes (${maxBytes}): ${kept.file}.`)
      const { status, headers, atMs } = head
      over({
        ...{ ...begun, recordedAt, status, headers, gathered },
        headMs: atMs - startedMs,
        endMs: performance.now() - atMs,
        isComplete: complete || begun.isEndless || hasSaidDone(gathered.tail()),
      })
    },
  }
}

/** How far the times of recordings may be ahead of the clock when many are made at once. */
const MOST_AHEAD_MS = 100

let latestMs = 0

/** Recordings of the same millisecond get different times: their order counts where a field that is ignored later makes them the same. */
function nextMoment(): string {
  const nowMs = Date.now()
  latestMs = Math.max(nowMs, Math.min(latestMs + 1, nowMs + MOST_AHEAD_MS))
  return new Date(latestMs).toISOString()
}

/** A server may open its stream and say nothing, or refuse to open it. */
const hasEvents = (tail: Buffer) => /(^|\n)data:/.test(tail.toString('latin1'))

/** Returns the recording, or why there can be none. */
async function recordingOf(seen: ObservedAnswer, { redact, maxBytes }: RecorderParts): Promise<Recording | string> {
  const { exchange, recordedAt, status, headers, headMs, endMs, isComplete, gathered } = seen
  const { request, redaction } = seen.redacted ?? redactedRequest(exchange, redact)
  const chunks = await gathered.take()
  const capture: Capture = { ...{ status, headers, headMs, endMs, chunks }, complete: isComplete }
  // Each step is short, but not all of them together: at first their code is not optimized yet.
  await othersTurn()
  const response = await responseOf(capture, maxBytes).catch(({ message }: Error) => message)
  if (typeof response === 'string') return response
  await othersTurn()
  return { recordedAt, request, response: await inSlices(redactResponse(response, redaction)) }
}
