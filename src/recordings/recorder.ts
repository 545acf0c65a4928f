/** Records the live platform's answer while it goes by; the client has its answer before anything is written. */
import type { Exchange, ResponseObserver } from '../core/exchange.js'
import { inSlices } from '../core/work.js'
import { credentialsOf, type Redact, type Redaction } from '../redact/index.js'
import { type Gathered, gather } from './gathered.js'
import { askedIn, type Identified, requestOf } from './key.js'
import { fileOf, type RecordingFile } from './names.js'
import { type Capture, hasSaidDone, type RecordedRequest, type Recording, responseOf } from './recording.js'
import { redactResponse } from './redacted.js'
import type { Run } from './run.js'
import type { Shelf } from './shelf.js'

interface RecorderParts {
  readonly shelf: Shelf
  readonly run: Run
  readonly redact: Redact
  readonly identify: (exchange: Exchange) => Identified
  readonly save: 'all' | 'onlyNew'
  /** Of one body. */
  readonly maxBytes: number
  readonly warn: (sentence: string) => void
  readonly report: (error: unknown) => void
}

/** Where it is going to be kept is known from the beginning. */
export interface Named extends ResponseObserver {
  readonly file: string
}

/** A client that asks the same in a loop must not fill the disk. */
const MOST_OF_ONE_REQUEST = 100

/** An exchange that is going to be kept. */
interface Begun {
  readonly exchange: Exchange
  readonly kept: RecordingFile
  /** What an earlier run has left of the same request. */
  readonly earlier: readonly RecordingFile[]
  /** The request without its secrets, and the redaction that goes on with the answer; absent where it has to be made again. */
  readonly redacted: { readonly request: RecordedRequest; readonly redaction: Redaction } | undefined
}

/** What was seen of its answer. */
interface Seen extends Begun {
  readonly recordedAt: string
  readonly status: number
  readonly headers: readonly string[]
  readonly headMs: number
  readonly endMs: number
  readonly gathered: Gathered
  readonly isComplete: boolean
}

export function createRecorder(parts: RecorderParts) {
  const { shelf, run, identify, save, maxBytes, warn, report } = parts
  /** Written one after the other, so that those who ask meanwhile get their turn. */
  let writing: Promise<void> = Promise.resolve()

  /** Takes part in an exchange from its beginning on; nothing where it is not to be kept. The folder has been listed. */
  function witness(exchange: Exchange): Named | undefined {
    const { request, key, redaction } = identify(exchange)
    const there = shelf.of(key)
    const { nth, earlier } = run.begin(key, there)
    if (save === 'onlyNew' && earlier.length > 0) return undefined
    if (nth > MOST_OF_ONE_REQUEST) {
      if (nth === MOST_OF_ONE_REQUEST + 1) {
        run.notRecorded(`More than ${MOST_OF_ONE_REQUEST} of one request are not kept: ${fileOf(request, key, 1)}.`)
      }
      return undefined
    }
    // A name given by hand stays.
    const file = there.find(kept => kept.nth === nth)?.file ?? fileOf(request, key, nth)
    const begun = { exchange, kept: { file, key, nth }, earlier, redacted: redaction && { request, redaction } }
    return watching(begun, maxBytes, seen => (typeof seen === 'string' ? run.notRecorded(seen) : write(seen)))
  }

  function write(seen: Seen): void {
    writing = writing.then(turn).then(() =>
      keep(seen).catch(error => {
        seen.gathered.drop()
        failed(seen.kept, error)
      }),
    )
  }

  function failed({ file }: RecordingFile, error: NodeJS.ErrnoException): void {
    const sentence = `${file} is not kept (${error.code ?? error.message}).`
    run.notRecorded(sentence)
    // A full or read-only disk is no bug.
    if (error.code === undefined) report(error)
    else warn(sentence)
  }

  async function keep(seen: Seen): Promise<void> {
    const { kept, isComplete, gathered } = seen
    // An answer that broke off never replaces a complete one.
    if (!isComplete && shelf.of(kept.key).some(({ file }) => file === kept.file)) return gathered.drop()
    const recording = await recordingOf(seen, parts)
    if (typeof recording === 'string') return run.notRecorded(`${kept.file} is not kept: ${recording}.`)
    await shelf.put(kept, recording)
    run.recorded(kept.file)
    if (kept.nth > 1) return
    // What an earlier run heard after it belongs to another conversation.
    for (const old of seen.earlier) {
      if (old.nth > 1 && !run.isOwn(old.file)) await shelf.remove(old)
    }
  }

  /** Resolves when everything that has ended by now is on disk. */
  const flush = () => writing
  return { witness, flush }
}

/** Gathers the answer of an exchange; `over` is called with what was seen of it, or with the reason why that cannot be kept. */
function watching(begun: Begun, maxBytes: number, over: (seen: Seen | string) => void): Named {
  const { kept } = begun
  const recordedAt = new Date().toISOString()
  const startedMs = performance.now()
  const gathered = gather(maxBytes)
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
      // Nothing came that could be kept.
      if (!head) return gathered.drop()
      if (isTooLarge) return over(`Larger than recordings.maxBytes (${maxBytes}): ${kept.file}.`)
      const { status, headers, atMs } = head
      over({
        ...{ ...begun, recordedAt, status, headers, gathered },
        headMs: atMs - startedMs,
        endMs: performance.now() - atMs,
        isComplete: complete || hasSaidDone(gathered.tail()),
      })
    },
  }
}

/** The recording, or why there can be none. */
async function recordingOf(seen: Seen, { redact, maxBytes }: RecorderParts): Promise<Recording | string> {
  const { exchange, recordedAt, status, headers, headMs, endMs, isComplete, gathered } = seen
  const { request, redaction } = seen.redacted ?? redactedRequest(exchange, redact)
  const chunks = await gathered.take()
  const capture: Capture = { ...{ status, headers, headMs, endMs, chunks }, complete: isComplete }
  // Each of these steps is short, but not all of them at once: the first time their code is still cold.
  await turn()
  const response = await responseOf(capture, maxBytes).catch(({ message }: Error) => message)
  if (typeof response === 'string') return response
  await turn()
  return { recordedAt, request, response: await inSlices(redactResponse(response, redaction)) }
}

function redactedRequest(exchange: Exchange, redact: Redact) {
  const redaction = redact(credentialsOf(exchange, redact))
  return { request: requestOf(askedIn(exchange), redaction), redaction }
}

/** Requests that are waiting go first. */
const turn = () => new Promise<void>(resolve => void setImmediate(resolve))
