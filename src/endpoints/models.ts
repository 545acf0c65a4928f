/** GET /v1/models: what the platform can be asked for (platform-api.md, "Endpoints"; the form is OpenAI's). */
import type { Access, Endpoint } from '../core/exchange.js'
import { jsonReply } from './json-reply.js'

export interface Model {
  readonly id: string
  readonly object: string
  readonly created: number
  readonly owned_by: string
  readonly [further: string]: unknown
}

export function modelList({ models, access }: { models: readonly Model[]; access: Access }): Endpoint {
  const reply = jsonReply({ object: 'list', data: models })
  return { method: 'GET', path: '/v1/models', access, takesBody: false, reply: () => reply }
}
