/** Where every request enters: passes it to the line or to express, and counts the pending ones. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { uptimeMs } from '../core/clock.js'
import { hasStopped } from '../core/errors.js'
import type { Exchange } from '../core/exchange.js'
import { CONTROL, DASHBOARD, isCanary, isReserved } from '../core/paths.js'
import type { Line } from './line.js'

/** Answers requests that are not for the line. This is express, typed without importing it. */
export type App = (request: IncomingMessage, response: ServerResponse) => void

interface RequestTargets {
  readonly line: Line['accept']
  readonly app: App
}

/** Counts the requests on the line, and can hold back new ones, for example during a reset. */
export interface Traffic {
  /** The number of requests that have not ended, apart from disowned ones. */
  pending(): number
  /** The number of requests received so far. */
  started(): number
  /** Resolves when no request is pending; immediately if none is. */
  idle(): Promise<void>
  /** Stops counting the pending requests. A test that has ended may have left them open for good. */
  disown(): void
  /**
   * Holds back new requests until `work` has settled. Resolves to the result of `work`. Rejects if the platform has been
   * stopped.
   */
  hold<T>(work: () => Promise<T>): Promise<T>
}

export type Entrance = (request: IncomingMessage, response: ServerResponse) => void

/** Creates the traffic, with the members by which the entrance and the line update it. */
export function createTraffic() {
  const counts = { pending: 0, started: 0 }
  const gate = createGate()
  return { counts, gate, ...createCount(counts), hold: gate.hold, close: gate.close }
}

export function createEntrance(
  { line, app }: RequestTargets,
  { counts, gate }: Pick<ReturnType<typeof createTraffic>, 'counts' | 'gate'> = createTraffic(),
): Entrance {
  return (request, response) => {
    const path = pathOfTarget(request.url ?? '/')
    const mayBeOwn = path.startsWith(CONTROL) || path.startsWith(DASHBOARD)
    if (mayBeOwn && isReserved(path) && !isCanary(path)) return app(request, response)
    counts.pending++
    counts.started++
    if (gate.isOpen()) line(request, response, path)
    else void gate.whenOpen().then(() => line(request, response, path))
  }
}

/** Holds requests back for as long as at least one `hold` is active. */
function createGate() {
  const holds = new Set<Promise<unknown>>()
  let isClosed = false
  return {
    isOpen: () => holds.size === 0,
    async whenOpen(): Promise<void> {
      while (holds.size > 0) await Promise.all(holds)
    },
    /** Stops holding requests back, for good. */
    close(): void {
      isClosed = true
    },
    hold<T>(work: () => Promise<T>): Promise<T> {
      if (isClosed) return Promise.reject(hasStopped())
      const done = work()
      const settled = done.catch(() => {}).then(() => void holds.delete(settled))
      holds.add(settled)
      return done
    },
  }
}

/** Removes requests that have ended from the counts. */
function createCount(counts: { pending: number; readonly started: number }) {
  let disownedCount = 0
  let disownedAtMs = 0
  let idleWaiters: (() => void)[] = []

  function resolveIdle(): void {
    for (const resolve of idleWaiters) resolve()
    idleWaiters = []
  }

  return {
    pending: () => counts.pending,
    started: () => counts.started,
    idle: () =>
      new Promise<void>(resolve => {
        if (counts.pending === 0) resolve()
        else idleWaiters.push(resolve)
      }),
    disown() {
      disownedCount += counts.pending
      disownedAtMs = uptimeMs()
      counts.pending = 0
      resolveIdle()
    },
    /** Called when an exchange of the line has ended. */
    onEnd({ startedMs }: Pick<Exchange, 'startedMs'>): void {
      // A request that was held back when others were disowned has a later start than that.
      if (disownedCount > 0 && (startedMs < disownedAtMs || counts.pending === 0)) disownedCount--
      else counts.pending--
      if (counts.pending === 0 && idleWaiters.length > 0) resolveIdle()
    },
  }
}

/** The path of a request target, as it was sent. A client may also send an absolute URL (RFC 9112 §3.2.2). */
export function pathOfTarget(target: string): string {
  const local = target.startsWith('/') ? target : target.replace(/^[a-z][a-z\d+.-]*:\/\/[^/?]*/i, '')
  const query = local.indexOf('?')
  return (query < 0 ? local : local.slice(0, query)) || '/'
}
