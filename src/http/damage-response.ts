/** Makes a response apply a fault to everything that is written to it. */
import { OutgoingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Fault } from '../core/fault.js'
import { headerIn } from '../core/http.js'
import { type BodyFacts, type Damage, type DamageStep, damageOf, halfLength } from './damage.js'

export interface DamagedResponse {
  /** Whether the fault took effect. An answer may be too short for it. */
  happened(): boolean
  /** How much of the body was sent. */
  sentBytes(): number
}

/** The arguments of `writeHead`; the headers as node's flat array. */
interface Head {
  readonly status: number
  readonly reason: string | undefined
  readonly headers: readonly string[]
}

const noBytes = Buffer.alloc(0)

/** The time for the client to read what was sent, since a reset discards what it has not read yet. */
const RESET_DELAY_MS = 50

/**
 * Applies `fault` to everything that is written to `response` from now on. The head is held back until the body begins
 * or the head is flushed. Node always does the framing of chunks; PacedWriter sees from `chunkedEncoding` that it must
 * not.
 */
export function damageResponse(response: ServerResponse, fault: Fault): DamagedResponse {
  const body = new DamagedBody(response, fault)
  response.once('close', () => body.close())
  Object.defineProperty(response, 'writableNeedDrain', { get: () => body.isFull() })
  Object.assign(response, {
    writeHead(status: number, ...rest: [string, readonly string[]] | [readonly string[]]) {
      const [reason, headers] = rest.length === 2 ? rest : [undefined, rest[0]]
      body.head = { status, reason, headers }
      return response
    },
    flushHeaders: () => body.flushHeaders(),
    write: (chunk: string | Buffer, encoding?: BufferEncoding) => body.write(bytesOf(chunk, encoding)),
    end(chunk: string | Buffer = noBytes, more?: BufferEncoding | (() => void)) {
      const last = bytesOf(chunk, typeof more === 'string' ? more : undefined)
      body.end(last, typeof more === 'function' ? more : undefined)
      return response
    },
  })
  return { happened: () => body.happened, sentBytes: () => body.sentBytes }
}

/** The original methods of a response. */
const originalMethods = (response: ServerResponse) => ({
  writeHead: response.writeHead.bind(response) as (status: number, ...rest: unknown[]) => void,
  flushHeaders: response.flushHeaders.bind(response),
  write: response.write.bind(response) as (bytes: Buffer, sent?: () => void) => void,
  end: response.end.bind(response) as (sent?: () => void) => void,
})

/** Sits between the code that writes a body and the response. */
class DamagedBody {
  head: Head = { status: 200, reason: undefined, headers: [] }
  happened = false
  sentBytes = 0
  private readonly original: ReturnType<typeof originalMethods>
  private damage: Damage | undefined
  private hasLength = false
  /** Whether nothing more is sent. */
  private isOver = false
  private stall: { readonly timer: NodeJS.Timeout | undefined } | undefined
  /** The steps to take next. During a stall, writers that wait for `drain` add no more. */
  private queue: Iterator<DamageStep>[] = []
  /** Set when the writer has ended the body. */
  private ended: { readonly sent: (() => void) | undefined } | undefined

  constructor(
    private readonly response: ServerResponse,
    private readonly fault: Fault,
  ) {
    this.original = originalMethods(response)
  }

  /** A stalled response counts as full, so that its writer waits, and with it the live platform. */
  isFull(): boolean {
    const { isOver, stall, response } = this
    return (
      isOver || stall !== undefined || Reflect.get(OutgoingMessage.prototype, 'writableNeedDrain', response) === true
    )
  }

  flushHeaders(): void {
    this.start()
    if (!this.isOver) this.original.flushHeaders()
  }

  write(bytes: Buffer): boolean {
    const { take } = this.start()
    // With an empty write, node sends the head.
    if (!this.isOver && bytes.length === 0) this.original.write(noBytes)
    if (!this.isOver) this.run(take(bytes))
    return !this.isFull()
  }

  end(last: Buffer, sent: (() => void) | undefined): void {
    const { take, end } = this.start()
    if (this.isOver) return
    this.ended = { sent }
    this.queue.push(take(last)[Symbol.iterator]())
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
    this.original.writeHead(status, ...(reason === undefined ? [] : [reason]), damagedHeaders)
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
        if (this.ended) this.finish(this.ended.sent)
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
        if (step.bytes.length > 0) this.original.write(step.bytes)
        return
      case 'stall':
        this.stall = {
          timer: fault.stallMs === undefined ? undefined : setTimeout(() => this.endStall(), fault.stallMs),
        }
        return
      case 'cut':
        // If neither a length nor chunks mark the end of the body, a normal close would look like its end.
        if (this.hasLength || response.chunkedEncoding) return this.sendThen(() => response.destroy())
        return this.sendThen(() => resetAfterDelay(response))
      case 'reset':
        return this.sendThen(() => resetAfterDelay(response))
      case 'end':
        return this.finish(undefined)
    }
  }

  private finish(sent: (() => void) | undefined): void {
    this.isOver = true
    this.original.end(sent)
  }

  private endStall(): void {
    this.stall = undefined
    this.runQueue()
    if (!this.isFull()) this.response.emit('drain')
  }

  /** Calls `act` when everything written so far was sent, and sends nothing more. */
  private sendThen(act: () => void): void {
    this.isOver = true
    this.original.write(noBytes, act)
  }
}

function resetAfterDelay(response: ServerResponse): void {
  const timer = setTimeout(() => reset(response), RESET_DELAY_MS)
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
