/** Endpoints that only rules answer, beside those of the document. */
import { CHAT } from '../completions/request.js'
import { methodNotAllowed } from '../core/errors.js'
import { type Endpoint, type Exchange, jsonReply, type Reply } from '../core/exchange.js'
import { isPaced, type Pace, paceFrom } from '../core/pace.js'
import type { HttpGeneration, HttpReplies, RulePath } from '../replies/index.js'
import { INDEX, listed } from './api-index.js'
import { paceAsked } from './chat-completions.js'
import type { Routes } from './index.js'

interface Settings {
  /** The usual rhythm of streams. */
  readonly pace: Pace
  /** What the index lists. */
  readonly list: 'all' | 'documented'
}

/** `routes` with those of rules. A documented endpoint answers as it does, and a rule can set a fault for it. */
export function withRulePaths(routes: Routes, replies: HttpReplies, { pace: usual, list }: Settings): Routes {
  const endpoints = new WeakMap<RulePath, Endpoint>()
  const ruled = new WeakMap<Endpoint, Endpoint>()

  function endpointOf(path: RulePath): Endpoint {
    const before = endpoints.get(path)
    if (before) return before
    const endpoint: Endpoint = {
      ...path,
      ...{ takesBody: true, isByRule: true },
      reply(exchange) {
        const asked = paceAsked(exchange.headers)
        const said = replies.answer(exchange)
        const toReply = (said: HttpGeneration) => replyOf(said, paceFrom(asked, paceFrom(said.pace, usual)))
        return said instanceof Promise ? said.then(toReply) : toReply(said)
      },
    }
    endpoints.set(path, endpoint)
    return endpoint
  }

  /** A documented endpoint with what rules add to it: faults, and to the index their paths. */
  function withRules(endpoint: Endpoint): Endpoint {
    const before = ruled.get(endpoint)
    if (before) return before
    const isIndex = endpoint.path === INDEX && list === 'all'
    const found = {
      ...endpoint,
      async reply(exchange: Exchange): Promise<Reply> {
        const reply = await endpoint.reply(exchange)
        const fault = await replies.faultFor(exchange)
        return { ...(isIndex ? withPaths(reply, replies.paths()) : reply), ...(fault && { fault }) }
      },
    }
    ruled.set(endpoint, found)
    return found
  }

  function find(method: string, path: string, scope?: string): Endpoint | undefined {
    const documented = routes.find(method, path)
    // Rules on chat completions have an engine of their own.
    if (documented) return path === CHAT ? documented : withRules(documented)
    if (routes.has(path)) return undefined
    const asked = method === 'HEAD' ? 'GET' : method
    const rule = replies.at(path, scope).find(one => one.method === asked)
    return rule && endpointOf(rule)
  }

  const methodsAt = (path: string, scope?: string) => {
    const methods = replies.at(path, scope).flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
    return methods.length === 0 ? undefined : [...methods, 'OPTIONS']
  }

  return {
    has: path => routes.has(path) || replies.at(path).length > 0,
    methodsOf: path => routes.methodsOf(path) ?? methodsAt(path),
    find,
    get(method, path, scope = '') {
      // A key may belong to a scope as well, and that is known later.
      const found = find(method, path, scope === '' ? undefined : scope)
      if (found) return found
      const methods = routes.has(path) ? undefined : methodsAt(path, scope === '' ? undefined : scope)
      if (methods) throw methodNotAllowed(method, methods)
      return routes.get(method, path)
    },
  }
}

function withPaths(index: Reply, paths: readonly RulePath[]): Reply {
  const { endpoints, ...rest } = JSON.parse(String(index.body)) as { readonly endpoints: readonly unknown[] }
  return { ...index, ...jsonReply({ ...rest, endpoints: [...endpoints, ...paths.map(listed)] }) }
}

function replyOf({ status, headers, contentType, body, answeredBy, fault }: HttpGeneration, pace: Pace): Reply {
  const head = { kind: 'reply', status, contentType, headers, answeredBy, fault } as const
  if (!isStream(body)) return { ...head, body }
  if (!isPaced(pace)) return { ...head, body: Buffer.from(body.join('')) }
  return { ...head, body: { head: '', before: '', pieces: body, after: '', tail: '', pace } }
}

const isStream = (body: HttpGeneration['body']): body is readonly string[] => Array.isArray(body)
