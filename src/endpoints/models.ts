/** GET /v1/models: the models of the platform (platform-api.md, "Endpoints"; the format is OpenAI's). */

import type { Access, Endpoint, EndpointDescription } from '../core/exchange.js'
import type { PaceInput } from '../core/pace.js'
import { MODELS } from '../core/paths.js'
import { jsonReply } from '../core/reply.js'

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

export function modelList({ models, access }: { models: readonly Model[]; access: Access }): Endpoint {
  const reply = jsonReply({ object: 'list', data: models.map(listed) })
  return { method: 'GET', path: MODELS, access, takesBody: false, describe, reply: () => reply }
}

/** A model as listed, without internal fields. */
const listed = ({ pace: _pace, maxPromptTokens: _maxPromptTokens, ...model }: Model) => model

async function describe(): Promise<EndpointDescription> {
  const { modelsAnswer } = await import('../contract/answers.js')
  return {
    id: 'listModels',
    does: 'Lists the models that are available for chat completions.',
    more: "The platform's document does not show the format of the list. Here it is OpenAI's.",
    section: 'Endpoints',
    answers: { 200: { what: 'The models.', form: ['ModelList', modelsAnswer], section: 'Endpoints', fields: [] } },
  }
}
