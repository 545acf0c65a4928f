/** Endpoints on configured paths, in addition to the documented ones: rules first, then the other sources. */

import { methodNotAllowed, notFound } from '../core/errors.js'
import {
  type Access,
  type Caller,
  combinedAccess,
  type Endpoint,
  type Exchange,
  type OwnPath,
  type PathSource,
} from '../core/exchange.js'
import { CHAT, documentedPaths, INDEX, lookupMethod } from '../core/paths.js'
import { jsonReply, type Reply } from '../core/reply.js'
import { authorize } from '../keys/identify.js'
import { indexEntry } from './api-index.js'
import type { Routes } from './index.js'

/** Adds the endpoints of `sources` to `routes`. A documented endpoint keeps its answer; a source can only add a fault to it. */
export function withOwnPaths(routes: Routes, sources: readonly PathSource[]): Routes {
  const endpoints = createOwnEndpoints(sources)
  const documented = createDocumentedEndpoints(sources)
  const methodsAt = (path: string, scope?: string) => methodsOf(sources.flatMap(source => source.at(path, scope)))

  function find(method: string, path: string, scope?: string): Endpoint | undefined {
    const found = routes.find(method, path)
    // Rules for chat completions are applied elsewhere (chat-completions.ts).
    if (found) return path === CHAT ? found : documented(found)
    return routes.has(path) ? undefined : endpoints.find(method, path, scope)
  }

  return {
    has: path => routes.has(path) || sources.some(source => source.at(path).length > 0),
    methodsOf: path => routes.methodsOf(path) ?? methodsAt(path),
    find,
    get(method, path, scope = '') {
      // Without a scope in the headers, all scopes count, because the caller's API key may belong to one.
      const found = find(method, path, scope === '' ? undefined : scope)
      if (found) return found
      const methods = routes.has(path) ? undefined : methodsAt(path, scope === '' ? undefined : scope)
      if (methods) throw methodNotAllowed(method, methods)
      return routes.get(method, path)
    },
  }
}

function methodsOf(paths: readonly OwnPath[]): readonly string[] | undefined {
  if (paths.length === 0) return undefined
  const methods = paths.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
  return [...new Set([...methods, 'OPTIONS'])]
}

/** The endpoints of all `sources` in addition to the documented ones. Each method on a path is listed once. */
export function pathsOf(sources: readonly PathSource[]): readonly OwnPath[] {
  const paths = new Map<string, OwnPath>()
  for (const own of sources.flatMap(source => source.paths())) {
    if (documentedPaths.includes(own.path)) continue
    const key = `${own.method} ${own.path}`
    const before = paths.get(key)
    paths.set(key, before ? { ...before, access: combinedAccess(before.access, own.access) } : own)
  }
  return [...paths.values()]
}

/** Tries each source in turn until one has an answer. A source only answers callers that have access to it. */
function createOwnEndpoints(sources: readonly PathSource[]) {
  const cache = new WeakMap<OwnPath, Endpoint>()

  /** The endpoints of each source for a method on a path. */
  function candidates(method: string, path: string, scope?: string): readonly Candidate[] {
    const endpointMethod = lookupMethod(method)
    return sources.flatMap(source => {
      const own = source.at(path, scope).find(one => one.method === endpointMethod)
      return own ? [{ source, own }] : []
    })
  }

  function endpointOf(found: readonly Candidate[]): Endpoint | undefined {
    const [first, ...others] = found
    if (!first) return undefined
    const before = others.length === 0 ? cache.get(first.own) : undefined
    if (before) return before
    const access = found.map(({ own }) => own.access).reduce(combinedAccess)
    const reply = (exchange: Exchange) => firstAnswer(found, exchange)
    const endpoint: Endpoint = { ...first.own, access, takesBody: true, isConfigured: true, reply }
    if (others.length === 0) cache.set(first.own, endpoint)
    return endpoint
  }

  return { find: (method: string, path: string, scope?: string) => endpointOf(candidates(method, path, scope)) }
}

interface Candidate {
  readonly source: PathSource
  readonly own: OwnPath
}

async function firstAnswer(found: readonly Candidate[], exchange: Exchange): Promise<Reply> {
  const allowed = found.filter(({ own }) => hasAccess(exchange.caller, own.access))
  for (const { source } of allowed) {
    const reply = await source.answer(exchange)
    if (reply) return reply
  }
  const [denied] = found.filter(one => !allowed.includes(one))
  if (denied) authorize(exchange.caller, denied.own)
  return refuse(found, exchange)
}

const hasAccess = ({ kind }: Caller, access: Access) => access === 'anyone' || access.some(one => one === kind)

async function refuse(found: readonly Candidate[], exchange: Exchange): Promise<never> {
  for (const { source } of found) {
    const error = await source.refusal?.(exchange)
    if (error) throw error
  }
  throw notFound()
}

/** Documented endpoints with the faults of `sources`, and the index with their paths. */
function createDocumentedEndpoints(sources: readonly PathSource[]) {
  const made = new WeakMap<Endpoint, Endpoint>()
  const faultSources = sources.filter(source => source.faultFor)

  async function faultFor(exchange: Exchange) {
    for (const source of faultSources) {
      const fault = await source.faultFor?.(exchange)
      if (fault) return fault
    }
    return undefined
  }

  return (endpoint: Endpoint): Endpoint => {
    const isIndex = endpoint.path === INDEX
    if (!isIndex && faultSources.length === 0) return endpoint
    const before = made.get(endpoint)
    if (before) return before
    const found: Endpoint = {
      ...endpoint,
      async reply(exchange) {
        const reply = await endpoint.reply(exchange)
        const fault = await faultFor(exchange)
        return { ...(isIndex ? withPaths(reply, pathsOf(sources)) : reply), ...(fault && { fault }) }
      },
    }
    made.set(endpoint, found)
    return found
  }
}

function withPaths(index: Reply, paths: readonly OwnPath[]): Reply {
  const { endpoints, ...rest } = JSON.parse(String(index.body)) as { readonly endpoints: readonly unknown[] }
  return { ...index, ...jsonReply({ ...rest, endpoints: [...endpoints, ...paths.map(indexEntry)] }) }
}
