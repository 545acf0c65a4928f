/** The OpenAPI 3.1 document of all paths, assembled from the descriptions of endpoints and operations. */
import type { Audience, Operation, Operations } from '../../api/operation.js'
import { estimated } from '../../completions/tokens/index.js'
import type { Config } from '../../config/schema.js'
import { errorAnswer, notFoundAnswer } from '../../contract/answers.js'
import type { Endpoint, EndpointDescription, OwnPath } from '../../core/exchange.js'
import { isLoopback } from '../../core/origins.js'
import { CONTROL, DASHBOARD, operationId } from '../../core/paths.js'
import { nextTurn } from '../../core/work.js'
import { type DashboardApiParts, dashboardOperations } from '../../dashboard/operations.js'
import { createModeOf } from '../../http/modes.js'
import { type ControlParts, controlOperations } from '../../http/operations.js'
import { createEndpoints } from '../../platform-api/index.js'
import { authRefusal } from '../../supabase/answers.js'
import type { Backend } from '../../supabase/backend.js'
import { authEndpoints } from '../../supabase/endpoints/index.js'
import { isOpenAtGateway } from '../../supabase/gateway.js'
import { createForms, writeOperation } from './operation.js'
import { type PlacedOperation, securitySchemes, tags } from './surface.js'

interface Running {
  readonly url: string
  /** The paths that the user configured. */
  readonly ownPaths?: readonly OwnPath[] | undefined
}

/** Builds the document of a platform with this configuration, without opening anything. */
export async function openApiOf(config: Config, { url, ownPaths = [] }: Running): Promise<object> {
  const forms = createForms()
  const citation = { section: 'Errors', fields: ['error', 'path'] }
  await forms.named(['Error', errorAnswer], citation)
  await forms.named(['NotFound', notFoundAnswer], citation)
  await forms.named(['AuthError', authRefusal])
  const placed = [
    ...(await platformOperations(config)),
    ...(await Promise.all(ownPaths.map(own))),
    ...(await authOperations(config)),
    ...placedIn('dashboard', `${DASHBOARD}/api`, dashboardOperations(nothing), access =>
      access === 'user' ? [{ user: [] }] : access === 'anyone' ? [] : developer,
    ),
    ...placedIn('control', CONTROL, controlOperations(nothing), access =>
      access === 'anyone' ? [] : whoControls(config),
    ),
  ]
  const paths: Record<string, Record<string, object>> = {}
  for (const one of placed) {
    // All of them together take more than 100 ms.
    await nextTurn()
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
  'A local stand-in for the AI platform. The keyword x-standin-source tells apart what platform-api.md says (documented, with its section in x-standin-section) from what it leaves open and Standin has decided (decided); what has none says no more than what it is part of.',
  'A path that is not here answers 404 with the body NotFound, and a method that a path does not have 405 with the body Error and the header Allow; below /auth/v1/ in the forms of Supabase Auth. GET also answers HEAD, and every path of the platform and the auth backend OPTIONS.',
  'In the modes proxy and record, the live platform answers. Its answers may contain more than is described here.',
].join('\n\n')

/** Created only for their descriptions. */
async function platformOperations(config: Config): Promise<readonly PlacedOperation[]> {
  const endpoints = createEndpoints({ ...config, replies: { answer: nobodyAsks }, tokenizer: estimated })
  return describedBy(endpoints, config, access => access.map(kind => ({ [kind]: [] })))
}

const own = async ({ method, path, access, says }: OwnPath): Promise<PlacedOperation> => ({
  ...{ part: 'platform', method: method.toLowerCase(), path },
  security: access === 'anyone' ? [] : access.map(kind => ({ [kind]: [] })),
  operation: says ? await says() : byRule(method, path),
})

const byRule = (method: string, path: string): EndpointDescription => ({
  id: operationId(`${method} ${path}`.toLowerCase()),
  does: 'Answered by rules.',
  answers: { 200: { what: 'What the first rule that matches says.', type: '*/*' } },
})

async function authOperations(config: Config): Promise<readonly PlacedOperation[]> {
  const backend: Backend = {
    ...{ state: nobodyAsks, tokens: nobodyAsks, url: nobodyAsks },
    ...{ settings: config.auth, now: Date.now, announce: () => {}, origins: { requireOwnAdmin: nobodyAsks } },
  }
  return describedBy(authEndpoints(backend), config, (access, path) => {
    const key = config.auth.gateway === 'kong' && !isOpenAtGateway(path) ? { gatewayKey: [] } : {}
    if (access.length > 0) return access.map(kind => ({ ...key, [kind]: [] }))
    return 'gatewayKey' in key ? [key] : []
  })
}

function nobodyAsks(): never {
  throw new Error('The document is made without asking.')
}

type Opens = (access: readonly string[], path: string) => PlacedOperation['security']

async function describedBy(
  endpoints: readonly Endpoint[],
  { mode, modes }: Config,
  opens: Opens,
): Promise<readonly PlacedOperation[]> {
  const modeOf = createModeOf(mode, modes)
  const placed = endpoints.map(async ({ method, path, access, says }) => {
    if (!says) return []
    const operation = await says(modeOf({ method, path }))
    const part = path.startsWith('/auth/v1') ? 'auth' : 'platform'
    const security = opens(operation.access ?? (access === 'anyone' ? [] : access), path)
    return [{ part, method: method.toLowerCase(), path, operation, security } as const]
  })
  return (await Promise.all(placed)).flat()
}

/** The descriptions of operations need no implementation. */
const nothing = {} as ControlParts & DashboardApiParts

function placedIn(
  part: PlacedOperation['part'],
  prefix: string,
  operations: Operations,
  opens: (access: Audience) => PlacedOperation['security'],
): readonly PlacedOperation[] {
  return Object.entries(operations).map(([id, one]) => {
    const [method = '', path = ''] = one.at.split(' ')
    const security = opens(one.access ?? 'developer')
    return { part, method: method.toLowerCase(), path: prefix + path, operation: descriptionOf(id, one), security }
  })
}

function descriptionOf(
  id: string,
  { answer, returns, status, streams, access: _, ...operation }: Operation,
): EndpointDescription {
  const answers = [
    { what: answer, ...(typeof returns === 'string' ? { type: returns } : returns && { schema: returns }) },
    ...(streams ? [{ what: streams.answer, type: 'text/event-stream', events: streams.events }] : []),
  ]
  return { ...operation, id, answers: { [status ?? (returns ? 200 : 204)]: answers } }
}

/** No credential is needed if only this machine can reach the address. */
const whoControls = ({ host }: Config): PlacedOperation['security'] =>
  isLoopback(host) ? developer : [{ controlToken: [] }, { service: [] }]

/** On this machine no credential is needed. */
const developer: PlacedOperation['security'] = [{}, { controlToken: [] }, { service: [] }]
