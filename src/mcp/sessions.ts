/** What servers know of their clients: the context of a call, sessions with their streams, and listeners for changes. */
import { createHmac, randomBytes, randomUUID } from 'node:crypto'
import type { Caller, Exchange } from '../core/exchange.js'
import { isObject } from '../core/json.js'
import {
  eventText,
  isStateless,
  type LogLevel,
  notificationFrame,
  RpcError,
  type RpcFrame,
  type RpcId,
  type RpcParams,
  type RpcResponse,
  rpcCodes,
} from '../core/json-rpc.js'
import type { McpReplies } from '../replies/index.js'
import type { McpServer } from './options.js'

/** The name and capabilities that a client declares. */
export interface ClientFacts {
  readonly name: string | undefined
  readonly capabilities: ReadonlySet<string>
}

/** A session of a protocol version up to 2025-11-25. */
export interface Session {
  readonly id: string
  readonly server: string
  readonly version: string
  readonly client: ClientFacts
  readonly scope: string
  /** The caller who opened it. Other callers cannot use it. */
  readonly holder: string
  logLevel: LogLevel | undefined
  readonly subscriptions: Set<string>
  /** Calls that wait for the client to answer a question. */
  readonly waiting: Set<WaitingCall>
  /** The streams of calls, and the one that the client opens with GET. */
  readonly streams: Map<number, EventStream>
  generalStream: EventStream | undefined
  usedAtMs: number
}

export interface WaitingCall {
  readonly requestId: RpcId
  /** Handles an answer of the client, if it belongs to this call. */
  take(response: RpcResponse): void
  cancel(): void
}

type NewSession = Pick<Session, 'server' | 'version' | 'client' | 'scope' | 'holder'>

/** A `subscriptions/listen` stream. */
export interface ChangeListener {
  readonly server: string
  readonly scope: string
  /** Sends a notification if the client has subscribed to its kind. */
  notify(method: string, params?: RpcParams): void
  keepAlive(): void
  end(): void
}

/** The lists of a server whose changes are announced, by their names in the protocol. */
export type ListName = 'tools' | 'resources' | 'prompts'

export type McpSessions = ReturnType<typeof createMcpSessions>

/** At most this many sessions are open; one more ends the least recently used one. */
const MOST_SESSIONS = 10_000
/** Comments in open streams keep proxies from closing them. */
const KEEP_ALIVE_MS = 15_000
/** The number of streams kept per session for clients that reconnect. */
const MOST_STREAMS = 200

/** Identifies a caller, so that callers cannot use each other's sessions. */
export const holderOf = (caller: Caller): string => `${caller.kind} ${'id' in caller ? caller.id : ''}`

/** Keeps the sessions in `sessions`, the most recently used one last. */
function createSessionStore(sessions: Map<string, Session>, now: () => number) {
  let streamsOpened = 0

  function end(session: Session): void {
    sessions.delete(session.id)
    for (const stream of session.streams.values()) stream.end()
    for (const call of session.waiting) call.cancel()
  }

  return {
    end,
    begin(input: NewSession): Session {
      const [oldest] = sessions.size >= MOST_SESSIONS ? sessions.values() : []
      if (oldest) end(oldest)
      const session = newSession(input, now())
      sessions.set(session.id, session)
      return session
    },
    /** Returns an open session of this caller. Counts as a use. */
    find(id: string, server: string, holder: string, idleMs: number): Session | undefined {
      const session = sessions.get(id)
      if (!session || session.server !== server || session.holder !== holder) return undefined
      sessions.delete(id)
      if (now() - session.usedAtMs >= idleMs) return void end(session)
      session.usedAtMs = now()
      sessions.set(id, session)
      return session
    },
    /** Opens a stream of a session. */
    stream({ streams, generalStream }: Session): EventStream {
      const stream = createEventStream(++streamsOpened)
      streams.set(stream.number, stream)
      const isOver = (one: EventStream) => one !== generalStream && one.isEnded()
      const oldest = streams.size > MOST_STREAMS ? [...streams.values()].find(isOver) : undefined
      if (oldest) streams.delete(oldest.number)
      return stream
    },
  }
}

/** `now` is Standin's clock. */
export function createMcpSessions(now: () => number) {
  const sessions = new Map<string, Session>()
  const listeners = new Set<ChangeListener>()
  const store = createSessionStore(sessions, now)
  const key = randomBytes(32)
  const keepAliveTimer = setInterval(() => {
    for (const listener of listeners) listener.keepAlive()
    for (const { streams } of sessions.values()) for (const stream of streams.values()) stream.keepAlive()
  }, KEEP_ALIVE_MS).unref()

  /** Ends the sessions and streams of a scope, or all if none is given. */
  function forget(scope?: string): void {
    for (const session of sessions.values()) if (isIn(scope, session)) store.end(session)
    for (const listener of listeners) if (isIn(scope, listener)) listener.end()
  }

  return {
    ...store,
    now,
    /** The signature of a text that clients send back. */
    sign: (text: string) => createHmac('sha256', key).update(text).digest('base64url'),
    listen(listener: ChangeListener): () => void {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    /** Notifies the clients of a server that have subscribed to this: those of one scope, or all if none is given. */
    notify(server: string, scope: string | undefined, method: string, params?: RpcParams): void {
      const isAddressed = (one: Session | ChangeListener) => one.server === server && isIn(scope, one)
      for (const session of sessions.values())
        if (isAddressed(session) && isSubscribed(session, params?.uri))
          session.generalStream?.send(notificationFrame(method, params))
      for (const listener of listeners) if (isAddressed(listener)) listener.notify(method, params)
    },
    forget,
    close(): void {
      clearInterval(keepAliveTimer)
      forget()
    },
  }
}

const newSession = (input: NewSession, usedAtMs: number): Session => ({
  ...input,
  id: randomUUID(),
  logLevel: undefined,
  subscriptions: new Set(),
  waiting: new Set(),
  streams: new Map(),
  generalStream: undefined,
  usedAtMs,
})

/** Without a scope, everything matches. */
const isIn = (scope: string | undefined, one: { readonly scope: string }) => scope === undefined || one.scope === scope

/** Updates of resources are only for sessions that have subscribed to them. */
const isSubscribed = ({ subscriptions }: Session, uri: unknown) => uri === undefined || subscriptions.has(String(uri))

/** The notification that a list has changed. */
export const listChanged = (list: ListName) => `notifications/${list}/list_changed`

interface EventSink {
  write(text: string): void
  end(): void
}

/** A comment, which keeps a stream open. */
export const KEEP_ALIVE = ':\n\n'

/** How many events of a stream are kept for clients that reconnect. */
const MOST_EVENTS = 256

export type EventStream = ReturnType<typeof createEventStream>

/** Events are numbered within their stream, and the id of an event names both: `3-12`. A client can resume a stream. */
function createEventStream(number: number) {
  let events: { readonly n: number; readonly text: string }[] = []
  let last = 0
  let hasEnded = false
  let reader: EventSink | undefined
  /** Disconnects the reader, which can resume the stream. */
  function cut(): void {
    reader?.end()
    reader = undefined
  }
  return {
    number,
    /** Whether no more events will come. */
    isEnded: () => hasEnded,
    /** An event without a message, with whose id a client can resume a stream that has sent nothing else. */
    firstEvent: `id: ${number}-0\ndata:\n\n`,
    /** Keeps the event and returns its text. The reader gets the text that `transform` returns. */
    send(frame: RpcFrame, transform = (text: string) => text): string {
      const text = eventText(frame, `${number}-${++last}`)
      events = [...events, { n: last, text }].slice(-MOST_EVENTS)
      reader?.write(transform(text))
      return text
    },
    keepAlive: (): void => reader?.write(KEEP_ALIVE),
    cut,
    end(): void {
      hasEnded = true
      cut()
    },
    /** Writes the events after the event number `after`, then new ones as they come. Disconnects the previous reader. */
    attach(sink: EventSink, after = 0): () => void {
      cut()
      for (const { n, text } of events) if (n > after) sink.write(text)
      if (hasEnded) sink.end()
      else reader = sink
      return () => {
        if (reader === sink) reader = undefined
      }
    },
  }
}

/** A configured server, and what all servers share. */
export interface RunningServer {
  readonly path: string
  readonly options: McpServer
  readonly replies: () => Promise<McpReplies>
  readonly sessions: McpSessions
  /** Whether a call without a rule is an error. */
  readonly strict: boolean
  readFile(name: string): Promise<string | Buffer>
}

/** Who makes a call, and with which version of the protocol. */
export interface Context {
  readonly server: RunningServer
  readonly exchange: Exchange
  readonly version: string
  readonly client: ClientFacts
  readonly session: Session | undefined
  /** The lowest level of log lines to send; without it, none are sent. */
  readonly logLevel: LogLevel | undefined
}

export const isModern = ({ version }: Pick<Context, 'version'>) => isStateless(version)

/** The client capabilities that mean it can answer questions. */
const inputCapabilities = ['elicitation', 'sampling', 'roots']

/** The client's name and capabilities, from `initialize` or `_meta`. */
export function clientFrom(info: unknown, capabilities: unknown): ClientFacts {
  const { name } = isObject(info) ? info : {}
  const declared = isObject(capabilities) ? capabilities : {}
  return {
    name: typeof name === 'string' ? name : undefined,
    capabilities: new Set(inputCapabilities.filter(capability => declared[capability] !== undefined)),
  }
}

export const unsupportedVersion = (requested: string, { options }: RunningServer) =>
  new RpcError(
    rpcCodes.unsupportedVersion,
    `Unsupported protocol version: ${requested}`,
    { supported: options.protocolVersions.toReversed(), requested },
    400,
  )
