/** The documented endpoints, a record each, and how a request finds its endpoint. */
import * as v from 'valibot'
import { described, map, word } from '../check/forms.js'
import { methodNotAllowed, notFound } from '../core/errors.js'
import {
  type Access,
  access,
  accessBelow,
  credentialKinds,
  type DocumentedEndpoint,
  type Endpoint,
} from '../core/exchange.js'
import { apiIndex } from './api-index.js'
import { type ChatParts, chatCompletions } from './chat-completions.js'
import { health } from './health.js'
import { models } from './models.js'
import type { Model } from './options.js'

/** In the order of the document. Those of the auth backend are in supabase/ and are loaded separately. */
const records = [health, apiIndex, models, chatCompletions] as const

export const documentedEndpoints: readonly DocumentedEndpoint[] = records

/** The documented endpoint of a method on a path. */
export const documentedAt = (method: string, path: string): DocumentedEndpoint | undefined =>
  documentedEndpoints.find(one => one.method === method && one.path === path)

/** Whether the platform's document defines a path. */
export const isDocumentedPath = (path: string): boolean => documentedEndpoints.some(one => one.path === path)

/** Without the version, since other platforms have them below another prefix: `/openai/v1/chat/completions`. */
const modelPaths = documentedEndpoints.flatMap(({ callsModel, path }) =>
  callsModel ? [path.replace(/^\/v\d+/, '')] : [],
)

/** Whether requests to this path are chats. */
export const asksForChat = (path: string): boolean => modelPaths.some(end => path.endsWith(end))

const names = records.map(one => one.name) as [string, ...string[]]

export const accessOption = v.nullish(
  described(
    map(word(names), access, 'a map from endpoints to who may call them'),
    `Who may call an endpoint (${names.join(', ')}), where that is not as usual: anyone, or a list of ${credentialKinds.join(', ')}, such as { chat: anyone, health: [apiKey] }.`,
  ),
  {},
)

interface EndpointParts extends ChatParts {
  readonly version: string
  readonly models: readonly Model[]
  readonly access: Readonly<Record<string, Access>>
}

export function createEndpoints({ access, ...parts }: EndpointParts): readonly Endpoint[] {
  const endpoints = records.map(one => ({ ...one, access: access[one.name] ?? one.access }))
  return endpoints.map(endpoint => ({
    ...endpoint,
    takesBody: endpoint.method === 'POST',
    reply: endpoint.replyWith({ ...parts, endpoints }),
  }))
}

export interface Routes {
  /** The endpoint of a method on a path; GET also answers HEAD. Throws a 404 for an unknown path, and a 405 for an unknown method. */
  get(method: string, path: string, scope?: string): Endpoint
  /** The same, but returns `undefined` instead of throwing. */
  find(method: string, path: string, scope?: string): Endpoint | undefined
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
