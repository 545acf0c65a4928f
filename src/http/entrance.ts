/** Where every request enters: onto the line or to express. Counts the requests that are under way. */
import type { IncomingMessage, ServerOptions, ServerResponse } from 'node:http'
import { uptimeMs } from '../core/clock.js'
import { hasStopped } from '../core/errors.js'
import type { Exchange } from '../core/exchange.js'
import { CONTROL, DASHBOARD, isReserved } from '../core/paths.js'
import { asksForWebSocket, createRequestClass } from './body.js'
import type { Line } from './line.js'
import { createResponseClass } from './send.js'

/** The prototypes of the server's requests and responses. */
export interface Prototypes {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

/** Answers requests that are not for the line. This is express, typed without importing it. */
export type App = (request: IncomingMessage, response: ServerResponse) => void

interface Ways {
  readonly line: Line['accept']
  /** Whether a WebSocket on a path is carried to the live platform. Without it, none is. */
  readonly carriesWebSocket?: Line['carriesWebSocket'] | undefined
  readonly rest: (request: IncomingMessage, response: ServerResponse, prototypes: Prototypes) => void
}

/** Counts the requests on the line, and can hold back new ones while something is being prepared. */
export interface Traffic {
  /** The number of requests without a response yet, apart from disowned ones. */
  underWay(): number
  /** The number of requests received so far. */
  begun(): number
  /** Resolves when no request is under way; immediately if none is. */
  quiet(): Promise<void>
  /** Stops counting the requests that are under way. A test may have left them behind, and they may never end. */
  disown(): void
  /**
   * Holds back new requests until `work` has settled. Resolves to the result of `work`; rejects once the platform has
   * been stopped.
   */
  hold<T>(work: () => Promise<T>): Promise<T>
}

export interface Entrance {
  /** The classes from which our own server creates its requests and responses. */
  readonly classes: Pick<
    ServerOptions<typeof IncomingMessage, typeof ServerResponse<IncomingMessage>>,
    'IncomingMessage' | 'ServerResponse'
  >
  readonly answer: (request: IncomingMessage, response: ServerResponse) => void
}

/** The traffic, with the methods by which the entrance and the line report it. */
export function createTraffic() {
  const counts = { underWay: 0, begun: 0 }
  const gate = createGate()
  return { counts, gate, ...createCount(counts), hold: gate.hold, close: gate.close }
}

export function createEntrance(
  { line, carriesWebSocket = () => false, rest }: Ways,
  { counts, gate }: Pick<ReturnType<typeof createTraffic>, 'counts' | 'gate'> = createTraffic(),
): Entrance {
  const upgrades = (request: IncomingMessage) => {
    if (!asksForWebSocket(request)) return false
    const path = pathOf(request.url ?? '/')
    return !isReserved(path) && carriesWebSocket({ method: 'GET', path })
  }
  const classes = { IncomingMessage: createRequestClass(upgrades), ServerResponse: createResponseClass() }
  const prototypes = { request: classes.IncomingMessage.prototype, response: classes.ServerResponse.prototype }
  return {
    classes,
    answer(request, response) {
      const path = pathOf(request.url ?? '/')
      if ((path.startsWith(CONTROL) || path.startsWith(DASHBOARD)) && isReserved(path))
        return rest(request, response, prototypes)
      counts.underWay++
      counts.begun++
      if (gate.isOpen) line(request, response, path)
      else void gate.opened().then(() => line(request, response, path))
    },
  }
}

/** Holds requests back for as long as at least one `hold` is active. */
function createGate() {
  let isClosed = false
  let holds: readonly Promise<unknown>[] = []
  const gate = {
    isOpen: true,
    async opened(): Promise<void> {
      while (holds.length > 0) await Promise.all(holds)
    },
    /** Stops holding requests back, for good. */
    close(): void {
      isClosed = true
    },
    hold<T>(work: () => Promise<T>): Promise<T> {
      if (isClosed) return Promise.reject(hasStopped())
      const done = work()
      const held = done.then(
        () => {},
        () => {},
      )
      put([...holds, held])
      void held.then(() => put(holds.filter(other => other !== held)))
      return done
    },
  }
  function put(next: readonly Promise<unknown>[]): void {
    holds = next
    gate.isOpen = holds.length === 0
  }
  return gate
}

/** Counts requests that have ended. */
function createCount(counts: { underWay: number; readonly begun: number }) {
  let disowned = 0
  let disownedAtMs = 0
  let waiting: (() => void)[] = []

  function tellQuiet(): void {
    for (const resolve of waiting) resolve()
    waiting = []
  }

  return {
    underWay: () => counts.underWay,
    begun: () => counts.begun,
    quiet: () =>
      new Promise<void>(resolve => {
        if (counts.underWay === 0) resolve()
        else waiting.push(resolve)
      }),
    disown() {
      disowned += counts.underWay
      disownedAtMs = uptimeMs()
      counts.underWay = 0
      tellQuiet()
    },
    /** Called with each exchange of the line when it is over. */
    left({ startedMs }: Pick<Exchange, 'startedMs'>): void {
      // A request that was held back while the others were disowned started after that.
      if (disowned > 0 && (startedMs < disownedAtMs || counts.underWay === 0)) disowned--
      else counts.underWay--
      if (counts.underWay === 0 && waiting.length > 0) tellQuiet()
    },
  }
}

/** The path of a request target, as it was sent. A client may also send an absolute URL (RFC 9112 §3.2.2). */
export function pathOf(target: string): string {
  const local = target.startsWith('/') ? target : target.replace(/^[a-z][a-z\d+.-]*:\/\/[^/?]*/i, '')
  const query = local.indexOf('?')
  return (query < 0 ? local : local.slice(0, query)) || '/'
}
