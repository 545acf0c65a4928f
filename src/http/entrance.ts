/** Where every request comes in: onto the line, or to express behind it; and how many are under way. */
import type { IncomingMessage, ServerOptions, ServerResponse } from 'node:http'
import { passedMs } from '../core/clock.js'
import { hasStopped } from '../core/errors.js'
import type { Exchange } from '../core/exchange.js'
import { CONTROL, DASHBOARD, isReserved } from '../core/paths.js'
import { createRequestClass } from './body.js'
import type { Line } from './line.js'
import { createResponseClass } from './send.js'

/** The prototypes of the server's requests and responses. */
export interface Prototypes {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

/** Answers what is not on the line: express, without express itself. */
export type App = (request: IncomingMessage, response: ServerResponse) => void

interface Ways {
  readonly line: Line['accept']
  readonly rest: (request: IncomingMessage, response: ServerResponse, prototypes: Prototypes) => void
}

/** Requests on the line, and a gate that keeps new ones waiting while something is being made ready for them. */
export interface Traffic {
  /** How many have come and have not been answered yet, but for those that were disowned. */
  underWay(): number
  /** How many have come at all. */
  begun(): number
  /** Resolves when none is under way, at once where none is. */
  quiet(): Promise<void>
  /** Those that are under way count no longer: a test that left them behind may never end them. */
  disown(): void
  /**
   * Requests that come from now on wait until `work` is over, however it ends. Gives back what `work` gives; rejects once the platform has
   * been stopped.
   */
  hold<T>(work: () => Promise<T>): Promise<T>
}

export interface Entrance {
  /** What a server of our own makes its requests and responses from. */
  readonly classes: Pick<
    ServerOptions<typeof IncomingMessage, typeof ServerResponse<IncomingMessage>>,
    'IncomingMessage' | 'ServerResponse'
  >
  readonly answer: (request: IncomingMessage, response: ServerResponse) => void
}

/** The traffic, as the entrance and the line report it. */
export interface TrafficCount extends Traffic {
  readonly counts: { underWay: number; begun: number }
  readonly gate: ReturnType<typeof createGate>
  /** Takes each exchange of the line when it is over. */
  left(exchange: Pick<Exchange, 'startedMs'>): void
  /** From now on nothing is held. */
  close(): void
}

export function createTraffic(): TrafficCount {
  const counts = { underWay: 0, begun: 0 }
  const gate = createGate()
  return { counts, gate, ...createCount(counts), hold: gate.hold, close: gate.close }
}

export function createEntrance({ line, rest }: Ways, { counts, gate }: TrafficCount = createTraffic()): Entrance {
  const classes = { IncomingMessage: createRequestClass(), ServerResponse: createResponseClass() }
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

/** Keeps requests waiting for as long as anything holds it. */
function createGate() {
  let isClosed = false
  let holds: readonly Promise<unknown>[] = []
  const gate = {
    isOpen: true,
    async opened(): Promise<void> {
      while (holds.length > 0) await Promise.all(holds)
    },
    close() {
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

/** Counts requests that are over. */
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
      disownedAtMs = passedMs()
      counts.underWay = 0
      tellQuiet()
    },
    left({ startedMs }: Pick<Exchange, 'startedMs'>) {
      // A request that was held back while the others were disowned began after that.
      if (disowned > 0 && (startedMs < disownedAtMs || counts.underWay === 0)) disowned--
      else counts.underWay--
      if (counts.underWay === 0 && waiting.length > 0) tellQuiet()
    },
  }
}

/** The path of a request target, as it was sent. A client may also send the whole address (RFC 9112 §3.2.2). */
export function pathOf(target: string): string {
  const local = target.startsWith('/') ? target : target.replace(/^[a-z][a-z\d+.-]*:\/\/[^/?]*/i, '')
  const query = local.indexOf('?')
  return (query < 0 ? local : local.slice(0, query)) || '/'
}
