/** The OpenAPI document of the platform: openapi.yaml, which is written by hand, with the addresses, accesses and own paths of a configuration. */
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { readYaml } from '../check/yaml.js'
import type { Access, OwnPath } from '../core/exchange.js'
import { AUTH } from '../core/paths.js'

/** The path is the same from src/contract as from dist/chunks, where the build puts this file. */
// Not import.meta.dirname, which jest 29 does not have.
const file = fileURLToPath(new URL('../../dist/openapi.yaml', import.meta.url))

/** Each alternative has the schemes that it takes together. */
type Security = readonly Readonly<Record<string, readonly string[]>>[]

interface DocumentedOperation {
  readonly security?: Security
  readonly [field: string]: unknown
}

interface PlatformDocument {
  readonly info: object
  readonly paths: Record<string, Record<string, DocumentedOperation>>
}

interface Running {
  readonly url: string
  readonly version: string
  /** The documented endpoints, with who may call them here, and the user's own paths. */
  readonly endpoints: readonly OwnPath[]
  /** Whether a gateway in front of the auth backend wants a key. */
  readonly hasGateway: boolean
}

export async function openApiOf({ url, version, endpoints, hasGateway }: Running): Promise<object> {
  const { paths, ...document } = readYaml(await readFile(file, 'utf8'), file).value as PlatformDocument
  for (const endpoint of endpoints) {
    const [path, method] = [endpoint.path, endpoint.method.toLowerCase()]
    const operation = paths[path]?.[method] ?? ownOperation(endpoint)
    paths[path] = { ...paths[path], [method]: { ...operation, security: securityOf(endpoint.access) } }
  }
  const all = Object.entries(paths).map(([path, methods]) => [
    path,
    !hasGateway && path.startsWith(AUTH) ? withoutGateway(methods) : methods,
  ])
  return { ...document, info: { ...document.info, version }, servers: [{ url }], paths: Object.fromEntries(all) }
}

const securityOf = (access: Access): Security => (access === 'anyone' ? [] : access.map(kind => ({ [kind]: [] })))

/** `getBuilderProjectsId` for `get /builder/projects/{id}`. */
const operationId = (methodAndPath: string) =>
  methodAndPath.replace(/[^a-z0-9]+(.|$)/gi, (_gap, next: string) => next.toUpperCase())

/** All that is known about an own path, whose answers the user configures. */
const ownOperation = ({ method, path, access }: OwnPath) => ({
  operationId: operationId(`${method} ${path}`.toLowerCase()),
  tags: ['own'],
  summary: 'Answered as configured.',
  parameters: [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    ...{ name, in: 'path', required: true },
    schema: { type: 'string' },
  })),
  responses: {
    200: { description: 'The configured answer.', content: { '*/*': {} } },
    ...(access !== 'anyone' && { 401: { $ref: '#/components/responses/Unauthorized' } }),
    default: { description: 'Any other answer, as configured.', content: { '*/*': {} } },
  },
})

const withoutGateway = (methods: PlatformDocument['paths'][string]) =>
  Object.fromEntries(
    Object.entries(methods).map(([method, { security = [], ...operation }]) => {
      const keys = security.map(({ gatewayKey: _gatewayKey, ...others }) => others)
      return [method, { ...operation, security: keys.filter(one => Object.keys(one).length > 0) }]
    }),
  )
