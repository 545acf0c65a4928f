/** A request on an open connection, and its answer as far as it has arrived. */
import type { Socket } from 'node:net'
import type { AnswerHead } from './answer-parser.js'
import type { LiveAnswer, LiveRequest } from './live-answer.js'
import type { ProxiedRequest } from './proxied-request.js'

/** The connection of a call. */
interface CallConnection {
  readonly socket: Socket
  /** Closes the connection without reporting an error. */
  abandon(call: LiveCall): void
}

/** Reads a body. Bytes that arrive before there is a reader are kept. */
interface Reader {
  data?: (bytes: Buffer) => void
  end?: (bytes: Buffer) => void
}

const noBytes = Buffer.alloc(0)

export class LiveCall implements LiveRequest, LiveAnswer {
  head: AnswerHead | undefined
  complete = false
  readableLength = 0
  #unread: Buffer[] = []
  #headers: Readonly<Record<string, string>> | undefined
  readonly #reader: Reader = {}

  constructor(
    readonly connection: CallConnection,
    readonly proxied: ProxiedRequest,
    readonly reusedSocket: boolean,
  ) {}

  get socket(): Socket {
    return this.connection.socket
  }

  get statusCode(): number | undefined {
    return this.head?.status
  }

  get statusMessage(): string | undefined {
    return this.head?.statusText
  }

  get rawHeaders(): readonly string[] {
    return this.head?.headers ?? []
  }

  get headers(): Readonly<Record<string, string>> {
    this.#headers ??= headersByName(this.rawHeaders)
    return this.#headers
  }

  /** Keeps bytes of the body until `flush`, so that readers do not run inside the parser. */
  addBytes(bytes: Buffer): void {
    this.#unread.push(bytes)
    this.readableLength += bytes.length
  }

  read(): Buffer | null {
    const [first = null, ...others] = this.#unread
    this.#unread = []
    this.readableLength = 0
    return first && others.length > 0 ? Buffer.concat([first, ...others]) : first
  }

  on(event: 'data' | 'end', listener: (bytes: Buffer) => void): void {
    this.#reader[event] = listener
  }

  /** Passes on what has arrived to the listeners. */
  flush(): void {
    const { data, end } = this.#reader
    if (!data) return
    const unread = this.#unread
    this.#unread = []
    this.readableLength = 0
    for (const bytes of unread) data(bytes)
    if (this.complete) end?.(noBytes)
  }

  // After a complete answer, the connection may already serve another request.
  pause(): void {
    if (!this.complete) this.socket.pause()
  }

  resume(): void {
    if (!this.complete) this.socket.resume()
  }

  destroy(): void {
    if (!this.complete) this.connection.abandon(this)
  }
}

function headersByName(flat: readonly string[]): Readonly<Record<string, string>> {
  const headers: Record<string, string> = Object.create(null)
  for (let i = 0; i < flat.length; i += 2) {
    const name = (flat[i] ?? '').toLowerCase()
    const earlier = headers[name]
    headers[name] = earlier === undefined ? (flat[i + 1] ?? '') : `${earlier}, ${flat[i + 1]}`
  }
  return headers
}
