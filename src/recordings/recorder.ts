/** Records the live platform's answers while they are proxied. Nothing is written before the client has its answer. */
import { isDeepStrictEqual } from 'node:util'
import { ProblemsError } from '../check/problem.js'
import type { Exchange } from '../core/exchange.js'
import type { ResponseObserver } from '../core/reply.js'
import { once, type SerialQueue } from '../core/work.js'
import type { Redaction } from '../redact/index.js'
import { byPresentKey, candidatesFor } from './candidates.js'
import type { Ignore } from './canonical.js'
import type { Shelf } from './folder.js'
import { isEndless, opensServerStream, replyWithoutRecording } from './json-rpc.js'
import type { RequestIdentity } from './key.js'
import { fileOf, type RecordingFile } from './names.js'
import {
  type Capture,
  hasDone,
  isPassingError,
  isPassingStatus,
  MOST_BODY_BYTES,
  type RecordedChunk,
  type RecordedRequest,
  type RecordedResponse,
  responseOf,
} from './recording.js'
import { redactedResponse } from './redacted.js'
import type { Run } from './run.js'
import { saysTheSame } from './same-answer.js'

export interface RecorderParts {
  readonly shelf: Shelf
  readonly run: Run
  readonly identify: (exchange: Exchange) => RequestIdentity
  readonly ignore: Ignore
  readonly warn: (sentence: string) => void
  readonly report: (error: unknown) => void
  /** Writes recordings one after the other. */
  readonly saveInOrder: SerialQueue
  /** Whether errors after which the client tried again get recordings of their own. */
  readonly keepRetried: boolean
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
  const { shelf, run, keepRetried, saveInOrder } = parts
  const earlierRuns = once(() => new Set([...shelf.all()].filter(({ file }) => !run.isOwn(file))))
  return {
    /** Observes an exchange from its beginning; `undefined` if it is not recorded. The folder must have been listed. */
    observerOf(exchange: Exchange): NamedObserver | undefined {
      const recording = begin(exchange, parts)
      if (!recording) return undefined
      const { entry } = recording
      const onFailure = () => (keepRetried ? undefined : run.failed(entry))
      return observerFor(recording, onFailure, result => {
        if (typeof result === 'string') run.notRecorded(entry.file, result)
        // A new file is written in this turn of the event loop, unless its answer has to be decompressed.
        else
          void saveInOrder(() => save(result, parts, earlierRuns()).catch(error => reportFailure(result, error, parts)))
      })
    },
    /** Resolves when everything that has ended so far is on disk. */
    flush: () => saveInOrder(async () => {}),
    /** Removes the recordings that this run has superseded, once everything is on disk. */
    settle: () =>
      saveInOrder(async () => {
        for (const entry of run.superseded()) removeSuperseded(entry, parts)
      }),
  }
}

/** Decides which file an exchange is recorded in; `undefined` if it is not recorded. */
function begin(exchange: Exchange, { shelf, run, identify }: RecorderParts): OpenRecording | undefined {
  const { request, key, redaction, objection } = identify(exchange)
  if (replyWithoutRecording(exchange, request)) return undefined
  const first = fileOf(request, key, 1)
  if (objection !== undefined) {
    run.notRecorded(first, `${first} was not saved: ${objection}.`)
    return undefined
  }
  const existing = shelf.of(key)
  const nth = run.begin(key, existing)
  if (nth > MOST_OF_ONE_REQUEST) {
    const limit = `At most ${MOST_OF_ONE_REQUEST} recordings of one request are saved: ${first}.`
    run.notRecorded(limit, limit)
    return undefined
  }
  // A hand-written file name is kept.
  const file = existing.find(other => other.nth === nth)?.file ?? fileOf(request, key, nth)
  return {
    exchange,
    entry: { file, key, nth },
    isEndless: isEndless(exchange, request),
    request,
    redaction,
  }
}

/** `earlierRuns` has the recordings that this run has not made; those that are removed leave it. */
async function save(
  { entry, recordedAt, request, redaction, capture }: ObservedAnswer,
  parts: RecorderParts,
  earlierRuns: Set<RecordingFile>,
) {
  const { shelf, run } = parts
  const { file } = entry
  const answer = await responseOf(capture, request).catch(({ message }: Error) => message)
  if (typeof answer === 'string') return run.notRecorded(file, `${file} was not saved: ${answer}.`)
  const response = redactedResponse(answer, redaction, request.path)
  const earlier = await earlierRecording(entry, request, parts, earlierRuns)
  const old = earlier && (await readableRecording(earlier.file, shelf))
  const isKept = old !== undefined && isWorse(response, old.response, parts)
  const isAskedTheSame = isDeepStrictEqual(old?.request.condition, request.condition)
  const isSame = old !== undefined && isAskedTheSame && saysTheSame(old.response, response)
  if (earlier?.file !== file) shelf.put(entry, (isKept || isSame) && old ? old : { recordedAt, request, response })
  else if (isSame) shelf.touch(file)
  else if (!isKept) shelf.put(entry, { recordedAt, request, response })
  if (earlier && earlier.file !== file) {
    shelf.remove(earlier)
    earlierRuns.delete(earlier)
  }
  if (!isKept) return run.recorded(entry, response, isSame)
  const why = response.complete ? `the live platform answered ${response.status}` : 'the answer broke off'
  if (!run.isOwn(file)) run.notRecorded(file, `${file} keeps its earlier answer, because ${why}.`)
}

/** What this recording replaces. Its name has an outdated key if \`recordings.ignore\` has changed since. */
async function earlierRecording(
  entry: RecordingFile,
  request: RecordedRequest,
  { shelf, run, ignore }: RecorderParts,
  earlierRuns: Iterable<RecordingFile>,
) {
  const named = shelf.of(entry.key).find(({ file }) => file === entry.file)
  if (named) return named
  const others = [...earlierRuns].filter(({ file }) => !run.isOwn(file))
  const [outdated] = byPresentKey(await candidatesFor(request, shelf, others), ignore)(entry.key)
  return outdated
}

/** An outage while a suite is recorded again must not cost the answers that are there. */
const isWorse = (response: RecordedResponse, old: RecordedResponse, { keepRetried }: RecorderParts): boolean =>
  (!response.complete && old.complete) || (!keepRetried && isPassingError(response) && !isPassingError(old))

/** `undefined` for a file that cannot be read, which is replaced. */
const readableRecording = (file: string, shelf: Shelf) =>
  shelf.read(file).catch((error: unknown) => {
    if (!(error instanceof ProblemsError)) throw error
    return undefined
  })

function removeSuperseded(entry: RecordingFile, { shelf, run }: RecorderParts): void {
  try {
    if (!shelf.isChangedSince(entry.file, run.startedMs)) shelf.remove(entry)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    run.notRecorded(entry.file, `${entry.file} was not removed (${code ?? message}).`)
  }
}

function reportFailure({ entry }: ObservedAnswer, error: NodeJS.ErrnoException, parts: RecorderParts): void {
  const { run, report, warn } = parts
  const sentence = `${entry.file} was not saved (${error.code ?? error.message}).`
  run.notRecorded(entry.file, sentence)
  // A full or read-only disk is not a bug of ours. The receipt lists the other files.
  if (error.code === undefined) report(error)
  else if (run.isFirst(error.code)) warn(sentence)
}

/**
 * Collects the answer of an exchange. `onFailure` is called as soon as it is clear that the client may try again, and `onEnd` with
 * the answer, or with the reason why it cannot be saved.
 */
function observerFor(
  recording: OpenRecording,
  onFailure: () => void,
  onEnd: (result: ObservedAnswer | string) => void,
): NamedObserver {
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
      if (isPassingStatus(status)) onFailure()
    },
    bytes(bytes) {
      totalBytes += bytes.length
      if (totalBytes > MOST_BODY_BYTES) chunks = []
      // A copy: the bytes are a small part of a large network buffer, which would otherwise stay in memory.
      else if (head) chunks.push({ atMs: performance.now() - head.atMs, bytes: Buffer.from(bytes) })
    },
    end(isWhole) {
      if (!isWhole && !isEndless && !hasDone(chunks)) onFailure()
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
