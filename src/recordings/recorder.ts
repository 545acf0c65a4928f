/** Records the live platform's answers while they are proxied: each is written as soon as the client has it. */
import { EventEmitter, once } from 'node:events'
import { isDeepStrictEqual } from 'node:util'
import type { Exchange } from '../core/exchange.js'
import type { ResponseObserver } from '../core/reply.js'
import type { SerialQueue } from '../core/work.js'
import type { Redaction } from '../redact/index.js'
import { recordingText } from './file-text.js'
import { isProblem } from './folder.js'
import { isEndless, opensServerStream, replyWithoutRecording } from './json-rpc.js'
import type { RequestIdentity } from './key.js'
import type { Known, Lookup } from './lookup.js'
import { fileOf, hashesIn, numbered } from './names.js'
import {
  type Capture,
  hasDone,
  isPassingError,
  isPassingStatus,
  MOST_BODY_BYTES,
  type RecordedChunk,
  type RecordedResponse,
  type Recording,
  responseOf,
} from './recording.js'
import { redactedResponse } from './redacted.js'
import type { Run } from './run.js'
import { saysTheSame } from './same-answer.js'
import type { Tomorrow } from './tomorrow.js'

export interface RecorderParts {
  readonly lookup: Lookup
  readonly run: Run
  readonly identify: (exchange: Exchange) => RequestIdentity
  /** The test that an exchange belongs to; empty for none. */
  readonly testOf: (exchange: Exchange) => string
  readonly tomorrow: Tomorrow
  readonly warn: (sentence: string) => void
  readonly report: (error: unknown) => void
  readonly saveInOrder: SerialQueue
}

/** An observer that knows from the beginning which file it will write. */
export interface NamedObserver extends ResponseObserver {
  readonly file: string
}

/** A client that repeats a request in a loop must not fill the disk. */
const MOST_OF_ONE_REQUEST = 100
/** How long the rest of an answer is awaited after the client has left. */
const MOST_READ_ON_MS = 30_000
/** When answers wait longer than this to be written, the log says how many. */
const LONG_WAIT_MS = 1000

interface OpenRecording extends Pick<Recording, 'recordedAt' | 'test' | 'place' | 'request'> {
  readonly exchange: Exchange
  readonly keys: RequestIdentity
  /** Its file, if all goes well. */
  readonly file: string
  readonly earlier: Known | undefined
  /** Whether its answer goes on until the client leaves. */
  readonly isEndless: boolean
  /** The redaction of the request, to be used for its answer too. */
  readonly redaction: Redaction
}

export class Recorder {
  /** Requests of no test that are under way, by key. */
  readonly #underWay = new Map<string, number>()
  readonly #reserved = new Set<string>()
  /** The first number that may be free, by the name without one. */
  readonly #numbers = new Map<string, number>()
  /** Answers whose clients have left. */
  readonly #readingOn = new Map<OpenRecording, { readonly stop: () => void; readonly timer: NodeJS.Timeout }>()
  readonly #events = new EventEmitter()
  #isClosing = false
  #waiting = 0
  #isLate = false

  constructor(private readonly parts: RecorderParts) {}

  /** Observes an exchange from its beginning; `undefined` if it is not recorded. Call `lookup.ready()` first. */
  observerOf(exchange: Exchange): NamedObserver | undefined {
    const recording = this.#begin(exchange)
    if (!recording) return undefined
    const { file, test, place, keys } = recording
    this.#arrived(recording)
    return observerFor(recording, {
      failure: () => this.parts.run.failed(test, keys.key, place, file),
      left: stop => this.#readOn(recording, stop),
      end: result => {
        this.#ended(recording)
        if (typeof result === 'string') this.parts.run.notRecorded(file, result)
        else if (result) this.#save(recording, result)
        else this.#reserved.delete(file)
      },
    })
  }

  /** The client has left. The rest of the answer is awaited for a while, since the next client may stay. */
  #readOn(recording: OpenRecording, stop: () => void): void {
    this.#readingOn.set(recording, { stop, timer: setTimeout(stop, MOST_READ_ON_MS) })
  }

  /** Resolves when all answers whose clients have left have ended. A second call awaits no more of them. */
  async close(): Promise<void> {
    if (this.#isClosing) for (const { stop } of this.#readingOn.values()) stop()
    this.#isClosing = true
    while (this.#readingOn.size > 0) await once(this.#events, 'read')
    await this.flush()
  }

  /** Resolves when everything that has ended so far is on disk. */
  flush(): Promise<void> {
    return this.parts.saveInOrder(async () => {})
  }

  #begin(exchange: Exchange): OpenRecording | undefined {
    const { run, identify, testOf, tomorrow } = this.parts
    const keys = identify(exchange)
    const { request, redaction, objection } = keys
    if (replyWithoutRecording(exchange, request)) return undefined
    const test = testOf(exchange)
    const first = fileOf(request, keys.conversation, test)
    if (objection !== undefined) {
      run.notRecorded(first, `${first} was not saved: ${objection}.`)
      return undefined
    }
    const place = run.place(test, keys)
    if (place > MOST_OF_ONE_REQUEST) {
      const limit = `At most ${MOST_OF_ONE_REQUEST} recordings of one request are saved: ${first}.`
      run.notRecorded(limit, limit)
      return undefined
    }
    const earlier = this.#earlier(keys, test, place)
    const isKeptName = earlier && !(earlier.isEarlier && !hashesIn(earlier.file))
    const file = isKeptName ? earlier.file : this.#freeName(first)
    this.#reserved.add(file)
    if (earlier) this.#reserved.add(earlier.file)
    this.#sayIfConcurrent(exchange, test)
    tomorrow.look(request, file)
    tomorrow.compare(request, test, keys.key, file)
    const recordedAt = nextMoment()
    return {
      exchange,
      keys,
      test,
      place,
      request,
      redaction,
      earlier,
      file,
      recordedAt,
      isEndless: isEndless(exchange, request),
    }
  }

  /** The recording that this one replaces: that of its place, or else one of an earlier version, which is nobody's yet. */
  #earlier(keys: RequestIdentity, test: string, place: number): Known | undefined {
    const { lookup } = this.parts
    const own = lookup.equal(keys, test).find(one => one.place === place)
    if (own) return own
    if (test === '') return undefined
    return lookup.unnamed(keys).find(one => one.isEarlier && one.test === '' && !this.#reserved.has(one.file))
  }

  #freeName(first: string): string {
    const files = this.parts.lookup.folder.files()
    for (let n = this.#numbers.get(first) ?? 1; ; n++) {
      const file = numbered(first, n)
      if (files.has(file) || this.#reserved.has(file)) continue
      this.#numbers.set(first, n + 1)
      return file
    }
  }

  #sayIfConcurrent({ running, scope }: Exchange, test: string): void {
    if (!running?.isConcurrent || scope !== '') return
    this.parts.run.remark(
      `concurrent ${test}`,
      `Requests of concurrent tests in ${test} cannot be told apart. Give each test a scope: platform.scope(name).`,
    )
  }

  /** Equal requests of no test that overlap cannot be told apart in a replay. */
  #arrived({ test, keys: { key }, file }: OpenRecording): void {
    if (test !== '') return
    const others = this.#underWay.get(key) ?? 0
    this.#underWay.set(key, others + 1)
    if (others > 0)
      this.parts.run.remark(
        'overlap',
        `Equal requests of no test were under way at once (${file}): a replay cannot tell them apart. Name their tests, by usePlatform or the header x-standin-scope.`,
      )
  }

  #ended(recording: OpenRecording): void {
    const { test, keys } = recording
    clearTimeout(this.#readingOn.get(recording)?.timer)
    if (this.#readingOn.delete(recording)) this.#events.emit('read')
    if (test !== '') return
    const { key } = keys
    const others = (this.#underWay.get(key) ?? 1) - 1
    if (others > 0) this.#underWay.set(key, others)
    else this.#underWay.delete(key)
  }

  /** A new file is written in this turn of the event loop, unless its answer has to be decompressed. */
  #save(recording: OpenRecording, capture: Capture): void {
    const { saveInOrder } = this.parts
    const endedMs = performance.now()
    this.#waiting++
    void saveInOrder(async () => {
      this.#sayIfLate(performance.now() - endedMs)
      await this.#write(recording, capture).catch(error => this.#reportFailure(recording, error))
      this.#waiting--
    })
  }

  #sayIfLate(waitedMs: number): void {
    const isLate = waitedMs > LONG_WAIT_MS
    if (isLate && !this.#isLate) this.parts.warn(`${this.#waiting} answers wait to be written to the recordings.`)
    this.#isLate = isLate
  }

  async #write(recording: OpenRecording, capture: Capture): Promise<void> {
    const { run, lookup } = this.parts
    const { file, earlier, test, keys, place, request, redaction } = recording
    const answer = await responseOf(capture, request).catch(({ message }: Error) => message)
    if (typeof answer === 'string') return run.notRecorded(file, `${file} was not saved: ${answer}.`)
    const response = redactedResponse(answer, redaction, request.path)
    const old = earlier && lookup.folder.read(earlier.file)
    const before = old && !isProblem(old) ? old : undefined
    if (before && isWorse(response, before.response)) {
      const why = response.complete ? `the live platform answered ${response.status}` : 'the answer broke off'
      if (!run.isOwn(earlier?.file ?? file))
        run.notRecorded(earlier?.file ?? file, `${earlier?.file ?? file} keeps its earlier answer, because ${why}.`)
      return
    }
    const isSame =
      before !== undefined &&
      isDeepStrictEqual(before.request.condition, request.condition) &&
      saysTheSame(before.response, response)
    const saved = this.#put(recording, isSame ? before : { ...recording, response }, isSame)
    lookup.learn(saved, isSame ? { ...before, test, place } : recording)
    run.recorded({ test, key: keys.key, place, file: saved }, response, isSame)
  }

  #put({ file, earlier, test, place }: OpenRecording, recording: Recording, isSame: boolean): string {
    const { folder } = this.parts.lookup
    const text = () => recordingText({ ...recording, test, place })
    if (earlier?.file === file) {
      if (isSame && !earlier.isEarlier) folder.touch(file)
      else folder.replace(file, text())
      return file
    }
    const saved = folder.create(file, text())
    // A recording of an earlier version gets today's name, which Git shows as a rename.
    if (earlier) folder.remove([earlier.file])
    return saved
  }

  #reportFailure({ file }: OpenRecording, error: NodeJS.ErrnoException): void {
    const { run, report, warn } = this.parts
    const sentence = `${file} was not saved (${error.code ?? error.message}).`
    run.notRecorded(file, sentence)
    // A full or read-only disk is not a bug of ours. The receipt lists the other files.
    if (error.code === undefined) report(error)
    else if (run.isFirst(error.code)) warn(sentence)
  }
}

interface Listeners {
  /** Called as soon as it is clear that the client may try again. */
  readonly failure: () => void
  readonly left: (stop: () => void) => void
  /** Called with the answer, with the reason why it cannot be saved, or with nothing if there was none. */
  readonly end: (result: Capture | string | undefined) => void
}

/** An outage while a suite is recorded again must not cost the answers that are there. */
const isWorse = (response: RecordedResponse, old: RecordedResponse): boolean =>
  (!isWhole(response) && isWhole(old)) || (isPassingError(response) && !isPassingError(old))

const isWhole = ({ complete, leftByClient }: RecordedResponse) => complete || leftByClient === true

/** Collects the answer of an exchange. */
function observerFor({ exchange, file, isEndless }: OpenRecording, on: Listeners): NamedObserver {
  const startedMs = performance.now()
  let head: (Pick<Capture, 'status' | 'headers' | 'statusText'> & { readonly atMs: number }) | undefined
  let chunks: RecordedChunk[] = []
  let totalBytes = 0
  let isRefused = false
  return {
    file,
    ...(!isEndless && { left: on.left }),
    head(status, headers, statusText) {
      head = { status, headers, statusText, atMs: performance.now() }
      if (isPassingStatus(status)) on.failure()
    },
    refused(why) {
      on.failure()
      on.end(`${file} was not saved: ${why}.`)
      isRefused = true
    },
    bytes(bytes) {
      totalBytes += bytes.length
      if (totalBytes > MOST_BODY_BYTES) chunks = []
      // A copy: the bytes are a small part of a large network buffer, which would otherwise stay in memory.
      else if (head) chunks.push({ atMs: performance.now() - head.atMs, bytes: Buffer.from(bytes) })
    },
    end(isWhole, isLeft = false) {
      if (isRefused) return
      const leftByClient = isLeft && head !== undefined && chunks.length > 0
      if (!isWhole && !isEndless && !leftByClient && !hasDone(chunks)) on.failure()
      // There was no answer to save: a server may open its stream and send nothing, or refuse to open it.
      if (!head || (opensServerStream(exchange) && !chunks.some(({ bytes }) => bytes.includes('data:'))))
        return on.end(undefined)
      if (totalBytes > MOST_BODY_BYTES) return on.end(`Larger than ${MOST_BODY_BYTES} bytes: ${file}.`)
      const { atMs, ...rest } = head
      const times = { headMs: atMs - startedMs, endMs: performance.now() - atMs }
      const complete = isWhole || isEndless
      on.end({ ...rest, ...times, chunks, complete, ...(leftByClient && !complete && { leftByClient }) })
    },
  }
}

let latestMs = 0

/** Recordings get different times, whatever the clock does, since their order counts if a field that is ignored later makes their requests equal. */
function nextMoment(): string {
  latestMs = Math.max(Date.now(), latestMs + 1)
  return new Date(latestMs).toISOString()
}
