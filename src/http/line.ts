/** The request line: what it consists of at the moment, and the requests on it. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { uptimeMs } from '../core/clock.js'
import { anonymous, type Exchange, type RunningTest } from '../core/exchange.js'
import { isAuth, isReserved, isRest } from '../core/paths.js'
import { SCOPE_HEADER } from '../core/scope.js'
import { handle } from './handle.js'
import type { LineContext, LineParts, LineServices } from './surface.js'
import { handshakeOf } from './upgrades.js'

export interface LineOptions extends Pick<LineServices, 'pacer' | 'report'> {
  /** Called when a request has arrived. */
  readonly onBegin: () => void
  /** Adds an exchange that has ended to the journal. */
  readonly add: (exchange: Exchange) => void
  /** Called after `add`, even if that threw. */
  readonly onEnd: (exchange: Exchange) => void
  /** The test that is running in this process, if the tests are in it. */
  readonly runningTest?: (() => RunningTest | undefined) | undefined
}

export interface Line {
  readonly accept: (request: IncomingMessage, response: ServerResponse, path: string) => void
  /** Decides whether a WebSocket on a path is forwarded to the live platform; `undefined` while none is. */
  readonly webSockets: () => ((path: string) => boolean) | undefined
  /** The requests that have not ended, the oldest first. */
  readonly open: ReadonlySet<LineContext>
  /** Called after something was switched on or off. Pending requests stay on the old line. */
  renew(): void
}

export function createLine(
  current: () => LineParts,
  { pacer, report, onBegin, add, onEnd, runningTest }: LineOptions,
): Line {
  const open = new Set<LineContext>()
  let count = 0
  let parts = current()

  function end(context: LineContext): void {
    open.delete(context)
    try {
      add(context.exchange)
    } catch (error) {
      // The response has been sent, and the next request on the connection must not be affected.
      report(error)
    }
    onEnd(context.exchange)
  }

  const services = { pacer, report, end }
  return {
    open,
    renew() {
      parts = current()
    },
    webSockets() {
      const forwards = parts.platform.live?.forwardsWebSocket
      return forwards && (path => !isAuth(path) && !isReserved(path) && forwards({ method: 'GET', path }))
    },
    accept(request, response, path) {
      const { platform, auth, tables, scopes } = parts
      const { headers } = request
      const surface = path.startsWith('/auth/') && isAuth(path) ? auth : tables && isRest(path) ? tables : platform
      const exchange = exchangeOf(request, path, runningTest?.())
      if (headers.baggage !== undefined || headers[SCOPE_HEADER] !== undefined) scopes.decide(exchange)
      if (headers.upgrade !== undefined && handshakeOf(request)) exchange.isWebSocket = true
      if (surface === auth) exchange.ipAddress = request.socket.remoteAddress
      const live = surface.live?.mayReach(exchange) ? surface.live : undefined
      const context: LineContext = {
        request,
        response,
        exchange,
        number: ++count,
        surface,
        live,
        quota: undefined,
        hit: undefined,
        held: undefined,
      }
      open.add(context)
      onBegin()
      void handle(context, parts, services)
    },
  }
}

/** What is known of a request before anything has happened. */
function exchangeOf(request: IncomingMessage, path: string, running: RunningTest | undefined): Exchange {
  const { method = '', url = '', headers } = request
  const queryStart = url.indexOf('?')
  return {
    method,
    path,
    query: queryStart < 0 ? '' : url.slice(queryStart + 1),
    headers,
    authorization: headers.authorization,
    startedMs: uptimeMs(),
    endedMs: undefined,
    caller: anonymous,
    scope: '',
    running,
    endpoint: undefined,
    mode: undefined,
    body: undefined,
    chat: undefined,
    openaiRefuses: undefined,
    outcome: undefined,
  }
}
