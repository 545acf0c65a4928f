/** GET /api/v1: the list of endpoints (platform-api.md, "API index response"). */
import type { Access, Endpoint } from '../core/exchange.js'
import { jsonReply } from './json-reply.js'

/** What an index lists of an endpoint. */
type Listed = Pick<Endpoint, 'method' | 'path' | 'access'>

/** The document does not show the elements; ours say method, path and which kinds of credential open it. The index lists itself too. */
export function apiIndex({ access, others }: { access: Access; others: readonly Listed[] }): Endpoint {
  const own = { method: 'GET', path: '/api/v1', access } as const
  const [health, ...rest] = others
  const listed = [...(health ? [health] : []), own, ...rest]
  const endpoints = listed.map(({ method, path, access }) => ({
    method,
    path,
    credential: access === 'anyone' ? [] : access,
  }))
  const reply = jsonReply({ status: 'ok', endpoints })
  return { ...own, service: 'platform', takesBody: false, reply: () => reply }
}
