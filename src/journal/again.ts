/** Repeats a journaled request exactly as it was, with its own credential, which only the journal has. */
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { createIds } from '../core/clock.js'
import { notRepeatable } from '../core/errors.js'
import type { Exchange } from '../core/exchange.js'
import { DASHBOARD_HEADER } from '../core/paths.js'
import { isRepeatable } from './facts.js'
import type { Journal } from './journal.js'

/** Headers of the original connection, and headers that the new connection sets itself. */
const connectionHeaders = [
  ...['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'te', 'trailer', 'upgrade', 'expect'],
  ...['content-length', DASHBOARD_HEADER],
]
/** Identifies the request until it is journaled. */
const MARK_HEADER = 'x-standin-again'
const LATE_ENTRY_MS = 1000
const nextMark = createIds('again-', 12)

/** Resolves to the id of the new exchange when it has ended. */
export async function sendAgain(exchange: Exchange, url: string, journal: Journal): Promise<string> {
  if (!isRepeatable(exchange)) throw notRepeatable()
  const mark = nextMark()
  const { hostname, port } = new URL(url)
  const { method, path, query, body } = exchange
  const headers: IncomingHttpHeaders = { ...exchange.headers, [MARK_HEADER]: mark }
  for (const name of connectionHeaders) delete headers[name]
  let unfollow = () => {}
  const journaled = new Promise<string>((resolve, reject) => {
    unfollow = journal.follow((followed, id) => {
      if (followed.headers[MARK_HEADER] === mark) resolve(String(id))
    })
    const request = httpRequest({
      ...{ hostname: hostname.replace(/^\[|\]$/g, ''), port, method, headers, agent: false },
      path: query === '' ? path : `${path}?${query}`,
    })
    request.on('response', response => response.resume().on('error', () => {}))
    // If a fault has broken the connection, the exchange is journaled a little later.
    request.on('error', error => setTimeout(reject, LATE_ENTRY_MS, error))
    request.end(body)
  })
  return journaled.finally(unfollow)
}
