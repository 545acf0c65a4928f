/** The endpoints that always give the same answer: the index, the health check and the models. */
import type { HealthAnswer, IndexAnswer } from '../contract/answers.js'
import type { Access, Endpoint, EndpointDescription } from '../core/exchange.js'
import type { PaceInput } from '../core/pace.js'
import { HEALTH, INDEX, MODELS } from '../core/paths.js'
import { jsonReply } from '../core/reply.js'
import { ANY_MODEL } from './options.js'

const fixedEndpoint = (
  path: string,
  access: Access,
  answer: object,
  describe: NonNullable<Endpoint['describe']>,
): Endpoint => {
  const reply = jsonReply(answer)
  return { method: 'GET', path, access, takesBody: false, describe, reply: () => reply }
}

/** GET /health: whether the service is up, and its version (platform-api.md, "Health response"). */
export const health = ({ version, access }: { version: string; access: Access }): Endpoint =>
  fixedEndpoint(HEALTH, access, { status: 'ok', version } satisfies HealthAnswer, describeHealth)

async function describeHealth(): Promise<EndpointDescription> {
  const { healthAnswer } = await import('../contract/answers.js')
  return {
    id: 'getHealth',
    does: 'Returns whether the service is healthy, and its version.',
    section: 'Endpoints',
    answers: {
      200: {
        what: 'It is healthy.',
        form: ['Health', healthAnswer],
        section: 'Health response (JSON)',
        fields: ['status', 'version'],
      },
    },
  }
}

/**
 * GET /api/v1: the list of endpoints (platform-api.md, "API index response"). Returns `endpoints` with the index in its
 * documented place after the first one. It lists all of them and itself.
 */
export function withIndex(access: Access, endpoints: readonly Endpoint[]): readonly Endpoint[] {
  const [first, ...rest] = endpoints
  const own = { method: 'GET', path: INDEX, access }
  const listed = [...(first ? [first] : []), own, ...rest].map(indexEntry)
  const index = fixedEndpoint(INDEX, access, { status: 'ok', endpoints: listed } satisfies IndexAnswer, describeIndex)
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

async function describeIndex(): Promise<EndpointDescription> {
  const { indexAnswer, listedIndexAnswer } = await import('../contract/answers.js')
  return {
    id: 'getIndex',
    does: 'Lists the endpoints of the platform.',
    section: 'Endpoints',
    answers: {
      200: {
        what: 'The endpoints.',
        form: ['ApiIndex', listedIndexAnswer],
        section: 'API index response (JSON)',
        fields: Object.keys(indexAnswer.entries),
      },
    },
  }
}

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
  const fixed = fixedEndpoint(MODELS, access, listed(named), describeModels)
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

async function describeModels(): Promise<EndpointDescription> {
  const { modelsAnswer } = await import('../contract/answers.js')
  return {
    id: 'listModels',
    does: 'Lists the models that are available for chat completions.',
    more: "The platform's document does not show the format of the list. Here it is OpenAI's.",
    section: 'Endpoints',
    answers: { 200: { what: 'The models.', form: ['ModelList', modelsAnswer], section: 'Endpoints', fields: [] } },
  }
}
