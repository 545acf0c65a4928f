/** The schema of a rule's conditions. */
import * as v from 'valibot'
import { chatFields } from '../../chat/request.js'
import { expressionIn } from '../../check/expressions.js'
import { closed, filled, map, optional, text, withJsonSchema, word } from '../../check/forms.js'
import { credentialKinds } from '../../core/exchange.js'
import { fieldPath, type ValueCondition } from './value-tests.js'

/** The conditions that all rules share. All of them must hold. */
export interface CommonWhen<W> {
  readonly header?: Readonly<Record<string, ValueCondition>> | undefined
  readonly caller?:
    | {
        readonly kind?: (typeof credentialKinds)[number] | undefined
        readonly key?: string | undefined
        readonly email?: string | undefined
      }
    | undefined
  readonly not?: W | undefined
  readonly allOf?: readonly W[] | undefined
  readonly anyOf?: readonly W[] | undefined
}

/** What a dialect's own conditions become, by their names. */
export type ConditionsOf<E extends v.ObjectEntries> = Readonly<v.InferOutput<v.ObjectSchema<E, undefined>>>

/** Why a text that looks like a regular expression is invalid; `undefined` if it is valid. */
const whyInvalid = (written: string): string | undefined => {
  try {
    expressionIn(written)
    return undefined
  } catch (error) {
    // V8 repeats the expression before the actual message.
    const { message } = error as Error
    if (!/^Invalid flags/.test(message)) return message.replace(/^.*: /s, '').toLowerCase()
    const flags = JSON.stringify(written.slice(written.lastIndexOf('/') + 1))
    return `${flags} are not flags; write a text that begins with a slash as { contains: … }`
  }
}

const aText = 'text, or /a regular expression/'
const patternText = v.pipe(
  v.string(aText),
  v.nonEmpty(aText),
  v.check(
    written => whyInvalid(written) === undefined,
    ({ input }) => `a valid regular expression (${whyInvalid(input)})`,
  ),
)
const several = <S extends v.GenericSchema>(item: S, what: string) =>
  v.pipe(v.array(item, what), v.nonEmpty(`${what} that is not empty`))

const oneText = v.union(
  [patternText, closed({ exact: text }), closed({ contains: filled })],
  'text, /a regular expression/, { exact: … } or { contains: … }',
)
export const textCondition = v.union(
  [patternText, closed({ exact: text }), closed({ contains: filled }), several(oneText, 'a list of strings')],
  'text, /a regular expression/, { exact: … }, { contains: … } or a list of them',
)

const aNumber = 'a number, or { min: …, max: … }'
const range = v.union(
  [
    v.number(aNumber),
    v.pipe(
      closed({ min: v.optional(v.number('a number')), max: v.optional(v.number('a number')) }),
      v.check(({ min, max }) => min !== undefined || max !== undefined, 'a range with min, max or both'),
      v.check(({ min = -Infinity, max = Infinity }) => min <= max, 'a range whose min is not above its max'),
    ),
  ],
  aNumber,
)

const oneValue = v.union(
  [
    patternText,
    v.number('a number'),
    withJsonSchema(v.bigint('a number'), { type: 'integer' }),
    v.boolean('true or false'),
    v.null('null'),
    closed({ contains: filled }),
    closed({ present: v.boolean('true or false') }),
    range,
  ],
  'text, a number, true, false, null, { contains: … }, { present: … } or { min: …, max: … }',
)
export const valueCondition = v.union(
  [oneValue, several(oneValue, 'a list of values')],
  'text, a number, true, false, null, { contains: … }, { present: … }, { min: …, max: … } or a list of them',
)

const isPath = (written: string) => fieldPath(written) !== undefined
export const values = map(v.string(), valueCondition, 'a map of names and values')
export const fields = map(
  v.pipe(v.string(), v.check(isPath, 'a path such as metadata.unit or messages[0].name')),
  valueCondition,
  'a map of fields and values',
)

/** The conditions that all rules share; `all` are those of the dialect. */
export function commonConditions<W>(all: () => v.GenericSchema<W>) {
  const conditions: v.GenericSchema<W> = v.lazy(all)
  return {
    header: optional(values, 'Request headers and their values. * matches anything, and { present: true } any value.'),
    caller: optional(
      closed({
        kind: optional(word(credentialKinds), 'The kind of credential.'),
        key: optional(patternText, 'The name of the API key. * matches anything.'),
        email: optional(patternText, 'The email address of the signed-in user. * matches anything.'),
      }),
      'The caller.',
    ),
    not: optional(conditions, 'Conditions that must not all hold.'),
    allOf: optional(several(conditions, 'a list of conditions'), 'Conditions that must all hold.'),
    anyOf: optional(several(conditions, 'a list of conditions'), 'Conditions of which one must hold.'),
  }
}

/** Advice for a request field that was written as a condition: `request.seed`, as in templates, or `seed`. */
function fieldAdvice(key: string): string | undefined {
  const field = key.replace(/^request\./, '')
  if (!/[.[]/.test(key) && !chatFields.includes(key)) return undefined
  return ` Put fields of the request under request: { ${field}: … }.`
}

const chatEntries = {
  user: optional(
    textCondition,
    'The last user message: a part of it, /a regular expression/flags, { exact: … }, or a list of which one must match.',
  ),
  system: optional(textCondition, 'The system and developer messages, as for user.'),
  assistant: optional(textCondition, 'The last assistant message, as for user.'),
  any: optional(textCondition, 'Any message, as for user.'),
  model: optional(
    v.union([patternText, several(patternText, 'a list of models')], 'the id of a model, or a list of them'),
    'The id of the model. * matches anything.',
  ),
  turn: optional(range, 'The number of user messages, 1 in the first turn: a number, or { min: …, max: … }.'),
  stream: optional(v.boolean('true or false'), 'Whether a stream is requested.'),
  temperature: optional(range, 'The temperature: a number, or { min: …, max: … }.'),
  tools: optional(
    v.union([v.boolean('true or false'), filled, several(filled, 'a list of tools')], 'true, false, or names of tools'),
    'Names of tools that must all be offered; true for any, false for none.',
  ),
  toolResult: optional(
    v.union(
      [
        v.boolean('true or false'),
        closed({
          tool: optional(filled, 'The tool whose result it is.'),
          contains: optional(textCondition, 'What the result contains, as for user.'),
        }),
      ],
      'true, false, or { tool: …, contains: … }',
    ),
    'Whether the request ends with a tool result: true, false, or the tool and what its result contains.',
  ),
  responseFormat: optional(
    v.union(
      [
        word(['text', 'json_object', 'json_schema']),
        closed({
          type: optional(word(['text', 'json_object', 'json_schema']), 'The type of response_format.'),
          name: optional(filled, 'The name of the JSON Schema. * matches anything.'),
        }),
      ],
      'text, json_object, json_schema, or { type: …, name: … }',
    ),
    'What response_format asks for.',
  ),
  request: optional(fields, 'Any other fields of the request by their path, such as metadata.unit, and their values.'),
}

/** Conditions on a chat completion request. */
export type When = ConditionsOf<typeof chatEntries> & CommonWhen<When>

export const whenSchema: v.GenericSchema<When> = closed(
  { ...chatEntries, ...commonConditions(() => whenSchema) },
  fieldAdvice,
)
