/** The sessions of protocol versions up to 2025-11-25, and the listeners for changes of later versions. They survive a reload. */
import { randomUUID } from 'node:crypto'
import type { Caller } from '../core/exchange.js'
import { notificationFrame, type RpcId, type RpcParams, type RpcResponse } from '../rpc/frames.js'
import type { LogLevel } from '../rpc/protocol.js'
import { createEventStream, type EventStream } from './streams.js'

/** The name and capabilities that a client declares. */
export interface ClientFacts {
  readonly name: string | undefined
  readonly capabilities: ReadonlySet<string>
}

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
  /** Calls that wait for the client to answer a question, oldest first. */
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

export type ListName = 'tools' | 'resources' | 'prompts'

export type McpSessions = ReturnType<typeof createMcpSessions>

/** At most this many sessions are kept. The least recently used one is ended first. */
const MOST_SESSIONS = 10_000
/** Comments in open streams keep proxies from closing them. */
const KEEP_ALIVE_MS = 15_000
/** At most this many calls of a session wait for the client. */
const MOST_WAITING = 100
/** The number of streams kept per session for clients that reconnect. More than can be open, so the oldest one has always ended. */
const MOST_STREAMS = 2 * MOST_WAITING

/** Identifies a caller, so that callers cannot use each other's sessions. */
export const holderOf = (caller: Caller): string => `${caller.kind} ${'id' in caller ? caller.id : ''}`

/** Adds a call that waits for the client. Cancels the oldest one if there are too many. */
export function addWaitingCall({ waiting }: Session, call: WaitingCall): void {
  const [oldest] = waiting
  if (waiting.size >= MOST_WAITING) oldest?.cancel()
  waiting.add(call)
}

/** Keeps the sessions in `sessions`, the most recently used one last. */
function createSessionStore(sessions: Map<string, Session>, now: () => number) {
  let streams = 0

  function end(session: Session): void {
    sessions.delete(session.id)
    for (const stream of session.streams.values()) stream.end()
    for (const call of session.waiting) call.cancel()
  }

  return {
    end,
    begin(input: NewSession): Session {
      const oldest = sessions.size >= MOST_SESSIONS ? sessions.values().next().value : undefined
      if (oldest) end(oldest)
      const session = newSession(input, now())
      sessions.set(session.id, session)
      return session
    },
    /** Returns an open session of this caller. Counts as a use. */
    find(id: string, server: string, holder: string, idleMs: number): Session | undefined {
      const session = sessions.get(id)
      if (!session || session.server !== server || session.holder !== holder) return undefined
      if (now() - session.usedAtMs >= idleMs) {
        end(session)
        return undefined
      }
      session.usedAtMs = now()
      sessions.delete(id)
      sessions.set(id, session)
      return session
    },
    stream(session: Session): EventStream {
      const newStream = createEventStream(++streams)
      keepStream(session, newStream)
      return newStream
    },
  }
}

const newSession = (input: NewSession, usedAtMs: number): Session => ({
  ...{ ...input, id: randomUUID(), logLevel: undefined, subscriptions: new Set() },
  ...{ waiting: new Set(), streams: new Map(), generalStream: undefined, usedAtMs },
})

function keepStream({ streams, generalStream }: Session, newStream: EventStream): void {
  streams.set(newStream.number, newStream)
  if (streams.size <= MOST_STREAMS) return
  const oldest = [...streams.values()].find(one => one !== generalStream && one.isEnded())
  if (oldest) streams.delete(oldest.number)
}

/** Without a scope, everything matches. */
const isIn = (scope: string | undefined, one: { readonly scope: string }) => scope === undefined || one.scope === scope

/** Updates of resources are only for sessions that have subscribed to them. */
const isSubscribed = ({ subscriptions }: Session, uri: unknown) => uri === undefined || subscriptions.has(String(uri))

/** `now` is Standin's clock. */
export function createMcpSessions(now: () => number) {
  const sessions = new Map<string, Session>()
  const listeners = new Set<ChangeListener>()
  const store = createSessionStore(sessions, now)

  const keepAliveTimer = setInterval(() => {
    for (const listener of listeners) listener.keepAlive()
    for (const { streams } of sessions.values()) for (const stream of streams.values()) stream.keepAlive()
  }, KEEP_ALIVE_MS).unref()

  function notify(server: string, scope: string | undefined, method: string, params?: RpcParams): void {
    const isAddressed = (one: Session | ChangeListener) => one.server === server && isIn(scope, one)
    for (const session of sessions.values())
      if (isAddressed(session) && isSubscribed(session, params?.uri))
        session.generalStream?.send(notificationFrame(method, params))
    for (const listener of listeners) if (isAddressed(listener)) listener.notify(method, params)
  }

  /** Ends the sessions and streams of a scope, or all if none is given. */
  function forget(scope?: string): void {
    for (const session of sessions.values()) if (isIn(scope, session)) store.end(session)
    for (const listener of listeners) if (isIn(scope, listener)) listener.end()
  }

  return {
    ...store,
    listen(listener: ChangeListener): () => void {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    /** Notifies the clients of a server that a list has changed: those of one scope, or all if none is given. */
    listChanged: (server: string, list: ListName, scope?: string) =>
      notify(server, scope, `notifications/${list}/list_changed`),
    resourceUpdated: (server: string, uri: string, scope?: string) =>
      notify(server, scope, 'notifications/resources/updated', { uri }),
    forget,
    close(): void {
      clearInterval(keepAliveTimer)
      forget()
    },
  }
}
