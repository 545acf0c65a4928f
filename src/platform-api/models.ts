/** GET /v1/models: the models of the platform (platform-api.md, "Endpoints"; the form is OpenAI's). */
import { type Access, type Endpoint, type EndpointDescription, jsonReply } from '../core/exchange.js'
import type { PaceInput } from '../core/pace.js'

export interface Model {
  readonly id: string
  readonly object: string
  readonly created: number
  readonly owned_by: string
  /** The rhythm of its streams, where it has one of its own; not listed. */
  readonly pace?: PaceInput | null | undefined
  /** How long a prompt it takes; not listed. */
  readonly maxPromptTokens?: number | undefined
  readonly [further: string]: unknown
}

export function modelList({ models, access }: { models: readonly Model[]; access: Access }): Endpoint {
  const reply = jsonReply({ object: 'list', data: models.map(listed) })
  return { method: 'GET', path: '/v1/models', access, takesBody: false, says, reply: () => reply }
}

/** A model as the world sees it, without what only the platform itself needs. */
const listed = ({ pace: _pace, maxPromptTokens: _maxPromptTokens, ...model }: Model) => model

async function says(): Promise<EndpointDescription> {
  const { modelsAnswer } = await import('../contract/answers.js')
  return {
    id: 'listModels',
    does: 'The models that chat completions can be asked of.',
    more: 'The platform does not show the form of the list; here it is the one of OpenAI.',
    section: 'Endpoints',
    answers: { 200: { what: 'The models.', form: ['ModelList', modelsAnswer], section: 'Endpoints', fields: [] } },
  }
}
