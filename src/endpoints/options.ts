/** The option for the models. */
import * as v from 'valibot'
import { described, different, filled, integer, listOrText, oneForm, only, open, option, text } from '../check/forms.js'
import { type PaceInput, paceInput } from '../core/pace.js'

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

const model = open({
  id: filled,
  object: v.optional(v.literal('model', 'the word model'), 'model'),
  created: v.optional(integer(0, 253402300799), 1735689600),
  owned_by: v.optional(text, 'standin'),
  pace: v.nullish(
    described(
      paceInput,
      'The pace of streams of this model. Anything left out comes from the option pace. Not listed.',
    ),
  ),
  maxPromptTokens: v.optional(
    described(integer(1, 2 ** 31 - 1), 'The longest prompt that the model accepts, in tokens. Not listed.'),
  ),
})

const modelById = v.pipe(
  v.string('the id of a model, or an object with one'),
  v.transform(id => ({ id })),
  model,
)

const modelOrId = oneForm([modelById, model], value => (typeof value === 'object' ? 1 : 0))

const models = v.pipe(
  listOrText(modelOrId, 'models'),
  v.nonEmpty('a list with at least one model'),
  v.check(models => different(models.map(({ id }) => id)), 'a list without duplicate ids'),
)

const defaultModels = [
  { id: 'gpt-4o-mini', owned_by: 'openai' },
  { id: 'gpt-4o', owned_by: 'openai' },
  { id: 'llama-3.3-70b-instruct', owned_by: 'meta' },
  { id: 'mistral-small-latest', owned_by: 'mistralai' },
  { id: 'qwen2.5-72b-instruct', owned_by: 'qwen' },
]

/** The id of an entry that stands for all models that are not listed. */
export const ANY_MODEL = '*'

/** The ids of the models that have an entry of their own. */
export const namedModels = (models: readonly { readonly id: string }[]): readonly string[] =>
  models.flatMap(({ id }) => (id === ANY_MODEL ? [] : [id]))

export const modelOptions = option(
  oneForm(
    [
      v.pipe(
        only('any'),
        v.transform(() => v.parse(models, [...defaultModels, { id: ANY_MODEL }])),
      ),
      models,
    ],
    value => (value === 'any' ? 0 : 1),
  ),
  defaultModels,
  'The models that GET /v1/models lists and chat accepts: ids such as [gpt-4o], or objects with an id. Other fields of a model are listed unchanged. { id: "*" } accepts all others, which are listed once they have been used; the word any is the default list with it.',
)
