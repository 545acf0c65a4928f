/** Applies a fault to everything that is written to a response. */
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Fault } from '../core/fault.js'
import { headerIn } from '../core/http.js'
import { type BodyFacts, type Damage, type DamageStep, damageOf, halfLength } from './damage.js'
import { setWriter, type Writer, writerOf } from './send.js'

/** The arguments of `writeHead`. */
interface Head {
  readonly status: number
  readonly reason: string | undefined
  readonly headers: readonly string[]
}

const noBytes = Buffer.alloc(0)

/** The time for the client to read what was sent, since a reset discards what it has not read yet. */
const RESET_DELAY_MS = 50

/** Applies `fault` to everything that is written to `response` from now on. */
export function damageResponse(response: ServerResponse, fault: Fault): DamagedWriter {
  const writer = new DamagedWriter(response, fault)
  response.once('close', () => writer.close())
  setWriter(response, writer)
  return writer
}

/** Sits between the code that writes an answer and the response. Holds the head back until the body begins or the head is flushed. */
export class DamagedWriter implements Writer {
  /** Whether the fault took effect. An answer may be too short for it. */
  happened = false
  /** How much of the body was sent. */
  sentBytes = 0
  private head: Head = { status: 200, reason: undefined, headers: [] }
  private readonly inner: Writer
  private damage: Damage | undefined
  private hasLength = false
  /** Whether nothing more is sent. */
  private isOver = false
  private stall: { readonly timer: NodeJS.Timeout | undefined } | undefined
  /** The steps to take next. During a stall, writers that wait for `drain` add no more. */
  private queue: Iterator<DamageStep>[] = []
  /** Whether the writer has ended the body. */
  private isEnded = false

  constructor(
    private readonly response: ServerResponse,
    private readonly fault: Fault,
  ) {
    this.inner = writerOf(response)
  }

  /** A stalled response counts as full, so that its writer waits, and with it the live platform. */
  get writableNeedDrain(): boolean {
    return this.isOver || this.stall !== undefined || this.inner.writableNeedDrain
  }

  writeHead(status: number, reason: string | undefined, headers: readonly string[]): void {
    this.head = { status, reason, headers }
  }

  flushHeaders(): void {
    this.start()
    if (!this.isOver) this.inner.flushHeaders()
  }

  write(chunk: string | Buffer, encoding?: BufferEncoding): boolean {
    const { take } = this.start()
    // With an empty write, node sends the head.
    if (!this.isOver && chunk.length === 0) this.inner.write(noBytes)
    if (!this.isOver) this.run(take(bytesOf(chunk, encoding)))
    return !this.writableNeedDrain
  }

  end(chunk: string | Buffer = noBytes, encoding?: BufferEncoding): void {
    const { take, end } = this.start()
    if (this.isOver) return
    this.isEnded = true
    this.queue.push(take(bytesOf(chunk, encoding))[Symbol.iterator]())
    this.run(end())
  }

  close(): void {
    this.isOver = true
    this.queue = []
    clearTimeout(this.stall?.timer)
  }

  /** Sends the head if that has not happened yet. */
  private start(): Damage {
    if (this.damage) return this.damage
    const { head, fault } = this
    const { status, reason, headers } = head
    const facts = bodyFactsOf(headers)
    const treatment = damageOf(fault, facts)
    this.damage = treatment
    if (fault.contentType !== undefined) this.happened = true
    const damagedHeaders = headersFor(headers, fault, facts)
    this.hasLength = headerIn(damagedHeaders, 'content-length') !== undefined
    this.inner.writeHead(status, reason, damagedHeaders)
    this.run(treatment.begin())
    return treatment
  }

  private run(steps: Iterable<DamageStep>): void {
    this.queue.push(steps[Symbol.iterator]())
    this.runQueue()
  }

  private runQueue(): void {
    while (!this.isOver && !this.stall) {
      const [first] = this.queue
      if (!first) {
        if (this.isEnded) this.finish()
        return
      }
      const { done, value } = first.next()
      if (done) this.queue.shift()
      else this.take(value)
    }
  }

  private take(step: DamageStep): void {
    const { response, fault } = this
    if (step.kind !== 'pass' || step.isChanged) this.happened = true
    switch (step.kind) {
      case 'pass':
        this.sentBytes += step.bytes.length
        if (step.bytes.length > 0) this.inner.write(step.bytes)
        return
      case 'stall':
        this.stall = {
          timer: fault.stallMs === undefined ? undefined : setTimeout(() => this.endStall(), fault.stallMs),
        }
        return
      case 'cut':
        // If neither a length nor chunks mark the end of the body, a normal close would look like its end.
        if (this.hasLength || response.req.httpVersion === '1.1') return this.sendThen(() => response.destroy())
        return this.sendThen(() => resetAfterDelay(response))
      case 'reset':
        return this.sendThen(() => resetAfterDelay(response))
      case 'end':
        return this.finish()
    }
  }

  private finish(): void {
    this.isOver = true
    this.inner.end()
  }

  private endStall(): void {
    this.stall = undefined
    this.runQueue()
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

function bodyFactsOf(headers: readonly string[]): BodyFacts {
  const length = headerIn(headers, 'content-length')
  const encoding = headerIn(headers, 'content-encoding') ?? 'identity'
  return {
    // A compressed stream cannot be split into events.
    isStream: /^text\/event-stream\b/i.test(headerIn(headers, 'content-type') ?? '') && encoding === 'identity',
    length: length === undefined ? undefined : Number(length),
  }
}

/** The headers to send with this fault: with its content type, and without a length that the damage would make wrong. */
function headersFor(headers: readonly string[], fault: Fault, { isStream, length }: BodyFacts): string[] {
  const { contentType, truncate } = fault
  const sentHeaders = headers.filter((_text, i) => {
    const name = headers[i - (i % 2)]?.toLowerCase()
    if (name === 'content-type') return contentType === undefined
    return name !== 'content-length' || !(truncate || (isStream && changesLength(fault)))
  })
  if (contentType !== undefined) sentHeaders.push('content-type', contentType)
  if (truncate && !isStream && length !== undefined) sentHeaders.push('content-length', String(halfLength(length)))
  return sentHeaders
}

const changesLength = ({ malformedChunk, done, errorAfterChunks }: Fault) =>
  (malformedChunk ?? done ?? errorAfterChunks) !== undefined

/** Resets the connection: sends RST instead of FIN. */
export function reset(response: ServerResponse): void {
  const resetSocket = (socket: Socket) => void socket.resetAndDestroy()
  // A pipelined request has no socket until it is its turn.
  if (response.socket) resetSocket(response.socket)
  else response.once('socket', resetSocket)
}
