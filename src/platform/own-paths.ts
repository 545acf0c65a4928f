/** Endpoints on configured paths, in addition to the documented ones: rules first, then the other sources. */
import { notFound } from '../core/errors.js'
import {
  type Access,
  type Caller,
  combinedAccess,
  type Endpoint,
  type Exchange,
  type OwnPath,
  type PathSource,
} from '../core/exchange.js'
import { type Pace, paceFrom, requestedPaceOf } from '../core/pace.js'
import { lookupMethod } from '../core/paths.js'
import type { Reply } from '../core/reply.js'
import { withPaths } from '../endpoints/api-index.js'
import { isDocumentedPath, type Routes, routesFrom } from '../endpoints/index.js'
import { authorize } from '../keys/identify.js'
import type { HttpGeneration, HttpReplies } from '../replies/index.js'

/** Adds the endpoints of `sources` to `routes`. A documented endpoint keeps its answer; a source can only add a fault to it. */
export function withOwnPaths(routes: Routes, sources: readonly PathSource[]): Routes {
  const documented = createDocumentedEndpoints(sources)
  // Without a scope in the headers, all scopes count, because the caller's API key may belong to one.
  return routesFrom(
    (method, path, scope) => {
      const found = routes.find(method, path)
      // Rules for chat completions are applied elsewhere (chat-completions.ts).
      if (found) return found.callsModel ? found : documented(found)
      return routes.has(path) ? undefined : ownEndpoint(sources, method, path, scope || undefined)
    },
    (path, scope) =>
      routes.methodsOf(path) ?? methodsOf(sources.flatMap(source => source.at(path, scope || undefined))),
  )
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
    if (isDocumentedPath(own.path)) continue
    const key = `${own.method} ${own.path}`
    const before = paths.get(key)
    paths.set(key, before ? { ...before, access: combinedAccess(before.access, own.access) } : own)
  }
  return [...paths.values()]
}

/** Tries each source in turn until one has an answer. A source only answers callers that have access to it. */
function ownEndpoint(sources: readonly PathSource[], method: string, path: string, scope?: string) {
  const found = sources.flatMap((source): readonly Candidate[] => {
    const all = source.at(path, scope)
    const own = all.find(one => one.method === method) ?? all.find(one => one.method === lookupMethod(method))
    return own ? [{ source, own }] : []
  })
  if (!found[0]) return undefined
  const endpoint: Endpoint = {
    ...found[0].own,
    access: found.map(({ own }) => own.access).reduce(combinedAccess),
    takesBody: true,
    isConfigured: true,
    reply: exchange => firstAnswer(found, exchange),
  }
  return endpoint
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
  throw notFound(exchange.path)
}

/** Documented endpoints with the faults of `sources`, and the index with their paths. */
function createDocumentedEndpoints(sources: readonly PathSource[]) {
  const faultSources = sources.filter(source => source.faultFor)

  async function reply(endpoint: Endpoint, exchange: Exchange): Promise<Reply> {
    const reply = await endpoint.reply(exchange)
    const whole = endpoint.listsPaths ? withPaths(reply, pathsOf(sources)) : reply
    for (const source of faultSources) {
      const fault = await source.faultFor?.(exchange)
      if (fault) return { ...whole, fault }
    }
    return whole
  }

  return (endpoint: Endpoint): Endpoint =>
    !endpoint.listsPaths && faultSources.length === 0
      ? endpoint
      : { ...endpoint, reply: exchange => reply(endpoint, exchange) }
}

/** Rules as the first source. `usual` is the pace of streams for which neither the rule nor the request sets one. */
export const rulePaths = (replies: HttpReplies, usual: Pace): PathSource => ({
  ...replies,
  answer(exchange) {
    const requested = requestedPaceOf(exchange.headers)
    const toReply = (generation?: HttpGeneration) =>
      generation && generatedReply(generation, paceFrom(requested, paceFrom(generation.pace, usual)))
    const generation = replies.answer(exchange)
    return generation instanceof Promise ? generation.then(toReply) : toReply(generation)
  },
})

function generatedReply({ status, headers, contentType, body, answeredBy, fault }: HttpGeneration, pace: Pace): Reply {
  const head = { kind: 'reply', status, contentType, headers, answeredBy, fault } as const
  if (!isStream(body)) return { ...head, body }
  return { ...head, body: { head: '', before: '', pieces: body, after: '', tail: '', pace } }
}

const isStream = (body: HttpGeneration['body']): body is readonly string[] => Array.isArray(body)
