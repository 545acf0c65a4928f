/** The endpoints that always give the same answer: the index, the health check and the models. */
import type { HealthAnswer, IndexAnswer } from '../contract/answers.js'
import type { Access, Endpoint } from '../core/exchange.js'
import type { PaceInput } from '../core/pace.js'
import { HEALTH, INDEX, MODELS } from '../core/paths.js'
import { jsonReply } from '../core/reply.js'
import { ANY_MODEL } from './options.js'

const fixedEndpoint = (path: string, access: Access, answer: object): Endpoint => {
  const reply = jsonReply(answer)
  return { method: 'GET', path, access, takesBody: false, reply: () => reply }
}

/** GET /health: whether the service is up, and its version (platform-api.md, "Health response"). */
export const health = ({ version, access }: { version: string; access: Access }): Endpoint =>
  fixedEndpoint(HEALTH, access, { status: 'ok', version } satisfies HealthAnswer)

/**
 * GET /api/v1: the list of endpoints (platform-api.md, "API index response"). Returns `endpoints` with the index in its
 * documented place after the first one. It lists all of them and itself.
 */
export function withIndex(access: Access, endpoints: readonly Endpoint[]): readonly Endpoint[] {
  const [first, ...rest] = endpoints
  const own = { method: 'GET', path: INDEX, access }
  const listed = [...(first ? [first] : []), own, ...rest].map(indexEntry)
  const index = fixedEndpoint(INDEX, access, { status: 'ok', endpoints: listed } satisfies IndexAnswer)
  return [...(first ? [first] : []), index, ...rest]
}

/**
 * The document does not show the elements. Ours have the method, the path and the accepted kinds of credential, which
 * are empty if anyone may call.
 */
export const indexEntry = ({ method, path, access }: Pick<Endpoint, 'method' | 'path' | 'access'>) => ({
  method,
  path,
  credential: access === 'anyone' ? [] : access,
})

export interface Model {
  readonly id: string
  readonly object: string
  readonly created: number
  readonly owned_by: string
  /** The pace of its streams, if it has its own; not listed. */
  readonly pace?: PaceInput | null | undefined
  /** The longest prompt that it accepts; not listed. */
  readonly maxPromptTokens?: number | undefined
  readonly [further: string]: unknown
}

/** GET /v1/models: the models of the platform (platform-api.md, "Endpoints"; the format is OpenAI's). */
export function modelList({ models, used, access }: ModelListParts): Endpoint {
  const any = models.find(({ id }) => id === ANY_MODEL)
  const named = models.filter(model => model !== any)
  const listed = (all: readonly Model[]) => ({ object: 'list', data: all.map(listedModel) })
  const fixed = fixedEndpoint(MODELS, access, listed(named))
  if (!any) return fixed
  return { ...fixed, reply: () => jsonReply(listed([...named, ...[...used].map(id => ({ ...any, id }))])) }
}

interface ModelListParts {
  readonly models: readonly Model[]
  /** The ids that chat accepted as any model, in their order. */
  readonly used: ReadonlySet<string>
  readonly access: Access
}

/** A model as listed, without internal fields. */
const listedModel = ({ pace: _pace, maxPromptTokens: _maxPromptTokens, ...model }: Model) => model
