/** All emulated endpoints, and how a request finds its endpoint. */
import type { Tokenizer } from '../chat/tokens/index.js'
import { methodNotAllowed, notFound } from '../core/errors.js'
import { type Access, accessBelow, credentialKinds, type Endpoint } from '../core/exchange.js'
import type { Pace } from '../core/pace.js'
import type { Replies } from '../replies/index.js'
import { chatCompletions, type Requests } from './chat-completions.js'
import { health, type Model, modelList, withIndex } from './fixed.js'

interface EndpointParts {
  readonly version: string
  readonly models: readonly Model[]
  /** The ids of models without an entry that were used, if any model may be used. Chat adds to it. */
  readonly usedModels: Set<string>
  readonly replies: Pick<Replies, 'answer'>
  readonly pace: Pace
  readonly tokenizer: Tokenizer
  readonly requests: Requests
  readonly access: { readonly health: Access; readonly index: Access; readonly models: Access; readonly chat: Access }
}

/** The four documented endpoints. Those of the auth backend are in supabase/ and are loaded separately. */
export function createEndpoints({ access, version, ...chat }: EndpointParts): readonly Endpoint[] {
  return withIndex(access.index, [
    health({ version, access: access.health }),
    modelList({ models: chat.models, used: chat.usedModels, access: access.models }),
    chatCompletions({ ...chat, access: access.chat }),
  ])
}

export interface Routes {
  /** The endpoint of a method on a path; GET also answers HEAD. Throws a 404 for an unknown path, and a 405 for an unknown method. */
  get(method: string, path: string, scope?: string): Endpoint
  /** The same, but returns `undefined` instead of throwing. */
  find(method: string, path: string, scope?: string): Endpoint | undefined
  /** Whether the path exists, for any method. */
  has(path: string): boolean
  /** The value of `Allow` for a path; `undefined` if the path does not exist. */
  methodsOf(path: string, scope?: string): readonly string[] | undefined
}

type Methods = Map<string, Endpoint>

/** Matches paths against one with parameters in braces. */
const patternOf = (path: string) =>
  new RegExp(`^${path.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{\w+\}/g, '[^/]+')}$`)

export function createRoutes(endpoints: readonly Endpoint[]): Routes {
  const paths = new Map<string, Methods>()
  for (const endpoint of endpoints) {
    const methods = paths.get(endpoint.path) ?? new Map()
    methods.set(endpoint.method, endpoint)
    if (endpoint.method === 'GET') methods.set('HEAD', endpoint)
    paths.set(endpoint.path, methods)
  }
  const patterns = [...paths]
    .filter(([path]) => path.includes('{'))
    .map(([path, methods]) => [patternOf(path), methods] as const)
  const methodsAt = (path: string) => paths.get(path) ?? patterns.find(([pattern]) => pattern.test(path))?.[1]
  return routesFrom(
    (method, path) => methodsAt(path)?.get(method),
    path => {
      const methods = methodsAt(path)
      return methods && [...methods.keys(), 'OPTIONS']
    },
  )
}

export const routesFrom = (find: Routes['find'], methodsOf: Routes['methodsOf']): Routes => ({
  find,
  methodsOf,
  has: path => methodsOf(path) !== undefined,
  get(method, path, scope) {
    const found = find(method, path, scope)
    if (found) return found
    const methods = methodsOf(path, scope)
    throw methods ? methodNotAllowed(method, methods) : notFound(path)
  },
})

/** The endpoint for a path that is not emulated, with any method. */
export const undocumentedEndpoint = (method: string, path: string): Endpoint => ({
  method,
  path,
  access: accessBelow(path) ?? credentialKinds,
  takesBody: true,
  isUndocumented: true,
  reply() {
    throw notFound(path)
  },
})
