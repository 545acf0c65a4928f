/** GET /v1/models: the models of the platform (platform-api.md, "Endpoints"; the format is OpenAI's). */
import * as v from 'valibot'
import { arrayOf, integer, only, open, text } from '../check/forms.js'
import type { DocumentedEndpoint, Endpoint } from '../core/exchange.js'
import { fixedReply, jsonReply } from '../core/reply.js'
import { ANY_MODEL, type Model } from './options.js'

/** The listing in OpenAI's format. */
const modelsAnswer = open({
  object: only('list'),
  data: arrayOf(
    open({ id: v.pipe(text, v.nonEmpty('an id')), object: only('model'), created: integer(0), owned_by: text }),
    'models',
  ),
})

export interface ModelParts {
  readonly models: readonly Model[]
  /** The ids that chat accepted as any model, in their order. */
  readonly usedModels: ReadonlySet<string>
}

function replyWith({ models, usedModels }: ModelParts): Endpoint['reply'] {
  const any = models.find(({ id }) => id === ANY_MODEL)
  const named = models.filter(model => model !== any)
  const listed = (all: readonly Model[]) => ({ object: 'list', data: all.map(listedModel) })
  if (!any) return fixedReply(listed(named))
  return () => jsonReply(listed([...named, ...[...usedModels].map(id => ({ ...any, id }))]))
}

/** A model as listed, without internal fields. */
const listedModel = ({ pace: _pace, maxPromptTokens: _maxPromptTokens, ...model }: Model) => model

export const models = {
  name: 'models',
  method: 'GET',
  path: '/v1/models',
  access: ['apiKey', 'user'],
  answer: { form: modelsAnswer, section: 'Endpoints', isDocumented: false },
  clause: 'EP-4',
  replyWith,
} as const satisfies DocumentedEndpoint
