/** Reads answers with node's own parser, without the streams and events of node's client. */
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'

/** The events of a parser, in the order of arrival. */
export interface AnswerEvents {
  /** The first byte of an answer has arrived. */
  onBegin(): void
  /** Returns what follows the head. */
  onHead(head: AnswerHead): Follows
  onBody(bytes: Buffer): void
  onEnd(): void
}

export interface AnswerHead {
  readonly status: number
  readonly statusText: string
  /** Node's flat array. */
  readonly headers: readonly string[]
  readonly isUpgrade: boolean
  /** Whether another answer may follow on the connection. */
  readonly isKeptAlive: boolean
}

/** Node's numbers for what follows a head. */
export const [BODY_FOLLOWS, NO_BODY_FOLLOWS, ANOTHER_PROTOCOL_FOLLOWS] = [0, 1, 2] as const

export type Follows = typeof BODY_FOLLOWS | typeof NO_BODY_FOLLOWS | typeof ANOTHER_PROTOCOL_FOLLOWS

export interface AnswerParser {
  /** Returns an error for bytes that are not HTTP. */
  execute(bytes: Buffer): unknown
  /** Tells the parser that the connection has ended, and with it a body that has no length. */
  finish(): unknown
  /** Frees its memory. Must not be called from an event. */
  close(): void
}

/** Node's class. It is not documented, so it is tried out before it is used. */
interface NodeParser extends AnswerParser {
  initialize(type: number, resource: object, maxHeadBytes: number, lenientFlags: number): void
  // biome-ignore lint/suspicious/noExplicitAny: each event has arguments of its own
  [event: number]: (...args: any[]) => unknown
}

interface NodeParserClass {
  new (): NodeParser
  readonly RESPONSE: number
  readonly kOnMessageBegin: number
  readonly kOnHeaders: number
  readonly kOnHeadersComplete: number
  readonly kOnBody: number
  readonly kOnMessageComplete: number
}

export type ParserFactory = (events: AnswerEvents) => AnswerParser

/** Limits the size of a head as node does, by `--max-http-header-size`. */
const NODES_DEFAULT = 0
const STRICT = 0

const factories = new WeakMap<NodeParserClass, { readonly create: ParserFactory | undefined }>()

/**
 * Takes node's parser from the connection on which a request arrived. Returns `undefined` if there is none, or none
 * that works as expected. Requests then go through node's client.
 */
export function parserFactory({ socket }: IncomingMessage): ParserFactory | undefined {
  const Parser = (socket as Socket & { readonly parser?: object | null }).parser?.constructor as NodeParserClass
  if (Parser === undefined) return undefined
  const known = factories.get(Parser)
  if (known) return known.create
  const create: ParserFactory = events => createParser(Parser, events)
  const result = { create: isUsable(create) ? create : undefined }
  factories.set(Parser, result)
  return result.create
}

function createParser(Parser: NodeParserClass, { onBegin, onHead, onBody, onEnd }: AnswerEvents): AnswerParser {
  const parser = new Parser()
  // A long head arrives in parts. So do trailers, which must not be added to the head that was already reported.
  let headers: readonly string[] = []
  parser.initialize(Parser.RESPONSE, {}, NODES_DEFAULT, STRICT)
  parser[Parser.kOnMessageBegin] = () => {
    headers = []
    onBegin()
  }
  parser[Parser.kOnHeaders] = (part: readonly string[]) => {
    headers = [...headers, ...part]
  }
  parser[Parser.kOnHeadersComplete] = (
    _major: number,
    _minor: number,
    all: readonly string[] | undefined,
    _method: unknown,
    _url: unknown,
    status: number,
    statusText: string,
    isUpgrade: boolean,
    isKeptAlive: boolean,
  ) => onHead({ status, statusText, headers: all ?? headers, isUpgrade, isKeptAlive })
  parser[Parser.kOnBody] = onBody
  parser[Parser.kOnMessageComplete] = onEnd
  return parser
}

const sample = 'HTTP/1.1 200 OK\r\nA: b\r\nContent-Length: 1\r\n\r\nc'
const expected =
  '["begins",{"status":200,"statusText":"OK","headers":["A","b","Content-Length","1"],"isUpgrade":false,"keepsAlive":true},"c","ends"]'

/** Whether a parser reports what is expected for an answer, and an error for bytes that are not HTTP. */
function isUsable(create: ParserFactory): boolean {
  const reported: unknown[] = []
  const events: AnswerEvents = {
    onBegin: () => void reported.push('begins'),
    onHead(head) {
      reported.push(head)
      return BODY_FOLLOWS
    },
    onBody: bytes => void reported.push(String(bytes)),
    onEnd: () => void reported.push('ends'),
  }
  try {
    const parser = create(events)
    parser.execute(Buffer.from(sample))
    const isAsExpected =
      JSON.stringify(reported) === expected && parser.execute(Buffer.from('no HTTP')) instanceof Error
    parser.close()
    return isAsExpected
  } catch {
    return false
  }
}
