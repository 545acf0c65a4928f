/** Repeats a request of the journal exactly as it was, with its own credential, which only the journal has. */
import { request as ask, type IncomingHttpHeaders } from 'node:http'
import { notRepeatable } from '../core/errors.js'
import type { Exchange } from '../core/exchange.js'
import { DASHBOARD_HEADER } from '../core/paths.js'
import { createIds } from '../core/random.js'
import { isRepeatable } from './facts.js'
import type { Journal } from './journal.js'

/** Headers of the original connection, and headers that the new connection sets itself. */
const ofConnection = [
  ...['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'te', 'trailer', 'upgrade', 'expect'],
  ...['content-length', DASHBOARD_HEADER],
]
/** Identifies the request until it is journaled. */
const MARK = 'x-standin-again'
const MOMENT_MS = 1000
const nextMark = createIds('again-', 12)

/** Resolves to the id of the new exchange when it has ended. */
export async function sendAgain(exchange: Exchange, url: string, journal: Journal): Promise<string> {
  if (!isRepeatable(exchange)) throw notRepeatable()
  const mark = nextMark()
  const { hostname, port } = new URL(url)
  const { method, path, query, body } = exchange
  const headers: IncomingHttpHeaders = { ...exchange.headers, [MARK]: mark }
  for (const name of ofConnection) delete headers[name]
  let end = () => {}
  const journaled = new Promise<string>((resolve, reject) => {
    end = journal.follow((seen, id) => {
      if (seen.headers[MARK] === mark) resolve(String(id))
    })
    const sent = ask({
      ...{ hostname: hostname.replace(/^\[|\]$/g, ''), port, method, headers, agent: false },
      path: query === '' ? path : `${path}?${query}`,
    })
    sent.on('response', response => response.resume().on('error', () => {}))
    // If a fault has broken the connection, the exchange is journaled a moment later.
    sent.on('error', error => setTimeout(reject, MOMENT_MS, error))
    sent.end(body)
  })
  return journaled.finally(end)
}
