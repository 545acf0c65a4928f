/** Makes a response damage the body that is written to it, whichever code writes it. */
import { OutgoingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Fault } from '../core/fault.js'
import { headerIn } from '../core/http.js'
import { type BodyFacts, halfOf, type Treatment, type TreatmentStep, treatmentOf } from './treatment.js'

export interface SpoiledResponse {
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

const nothing = Buffer.alloc(0)

/** A reset discards what the client has not read yet, so it needs time to read. There is no way to know when it has. */
const READING_MS = 50

/**
 * Applies `fault` to everything that is written to `response` from now on. The head is held back until the body begins
 * or the head is flushed. Node then does the framing: code that frames chunks itself sees from `chunkedEncoding` that
 * it must not.
 */
export function spoil(response: ServerResponse, fault: Fault): SpoiledResponse {
  const body = new SpoiltBody(response, fault)
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
    end(chunk: string | Buffer = nothing, more?: BufferEncoding | (() => void)) {
      const last = bytesOf(chunk, typeof more === 'string' ? more : undefined)
      body.end(last, typeof more === 'function' ? more : undefined)
      return response
    },
  })
  return { happened: () => body.happened, sentBytes: () => body.sentBytes }
}

/** The original methods of a response. */
const realMethods = (response: ServerResponse) => ({
  writeHead: response.writeHead.bind(response) as (status: number, ...rest: unknown[]) => void,
  flushHeaders: response.flushHeaders.bind(response),
  write: response.write.bind(response) as (bytes: Buffer, sent?: () => void) => void,
  end: response.end.bind(response) as (sent?: () => void) => void,
})

/** Sits between the code that writes a body and the response. */
class SpoiltBody {
  head: Head = { status: 200, reason: undefined, headers: [] }
  happened = false
  sentBytes = 0
  private readonly real: ReturnType<typeof realMethods>
  private treatment: Treatment | undefined
  private isMeasured = false
  /** Nothing more is sent. */
  private over = false
  private silence: { readonly timer: NodeJS.Timeout | undefined } | undefined
  /** Steps still to be done. During a silence it grows only as far as writers that wait for `drain` let it. */
  private queue: Iterator<TreatmentStep>[] = []
  /** Set when the writer has ended the body. */
  private ended: { readonly sent: (() => void) | undefined } | undefined

  constructor(
    private readonly response: ServerResponse,
    private readonly fault: Fault,
  ) {
    this.real = realMethods(response)
  }

  /** A silent response counts as full, which holds up its writer, including the live platform. */
  isFull(): boolean {
    const { over, silence, response } = this
    return (
      over || silence !== undefined || Reflect.get(OutgoingMessage.prototype, 'writableNeedDrain', response) === true
    )
  }

  flushHeaders(): void {
    this.open()
    if (!this.over) this.real.flushHeaders()
  }

  write(bytes: Buffer): boolean {
    const { take } = this.open()
    // An empty write sends the head.
    if (!this.over && bytes.length === 0) this.real.write(nothing)
    if (!this.over) this.run(take(bytes))
    return !this.isFull()
  }

  end(last: Buffer, sent: (() => void) | undefined): void {
    const { take, end } = this.open()
    if (this.over) return
    this.ended = { sent }
    this.queue.push(take(last)[Symbol.iterator]())
    this.run(end())
  }

  close(): void {
    this.over = true
    this.queue = []
    clearTimeout(this.silence?.timer)
  }

  /** Sends the head if that has not happened yet. */
  private open(): Treatment {
    if (this.treatment) return this.treatment
    const { head, fault } = this
    const { status, reason, headers } = head
    const facts = factsIn(headers)
    const treatment = treatmentOf(fault, facts)
    this.treatment = treatment
    if (fault.contentType !== undefined) this.happened = true
    const leaving = spoiltHeaders(headers, fault, facts)
    this.isMeasured = headerIn(leaving, 'content-length') !== undefined
    this.real.writeHead(status, ...(reason === undefined ? [] : [reason]), leaving)
    this.run(treatment.begin())
    return treatment
  }

  private run(steps: Iterable<TreatmentStep>): void {
    this.queue.push(steps[Symbol.iterator]())
    this.goOn()
  }

  private goOn(): void {
    while (!this.over && !this.silence) {
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

  private take(step: TreatmentStep): void {
    const { response, fault } = this
    if (step.kind !== 'pass' || step.spoilt) this.happened = true
    switch (step.kind) {
      case 'pass':
        this.sentBytes += step.bytes.length
        if (step.bytes.length > 0) this.real.write(step.bytes)
        return
      case 'stall':
        this.silence = {
          timer: fault.stallMs === undefined ? undefined : setTimeout(() => this.speak(), fault.stallMs),
        }
        return
      case 'cut':
        // If neither a length nor chunks mark the end of the body, a normal close would look like its end.
        if (this.isMeasured || response.chunkedEncoding) return this.stopThen(() => response.destroy())
        return this.stopThen(() => resetSoon(response))
      case 'reset':
        return this.stopThen(() => resetSoon(response))
      case 'end':
        return this.finish(undefined)
    }
  }

  private finish(sent: (() => void) | undefined): void {
    this.over = true
    this.real.end(sent)
  }

  private speak(): void {
    this.silence = undefined
    this.goOn()
    if (!this.isFull()) this.response.emit('drain')
  }

  /** Sends everything written so far, and acts only then, so that the client receives it first. */
  private stopThen(act: () => void): void {
    this.over = true
    this.real.write(nothing, act)
  }
}

function resetSoon(response: ServerResponse): void {
  const timer = setTimeout(() => reset(response), READING_MS)
  response.once('close', () => clearTimeout(timer))
}

const bytesOf = (chunk: string | Buffer, encoding: BufferEncoding = 'utf8') =>
  typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk

function factsIn(headers: readonly string[]): BodyFacts {
  const length = headerIn(headers, 'content-length')
  const encoding = headerIn(headers, 'content-encoding') ?? 'identity'
  return {
    // The events of a compressed stream cannot be told apart.
    isStream: /^text\/event-stream\b/i.test(headerIn(headers, 'content-type') ?? '') && encoding === 'identity',
    length: length === undefined ? undefined : Number(length),
  }
}

/**
 * The headers to send with this fault: its content type, and no length that would be wrong without the client noticing.
 */
function spoiltHeaders(headers: readonly string[], fault: Fault, { isStream, length }: BodyFacts): string[] {
  const { contentType, truncate } = fault
  const kept = headers.filter((_text, i) => {
    const name = headers[i - (i % 2)]?.toLowerCase()
    if (name === 'content-type') return contentType === undefined
    return name !== 'content-length' || !(truncate || (isStream && changesLength(fault)))
  })
  if (contentType !== undefined) kept.push('content-type', contentType)
  if (truncate && !isStream && length !== undefined) kept.push('content-length', String(halfOf(length)))
  return kept
}

const changesLength = ({ malformedChunk, done, errorAfterChunks }: Fault) =>
  (malformedChunk ?? done ?? errorAfterChunks) !== undefined

/** Resets the connection: sends RST instead of FIN. */
export function reset(response: ServerResponse): void {
  const tear = (socket: Socket) => void socket.resetAndDestroy()
  // A pipelined request has no socket until it is its turn.
  if (response.socket) tear(response.socket)
  else response.once('socket', tear)
}
