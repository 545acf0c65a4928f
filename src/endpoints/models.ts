/** GET /v1/models: what the platform can be asked for (platform-api.md, "Endpoints"; the form is OpenAI's). */
import type { Access, Endpoint } from '../core/exchange.js'
import type { PaceInput } from '../core/pace.js'
import { jsonReply } from './json-reply.js'

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
  return { method: 'GET', path: '/v1/models', access, takesBody: false, reply: () => reply }
}

/** A model as the world sees it, without what only the platform itself needs. */
const listed = ({ pace: _pace, maxPromptTokens: _maxPromptTokens, ...model }: Model) => model
