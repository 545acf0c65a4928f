/** Makes one response spoil the body that it is given, whatever writes it. */
import { OutgoingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Fault } from '../core/fault.js'
import { headerIn } from '../core/headers.js'
import { type BodyFacts, halfOf, type Treatment, type TreatmentStep, treatmentOf } from './treatment.js'

export interface Spoilt {
  /** Whether anything went wrong: an answer may be too short for it. */
  happened(): boolean
}

/** What was said in `writeHead`; the headers as node's flat array. */
interface Head {
  readonly status: number
  readonly reason: string | undefined
  readonly headers: readonly string[]
}

const nothing = Buffer.alloc(0)

/** What a client has not read yet is lost to it with a reset, or the reset to it; and when it has read nobody can tell. */
const READING_MS = 50

/**
 * From now on `response` does with its body what `fault` says. It holds its head back until the body begins or the head is flushed, and then
 * leaves the framing to node: whoever frames chunks by themselves sees from `chunkedEncoding` that nobody has asked for any.
 */
export function spoil(response: ServerResponse, fault: Fault): Spoilt {
  const real = {
    writeHead: response.writeHead.bind(response) as (status: number, ...rest: unknown[]) => void,
    flushHeaders: response.flushHeaders.bind(response),
    write: response.write.bind(response) as (bytes: Buffer, sent?: () => void) => void,
    end: response.end.bind(response) as (sent?: () => void) => void,
  }
  let head: Head = { status: 200, reason: undefined, headers: [] }
  let treatment: Treatment | undefined
  let isMeasured = false
  let happened = false
  /** Nothing more leaves. */
  let over = false
  let silence: { readonly timer: NodeJS.Timeout | undefined } | undefined
  /** What is still to be done. During a silence no more is added than writers add that heed being told to wait. */
  let queue: Iterator<TreatmentStep>[] = []
  /** Whoever writes has come to the end. */
  let ended: { readonly sent?: () => void } | undefined

  // A response that is full for as long as it is silent holds up whoever writes to it, the live platform included.
  const isFull = () =>
    over || silence !== undefined || Reflect.get(OutgoingMessage.prototype, 'writableNeedDrain', response) === true

  function run(steps: Iterable<TreatmentStep>): void {
    queue.push(steps[Symbol.iterator]())
    goOn()
  }

  function goOn(): void {
    while (!over && !silence) {
      const [first] = queue
      if (!first) {
        if (ended) finish(ended)
        return
      }
      const { done, value } = first.next()
      if (done) queue.shift()
      else take(value)
    }
  }

  function take(step: TreatmentStep): void {
    if (step.kind !== 'pass' || step.spoilt) happened = true
    switch (step.kind) {
      case 'pass':
        if (step.bytes.length > 0) real.write(step.bytes)
        return
      case 'stall':
        silence = { timer: fault.stallMs === undefined ? undefined : setTimeout(speak, fault.stallMs) }
        return
      case 'cut':
        // Where neither a length nor a frame tells the end of a body, a connection that is closed would be one.
        return stopThen(isMeasured || response.chunkedEncoding ? () => response.destroy() : resetSoon)
      case 'reset':
        return stopThen(resetSoon)
      case 'end':
        over = true
        return real.end()
    }
  }

  function finish({ sent }: { readonly sent?: () => void }): void {
    over = true
    real.end(sent)
  }

  function speak(): void {
    silence = undefined
    goOn()
    if (!isFull()) response.emit('drain')
  }

  /** The client gets what was before, and notices afterwards. */
  function stopThen(act: () => void): void {
    over = true
    real.write(nothing, act)
  }

  function resetSoon(): void {
    const timer = setTimeout(() => reset(response), READING_MS)
    response.once('close', () => clearTimeout(timer))
  }

  function openHead(): Treatment {
    if (treatment) return treatment
    const { status, reason, headers } = head
    const facts = factsIn(headers)
    treatment = treatmentOf(fault, facts)
    if (fault.contentType !== undefined) happened = true
    const leaving = spoiltHeaders(headers, fault, facts)
    isMeasured = headerIn(leaving, 'content-length') !== undefined
    real.writeHead(status, ...(reason === undefined ? [] : [reason]), leaving)
    run(treatment.begin())
    return treatment
  }

  response.once('close', () => {
    over = true
    queue = []
    clearTimeout(silence?.timer)
  })
  Object.defineProperty(response, 'writableNeedDrain', { get: isFull })
  Object.assign(response, {
    writeHead(status: number, ...rest: [string, readonly string[]] | [readonly string[]]) {
      const [reason, headers] = rest.length === 2 ? rest : [undefined, rest[0]]
      head = { status, reason, headers }
      return response
    },
    flushHeaders() {
      openHead()
      if (!over) real.flushHeaders()
    },
    write(chunk: string | Buffer, encoding?: BufferEncoding) {
      const { take } = openHead()
      // Even nothing makes the head leave.
      if (!over && chunk.length === 0) real.write(nothing)
      if (!over) run(take(bytesOf(chunk, encoding)))
      return !isFull()
    },
    end(chunk: string | Buffer = nothing, more?: BufferEncoding | (() => void)) {
      const { take, end } = openHead()
      if (over) return response
      ended = typeof more === 'function' ? { sent: more } : {}
      const last = bytesOf(chunk, typeof more === 'string' ? more : undefined)
      queue.push(take(last)[Symbol.iterator]())
      run(end())
      return response
    },
  })
  return { happened: () => happened }
}

const bytesOf = (chunk: string | Buffer, encoding: BufferEncoding = 'utf8') =>
  typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk

function factsIn(headers: readonly string[]): BodyFacts {
  const length = headerIn(headers, 'content-length')
  const encoding = headerIn(headers, 'content-encoding') ?? 'identity'
  return {
    // The events of an encoded stream cannot be told apart.
    isStream: /^text\/event-stream\b/i.test(headerIn(headers, 'content-type') ?? '') && encoding === 'identity',
    length: length === undefined ? undefined : Number(length),
  }
}

/** The headers as they are with this fault: another type, and no length that will not come true unnoticed. */
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

/** Resets the connection: a RST where a FIN is usual. */
export function reset(response: ServerResponse): void {
  const tear = (socket: Socket) => void socket.resetAndDestroy()
  // Of requests that were sent in one go the later ones have no socket until it is their turn.
  if (response.socket) tear(response.socket)
  else response.once('socket', tear)
}
