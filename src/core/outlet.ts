/** Where an answer is written, and what changes its pieces on the way to the client: a fault, or a hold. */
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { headerIn, noBytes } from './http.js'

/**
 * What the code that sends answers may do with a response. Node's own has these members; `drain` and `close` are always
 * events of the response itself.
 */
export interface Outlet {
  /** Headers are node's flat array of names and values. */
  writeHead(status: number, reason: string | undefined, headers: string[]): unknown
  /** Sends the head now, if the body begins later. */
  flushHeaders(): void
  /** Returns whether more may be written before `drain`. */
  write(chunk: string | Buffer, encoding?: BufferEncoding): boolean
  end(chunk?: string | Buffer, encoding?: BufferEncoding): unknown
  readonly writableNeedDrain: boolean
}

const OUTLET = Symbol('outlet')
type WrittenResponse = ServerResponse & { [OUTLET]?: Outlet }

/** Puts an outlet in front of a response. */
export function setOutlet(response: WrittenResponse, outlet: Outlet): void {
  response[OUTLET] = outlet
}

/** What answers to this response are written to. A request under way can be held, so it is looked up for each piece. */
export const outletOf = (response: WrittenResponse): Outlet => response[OUTLET] ?? response

/** How a body ends early: `cut` closes the connection, `reset` resets it, and `end` ends the body as if it were complete. */
export type Ending = 'cut' | 'reset' | 'end'

export interface Transform {
  /** The headers to send instead, as node's flat array. */
  head(headers: readonly string[]): string[]
  /**
   * The pieces to send instead of those that come in. Nothing follows an ending. `gone` is aborted when the client has
   * left.
   */
  pieces(pieces: AsyncIterable<Buffer>, gone: AbortSignal): AsyncIterable<Buffer | Ending>
  /** Whether it takes nothing at the moment. */
  readonly isStopped?: boolean
}

/** Lets everything that is written to a response from now on pass through a transform. */
export class TransformedOutlet implements Outlet {
  /** How much of the body came in, and how much was passed on. */
  givenBytes = 0
  sentBytes = 0
  private readonly inner: Outlet
  private readonly gone = new AbortController()
  /** Pieces that the transform has not taken yet. */
  private readonly waiting: Buffer[] = []
  /** Set while the transform waits for a piece. */
  private wake: (() => void) | undefined
  private hasLength = false
  private isEnded = false
  /** Whether nothing more is sent. */
  private isOver = false

  constructor(
    private readonly response: ServerResponse,
    private readonly transform: Transform,
  ) {
    this.inner = outletOf(response)
    setOutlet(response, this)
    response.once('close', () => {
      this.isOver = true
      this.gone.abort()
    })
    if (response.headersSent) void this.run()
  }

  /** While a piece waits or is on its way, the writer waits as well, and with it the live platform. */
  get writableNeedDrain(): boolean {
    const isBusy = this.wake === undefined || this.waiting.length > 0
    return this.isOver || isBusy || this.transform.isStopped === true || this.inner.writableNeedDrain
  }

  writeHead(status: number, reason: string | undefined, headers: readonly string[]): void {
    const changed = this.transform.head(headers)
    this.hasLength = headerIn(changed, 'content-length') !== undefined
    this.inner.writeHead(status, reason, changed)
    void this.run()
  }

  flushHeaders(): void {
    if (!this.isOver) this.inner.flushHeaders()
  }

  write(chunk: string | Buffer, encoding?: BufferEncoding): boolean {
    // With an empty write, node sends the head.
    if (!this.isOver && chunk.length === 0) this.inner.write(noBytes)
    this.give(chunk, encoding)
    return !this.writableNeedDrain
  }

  end(chunk: string | Buffer = noBytes, encoding?: BufferEncoding): void {
    this.isEnded = true
    this.give(chunk, encoding)
  }

  /** Ends the body now, instead of what waits. */
  finish(ending: Ending): void {
    if (this.isOver) return
    const { response } = this
    this.isOver = true
    if (ending === 'end') return void this.inner.end()
    // What was written before is sent first. If neither a length nor chunks mark the end of a body, a normal close would
    // look like its end.
    const isSeen = ending === 'cut' && (this.hasLength || response.req.httpVersion === '1.1')
    response.write(noBytes, () => (isSeen ? response.destroy() : resetAfterDelay(response)))
  }

  private give(chunk: string | Buffer, encoding?: BufferEncoding): void {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk
    this.givenBytes += bytes.length
    if (bytes.length > 0) this.waiting.push(bytes)
    else if (!this.isEnded) return
    const { wake } = this
    this.wake = undefined
    wake?.()
  }

  private async run(): Promise<void> {
    try {
      for await (const piece of this.transform.pieces(this.given(), this.gone.signal)) {
        if (this.isOver) return
        if (typeof piece === 'string') return this.finish(piece)
        this.sentBytes += piece.length
        if (piece.length > 0) this.inner.write(piece)
      }
      this.finish('end')
    } catch {
      // It was waiting when the client left.
      this.finish('cut')
    }
  }

  /** The pieces, as they come in. */
  private async *given(): AsyncGenerator<Buffer, void> {
    for (;;) {
      const next = this.waiting.shift()
      if (next) yield next
      else if (this.isEnded) return
      else await this.next()
    }
  }

  private next(): Promise<void> {
    return new Promise(resolve => {
      this.wake = resolve
      if (!this.writableNeedDrain) this.response.emit('drain')
    })
  }
}

/** The time for the client to read what was sent, since a reset discards what it has not read yet. */
const RESET_DELAY_MS = 50

function resetAfterDelay(response: ServerResponse): void {
  // If this process was busy until then, a client in it first reads what has arrived. Node 22 would take the reset for a normal end.
  const timer = setTimeout(() => setImmediate(reset, response), RESET_DELAY_MS)
  response.once('close', () => clearTimeout(timer))
}

/** Resets the connection: sends RST instead of FIN. */
export function reset(response: ServerResponse): void {
  const resetSocket = (socket: Socket) => void socket.resetAndDestroy()
  // A pipelined request has no socket until it is its turn.
  if (response.socket) resetSocket(response.socket)
  else response.once('socket', resetSocket)
}
