/** The OpenAPI 3.1 document of the platform: its endpoints, the user's own paths, and the auth backend. */
import { estimated } from '../../chat/tokens/index.js'
import { errorAnswer, notFoundAnswer } from '../../contract/answers.js'
import type { Endpoint, EndpointDescription, OwnPath } from '../../core/exchange.js'
import { operationId } from '../../core/paths.js'
import { createEndpoints } from '../../endpoints/index.js'
import { createModeOf } from '../../http/modes.js'
import type { Backend } from '../../supabase/backend.js'
import { isOpenAtGateway } from '../../supabase/callers.js'
import { authRefusal } from '../../supabase/endpoints/forms.js'
import { authEndpoints } from '../../supabase/endpoints/index.js'
import type { Config } from '../config/schema.js'
import { createDocumentSchemas, writeOperation } from './operation.js'
import { type PlacedOperation, securitySchemes, tags } from './surface.js'

interface Running {
  readonly url: string
  /** The paths that the user configured. */
  readonly ownPaths?: readonly OwnPath[] | undefined
}

/** Builds the document of a platform with this configuration, without opening anything. */
export async function openApiOf(config: Config, { url, ownPaths = [] }: Running): Promise<object> {
  const forms = createDocumentSchemas()
  const citation = { section: 'Errors', fields: ['error', 'path'] }
  await forms.named(['Error', errorAnswer], citation)
  await forms.named(['NotFound', notFoundAnswer], citation)
  await forms.named(['AuthError', authRefusal])
  const placed = [
    ...(await platformOperations(config)),
    ...(await Promise.all(ownPaths.map(describeOwnPath))),
    ...(await authOperations(config)),
  ]
  const paths: Record<string, Record<string, object>> = {}
  for (const one of placed) {
    paths[one.path] ??= {}
    Object.assign(paths[one.path] ?? {}, { [one.method]: await writeOperation(one, forms) })
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Standin',
      description,
      version: config.version,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url }],
    tags,
    paths,
    components: { schemas: forms.schemas, securitySchemes },
  }
}

const description = [
  'A local stand-in for the AI platform. The keyword x-standin-source is documented for what platform-api.md specifies, with its section in x-standin-section, and decided for what it leaves open and Standin has decided. Something without the keyword has the source of what contains it.',
  'An unknown path gets a 404 with the body NotFound, and an unknown method on a path a 405 with the body Error and the header Allow; below /auth/v1/, the bodies are those of Supabase Auth. Every GET operation also answers HEAD, and every path of the platform and the auth backend answers OPTIONS.',
  'In the modes proxy and record, the live platform answers. Its answers may contain more than is described here.',
].join('\n\n')

/** Created only for their descriptions. */
async function platformOperations(config: Config): Promise<readonly PlacedOperation[]> {
  const replies = { answer: notCalled }
  const endpoints = createEndpoints({ ...config, usedModels: new Set(), replies, tokenizer: estimated })
  return describeEndpoints(endpoints, config, access => access.map(kind => ({ [kind]: [] })))
}

const describeOwnPath = async ({ method, path, access, says }: OwnPath): Promise<PlacedOperation> => ({
  part: 'platform',
  method: method.toLowerCase(),
  path,
  security: access === 'anyone' ? [] : access.map(kind => ({ [kind]: [] })),
  operation: says ? await says() : describeConfigured(method, path),
})

const describeConfigured = (method: string, path: string): EndpointDescription => ({
  id: operationId(`${method} ${path}`.toLowerCase()),
  does: 'Answered as configured.',
  answers: { 200: { what: 'The configured answer.', type: '*/*' } },
})

async function authOperations(config: Config): Promise<readonly PlacedOperation[]> {
  const backend: Backend = {
    state: { read: notCalled, write: notCalled, followUsers: notCalled, onRevoked: notCalled, close: notCalled },
    tokens: { anonKey: '', serviceKey: '', jwks: { keys: [] }, sign: notCalled, signKey: notCalled, verify: notCalled },
    url: notCalled,
    settings: config.auth,
    now: Date.now,
    announce: () => {},
    origins: { requireOwnAdmin: notCalled },
  }
  return describeEndpoints(authEndpoints(backend), config, (access, path) => {
    const key = config.auth.gateway === 'kong' && !isOpenAtGateway(path) ? { gatewayKey: [] } : {}
    if (access.length > 0) return access.map(kind => ({ ...key, [kind]: [] }))
    return 'gatewayKey' in key ? [key] : []
  })
}

function notCalled(): never {
  throw new Error('Endpoints of the OpenAPI document are only described, not called.')
}

type SecurityOf = (access: readonly string[], path: string) => PlacedOperation['security']

async function describeEndpoints(
  endpoints: readonly Endpoint[],
  { mode, modes }: Config,
  securityOf: SecurityOf,
): Promise<readonly PlacedOperation[]> {
  const modeOf = createModeOf(mode, modes)
  const placed = endpoints.map(async ({ method, path, access, describe }) => {
    if (!describe) return []
    const operation = await describe(modeOf({ method, path }))
    const part = path.startsWith('/auth/v1') ? 'auth' : 'platform'
    const security = securityOf(operation.access ?? (access === 'anyone' ? [] : access), path)
    return [{ part, method: method.toLowerCase(), path, operation, security } as const]
  })
  return (await Promise.all(placed)).flat()
}
