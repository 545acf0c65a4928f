/** Damages a body while it is written to a response: which bytes are sent, what happens between them, and how it ends. */
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { chunkOf } from '../chat/chunks.js'
import { createEventSplitter, dataOf, halvedEvent } from '../chat/events.js'
import { createInterleaver } from '../chat/interleave.js'
import {
  CHUNKS_BEFORE_STOP,
  eventWithBrokenArguments,
  stoppedCompletion,
  stoppingEvent,
  withBrokenArguments,
} from '../chat/spoil.js'
import type { Fault } from '../core/fault.js'
import { headerIn, noBytes } from '../core/http.js'
import { setWriter, type Writer, writerOf } from './send.js'

/**
 * Bytes to send, or what happens next. `spoilt` says that the bytes are not the original ones. Nothing follows `cut`,
 * `reset`, `truncate` and `end`; the last two end the body normally, as if it were complete.
 */
type DamageStep = Buffer | 'spoilt' | 'stall' | 'cut' | 'reset' | 'truncate' | 'end'

/** The steps to take after the head, for each part of the body, and at its end. */
interface Damage {
  begin(): DamageStep[]
  take(bytes: Buffer): DamageStep[]
  end(): DamageStep[]
}

/** What the head says about a body. */
interface BodyFacts {
  readonly isStream: boolean
  /** Its length in bytes, if the head has one. */
  readonly length: number | undefined
}

const noDamage: Damage = { begin: () => [], take: bytes => [bytes], end: () => [] }

/** The length of a truncated body. */
const halfLength = (length: number) => Math.floor(length / 2)

function damageOf(fault: Fault, { isStream, length }: BodyFacts): Damage {
  const ofEvents = isStream ? streamDamage(fault) : noDamage
  const inner = isStream && fault.interleave ? interleaving(ofEvents) : ofEvents
  if (fault.cutBytes !== undefined) return cutAfter(inner, fault.cutBytes, 'cut')
  const ending = fault.reset ? 'reset' : 'truncate'
  if (!isStream && (fault.finish || fault.malformedArguments)) return rewriting(fault)
  if (isStream || length === 0 || !(fault.reset || fault.truncate)) return inner
  if (length !== undefined) return cutAfter(inner, halfLength(length), ending)
  // Of a body of unknown length, half of the first part is sent.
  return {
    ...noDamage,
    take: bytes => (bytes.length === 0 ? [] : [bytes.subarray(0, halfLength(bytes.length)), ending]),
  }
}

/** Ends the body in this way after `bytes` bytes. */
function cutAfter(inner: Damage, bytes: number, ending: DamageStep): Damage {
  let left = bytes
  const limit = (steps: readonly DamageStep[]) =>
    steps.flatMap(step => {
      if (!Buffer.isBuffer(step)) return [step]
      const sent = step.subarray(0, left)
      left -= sent.length
      return left > 0 ? [sent] : [sent, ending]
    })
  return {
    begin: () => [...limit(inner.begin()), ...(bytes === 0 ? [ending] : [])],
    take: taken => limit(inner.take(taken)),
    end: () => limit(inner.end()),
  }
}

/** Mixes the fragments of parallel tool calls. */
function interleaving(inner: Damage): Damage {
  const interleaver = createInterleaver()
  const pass = ({ events, isMixed }: ReturnType<typeof interleaver.push>): DamageStep[] => [
    ...(isMixed ? ['spoilt' as const] : []),
    ...events.flatMap(inner.take),
  ]
  return {
    begin: inner.begin,
    take: bytes => pass(interleaver.push(bytes)),
    end: () => [...pass(interleaver.rest()), ...inner.end()],
  }
}

/** Changes the JSON of a completion that is no stream. */
function rewriting({ finish, malformedArguments }: Fault): Damage {
  const parts: Buffer[] = []
  return {
    ...noDamage,
    take(bytes) {
      parts.push(bytes)
      return []
    },
    end() {
      const body = Buffer.concat(parts)
      const stopped = finish && stoppedCompletion(body, finish)
      const changed = (malformedArguments && withBrokenArguments(stopped ?? body)) || stopped
      return changed ? ['spoilt', changed] : [body]
    },
  }
}

/** The bytes with which a stream ends before this event, as if it were complete; `undefined` if it goes on. */
function endingBefore(event: Buffer, { end, finish }: Fault, chunks: number): Buffer[] | undefined {
  const chunk = chunkOf(event)
  const most = end ?? (finish && chunk && CHUNKS_BEFORE_STOP)
  if (most === undefined) return undefined
  // The original reason would make the stream complete.
  const isDue = chunks >= most || chunk?.choices?.some(({ finish_reason }) => finish_reason) === true
  if (!isDue) return undefined
  const last = finish && stoppingEvent(event, finish)
  return last ? [last] : []
}

/** A stream is reset after this many chunks. */
const CHUNKS_BEFORE_RESET = 2

/** For event streams. */
function streamDamage(fault: Fault): Damage {
  const splitter = createEventSplitter()
  let chunks = 0
  /** The last chunk so far, held back if the very last one is to be truncated. */
  let held: Buffer | undefined

  /** The steps that are due after this number of chunks. */
  function dueSteps(): DamageStep[] {
    const steps: DamageStep[] = []
    if (chunks === fault.stall) steps.push('stall')
    if (chunks === fault.cut) steps.push('cut')
    if (fault.reset && chunks === CHUNKS_BEFORE_RESET) steps.push('reset')
    if (chunks !== fault.fail) return steps
    const event = JSON.stringify(errorEvent(fault.message ?? brokenStream))
    return [...steps, 'spoilt', Buffer.from(`data: ${event}\n\n`), 'end']
  }

  function passChunk(event: Buffer, isHalved: boolean): DamageStep[] {
    chunks++
    const broken = fault.malformedArguments && eventWithBrokenArguments(event)
    const isHalf = isHalved || chunks === fault.malformed
    const sent = isHalf ? halvedEvent(broken || event) : broken || event
    return [...(sent === event ? [] : ['spoilt' as const]), sent, ...dueSteps()]
  }

  function passHeld({ isLast }: { readonly isLast: boolean }): DamageStep[] {
    const event = held
    held = undefined
    return event ? passChunk(event, isLast) : []
  }

  function passDone(event: Buffer): DamageStep[] {
    if (fault.done === 'missing') return ['spoilt']
    return fault.done === 'double' ? [event, 'spoilt', event] : [event]
  }

  function passEvent(event: Buffer): DamageStep[] {
    const data = dataOf(event)
    if (data === undefined) return [event]
    if (data.trim() === '[DONE]') return [...passHeld({ isLast: true }), ...passDone(event)]
    const ending = endingBefore(event, fault, chunks)
    if (ending) return ['spoilt', ...ending, ...(chunkOf(event) ? passDone(doneEvent) : []), 'end']
    if (!fault.truncate) return passChunk(event, false)
    const steps = passHeld({ isLast: false })
    held = event
    return steps
  }

  return {
    begin: dueSteps,
    take: bytes => splitter.push(bytes).flatMap(passEvent),
    end() {
      const rest = splitter.rest()
      const steps = [...(rest.length > 0 ? passEvent(rest) : []), ...passHeld({ isLast: true })]
      return fault.reset ? [...steps, 'reset'] : steps
    },
  }
}

/** Applies `fault` to everything that is written to `response` from now on. */
export function damageResponse(response: ServerResponse, fault: Fault): DamagedWriter {
  const writer = new DamagedWriter(response, fault)
  response.once('close', () => writer.close())
  setWriter(response, writer)
  return writer
}

/** The time for the client to read what was sent, since a reset discards what it has not read yet. */
const RESET_DELAY_MS = 50

/** Sits between the code that writes an answer and the response. */
export class DamagedWriter implements Writer {
  /** Whether the fault took effect. An answer may be too short for it. */
  happened = false
  /** How much of the body was sent. */
  sentBytes = 0
  protected inner: Writer
  protected isStalled = false
  private damage = noDamage
  private hasLength = false
  /** Whether nothing more is sent. */
  private isOver = false
  private stallTimer: NodeJS.Timeout | undefined
  /** The steps to take next. During a stall, writers that wait for `drain` add no more. */
  private queue: DamageStep[] = []

  constructor(
    protected readonly response: ServerResponse,
    private readonly fault: Fault,
  ) {
    this.inner = writerOf(response)
  }

  /** A stalled response counts as full, so that its writer waits, and with it the live platform. */
  get writableNeedDrain(): boolean {
    return this.isOver || this.isStalled || this.inner.writableNeedDrain
  }

  writeHead(status: number, reason: string | undefined, headers: readonly string[]): void {
    const facts = bodyFactsIn(headers)
    const damagedHeaders = damagedHeadersOf(headers, this.fault, facts)
    this.damage = damageOf(this.fault, facts)
    this.happened = this.fault.contentType !== undefined
    this.hasLength = headerIn(damagedHeaders, 'content-length') !== undefined
    this.inner.writeHead(status, reason, damagedHeaders)
    this.run(this.damage.begin())
  }

  flushHeaders(): void {
    if (!this.isOver) this.inner.flushHeaders()
  }

  write(chunk: string | Buffer, encoding?: BufferEncoding): boolean {
    // With an empty write, node sends the head.
    if (!this.isOver && chunk.length === 0) this.inner.write(noBytes)
    this.run(this.damage.take(bytesOf(chunk, encoding)))
    return !this.writableNeedDrain
  }

  end(chunk: string | Buffer = noBytes, encoding?: BufferEncoding): void {
    this.run([...this.damage.take(bytesOf(chunk, encoding)), ...this.damage.end(), 'end'])
  }

  close(): void {
    this.isOver = true
    clearTimeout(this.stallTimer)
  }

  private run(steps: readonly DamageStep[]): void {
    this.queue.push(...steps)
    while (!this.isOver && !this.isStalled) {
      const step = this.queue.shift()
      if (step === undefined) return
      this.take(step)
    }
  }

  private take(step: DamageStep): void {
    if (Buffer.isBuffer(step)) {
      this.sentBytes += step.length
      if (step.length > 0) this.inner.write(step)
      return
    }
    if (step !== 'end') this.happened = true
    const { response, fault } = this
    switch (step) {
      case 'stall':
        this.isStalled = true
        this.onStall()
        if (fault.stallMs !== undefined) this.stallTimer = setTimeout(() => this.endStall(), fault.stallMs)
        return
      case 'cut':
        // If neither a length nor chunks mark the end of the body, a normal close would look like its end.
        if (this.hasLength || response.req.httpVersion === '1.1') return this.sendThen(() => response.destroy())
        return this.sendThen(() => resetAfterDelay(response))
      case 'reset':
        return this.sendThen(() => resetAfterDelay(response))
      case 'truncate':
      case 'end':
        this.isOver = true
        this.inner.end()
    }
  }

  /** Takes this last step instead of what waits. */
  protected stopWith(step: 'cut' | 'end'): void {
    this.queue = []
    this.isStalled = false
    this.take(step)
  }

  /** Called when a stall begins. */
  protected onStall(): void {}

  protected endStall(): void {
    this.isStalled = false
    this.run([])
    if (!this.writableNeedDrain) this.response.emit('drain')
  }

  /** Calls `act` when everything written so far was sent, and sends nothing more. */
  private sendThen(act: () => void): void {
    this.isOver = true
    this.response.write(noBytes, act)
  }
}

function resetAfterDelay(response: ServerResponse): void {
  // If this process was busy until then, a client in it first reads what has arrived. Node 22 would take the reset for a normal end.
  const timer = setTimeout(() => setImmediate(reset, response), RESET_DELAY_MS)
  response.once('close', () => clearTimeout(timer))
}

const bytesOf = (chunk: string | Buffer, encoding: BufferEncoding = 'utf8') =>
  typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk

function bodyFactsIn(headers: readonly string[]): BodyFacts {
  const length = headerIn(headers, 'content-length')
  const encoding = headerIn(headers, 'content-encoding') ?? 'identity'
  return {
    // A compressed stream cannot be split into events.
    isStream: /^text\/event-stream\b/i.test(headerIn(headers, 'content-type') ?? '') && encoding === 'identity',
    length: length === undefined ? undefined : Number(length),
  }
}

/** The headers to send with this fault: with its content type, and without a length that the damage would make wrong. */
function damagedHeadersOf(headers: readonly string[], fault: Fault, { isStream, length }: BodyFacts): string[] {
  const { contentType, truncate } = fault
  const { malformed, done, fail, end, interleave, finish, malformedArguments } = fault
  const changesStream = (malformed ?? done ?? fail ?? end ?? interleave) !== undefined
  const changesContent = (finish ?? malformedArguments) !== undefined
  const changesLength = truncate || changesContent || (isStream && changesStream)
  const sentHeaders = headers.filter((_text, i) => {
    const name = headers[i - (i % 2)]?.toLowerCase()
    if (name === 'content-type') return contentType === undefined
    return name !== 'content-length' || !changesLength
  })
  if (contentType !== undefined) sentHeaders.push('content-type', contentType)
  if (truncate && !isStream && length !== undefined) sentHeaders.push('content-length', String(halfLength(length)))
  return sentHeaders
}

/** Resets the connection: sends RST instead of FIN. */
export function reset(response: ServerResponse): void {
  const resetSocket = (socket: Socket) => void socket.resetAndDestroy()
  // A pipelined request has no socket until it is its turn.
  if (response.socket) resetSocket(response.socket)
  else response.once('socket', resetSocket)
}

const doneEvent = Buffer.from('data: [DONE]\n\n')

/** The error event at the end of a stream. */
const brokenStream = 'Something went wrong on the server while the answer was being sent.'

/**
 * An error as an event of a stream, in OpenAI's format: the platform's document covers HTTP errors only, and the AI SDK
 * shows no other format.
 */
const errorEvent = (message: string) => ({ error: { message, type: 'server_error', param: null, code: null } })
