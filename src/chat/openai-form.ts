/** What OpenAI's published description refuses in the fields of a chat request (openai-openapi, CreateChatCompletionRequest), and in which words. */
import * as v from 'valibot'
import { arrayOf, open, text } from '../check/forms.js'

type Form = v.GenericSchema

/** Returns OpenAI's message about a value; `undefined` if it is right. `place` is its name, such as `messages[0]`. */
export function wrongValue(form: Form, value: unknown, place: string): string | undefined {
  const { issues } = v.safeParse(form, value, { abortEarly: true, abortPipeEarly: true })
  if (!issues) return undefined
  const steps = issues[0].path?.map(({ key }) => (typeof key === 'number' ? `[${key}]` : `.${firstCharacters(key)}`))
  return inWords(issues[0], `${place}${steps?.join('') ?? ''}`)
}

function inWords({ kind, type, expected, received, message, input }: v.BaseIssue<unknown>, place: string): string {
  if (received === 'undefined') return `Missing required parameter: '${place}'.`
  if (type === 'strict_object' && expected === 'never') return `Unknown parameter: '${place}'.`
  if (kind === 'validation' && type !== 'integer') return `Invalid '${place}': ${message}`
  const words = [...(expected ?? '').matchAll(/"(.*?)"/g)].map(([, word]) => `'${word}'`)
  if (typeof input === 'string' && words.length > 0)
    return `Invalid value: '${firstCharacters(input)}' (${place}). Supported values are: ${listed(words, 'and')}.`
  const wanted = words.length === 0 ? message : `${words.length > 1 ? 'one of ' : ''}${listed(words, 'or')}`
  return `Invalid type for '${place}': expected ${wanted}, but got ${kindOf(input)} instead.`
}

const listed = (words: readonly string[], last: string) =>
  words.with(-1, words.length > 1 ? `${last} ${words.at(-1)}` : `${words[0]}`).join(words.length > 2 ? ', ' : ' ')

/** Names and values chosen by clients may be long. */
export const firstCharacters = (value: unknown) => String(value).slice(0, 100)

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'number') return Number.isInteger(value) ? 'an integer' : 'a decimal'
  return `${typeof value === 'object' ? 'an' : 'a'} ${typeof value}`
}

/** Says what a limit is, and what the value has instead. */
const limit =
  (what: string, expected: string, unit = '') =>
  ({ received }: { readonly received: string }) =>
    `${what}. Expected ${expected}${received}${unit} instead.`

const flag = v.boolean('a boolean')
const some = <F extends Form>(form: F) => v.optional(form)
const orNull = <F extends Form>(form: F) => v.nullable(form)
const word = (...words: readonly string[]) => v.picklist(words)
const like = (pattern: RegExp) =>
  v.pipe(
    text,
    v.regex(pattern, `string does not match pattern. Expected a string that matches the pattern '${pattern.source}'.`),
  )
const upTo = (most: number) =>
  v.pipe(
    text,
    v.maxLength(most, limit('string too long', `a string with maximum length ${most}, but got a string with length `)),
  )
const whole = (least: number, most: number) =>
  v.pipe(
    v.number('an integer'),
    v.integer('an integer'),
    v.minValue(least, limit('integer below minimum value', `a value >= ${least}, but got `)),
    v.maxValue(most, limit('integer above maximum value', `a value <= ${most}, but got `)),
  )
/** A list of at least one. */
const listOf = (item: Form, most = Number.POSITIVE_INFINITY, expected = 'an array of objects') =>
  v.pipe(
    v.array(item, expected),
    v.minLength(1, 'empty array. Expected an array with minimum length 1, but got an empty array instead.'),
    v.maxLength(most, limit('array too long', `an array with maximum length ${most}, but got an array with length `)),
  )
const textOr = (form: Form) => v.lazy(value => (typeof value === 'string' ? text : form))
const wordOr = (words: readonly string[], form: Form) =>
  v.lazy(value => (typeof value === 'string' ? word(...words) : form))
/** A text, or a list of at least one. */
const oneOrMore = (item: Form, of = 'objects', most?: number) =>
  textOr(listOf(item, most, `one of a string or array of ${of}`))
const anyObject = open({})
type Fields = Readonly<Record<string, Form>>
/** One of several objects, chosen by a field of it. */
function oneOf(field: string, forms: Readonly<Record<string, Form>>): Form {
  const known = new Map<unknown, Form>(Object.entries(forms))
  const unknown = open({ [field]: word(...Object.keys(forms)) })
  return v.lazy(value => known.get((value as Readonly<Record<string, unknown>> | null)?.[field]) ?? unknown)
}
/** Objects of several types, each with its own fields. */
const byType = (types: Readonly<Record<string, Fields>>, more: Fields = {}) =>
  oneOf('type', Object.fromEntries(Object.entries(types).map(([type, fields]) => [type, open({ ...fields, ...more })])))

const name = v.pipe(like(/^[a-zA-Z0-9_-]+$/), upTo(64))
const called = open({ name: text })
const callable = open({ name, description: some(text), parameters: some(anyObject), strict: some(orNull(flag)) })
const grammar = open({ definition: text, syntax: word('lark', 'regex') })
const customFormat = oneOf('type', {
  text: v.strictObject({ type: text }),
  grammar: v.strictObject({ type: text, grammar }),
})
const custom = open({ name, description: some(text), format: some(customFormat) })

const breakpoint = { prompt_cache_breakpoint: some(open({ mode: word('explicit') })) }
/** It has a scheme. The rest may be megabytes of Base64. */
const url = v.pipe(
  text,
  v.check(address => /^[a-z][a-z\d+.-]*:./i.test(address), 'Expected a valid URL.'),
)
const parts = byType(
  {
    text: { text },
    image_url: { image_url: open({ url, detail: some(word('auto', 'low', 'high')) }) },
    input_audio: { input_audio: open({ data: text, format: word('wav', 'mp3') }) },
    file: { file: open({ filename: some(text), file_data: some(text), file_id: some(text) }) },
  },
  breakpoint,
)
const texts = oneOrMore(byType({ text: { text } }, breakpoint))
const saidTexts = oneOrMore(byType({ text: { text, ...breakpoint }, refusal: { refusal: text } }))
const toolCalls = byType(
  { function: { function: open({ name, arguments: text }) }, custom: { custom: open({ name, input: text }) } },
  { id: text },
)

const speaker = { name: some(like(/^[^\s<|\\/>]+$/)) }

/** A message. Those of an assistant may lack the content, but not always: see openai-refusals.ts. */
export const messageForm = oneOf('role', {
  system: open({ content: texts, ...speaker }),
  developer: open({ content: texts, ...speaker }),
  user: open({ content: oneOrMore(parts), ...speaker }),
  assistant: open({
    content: some(orNull(saidTexts)),
    refusal: some(orNull(text)),
    audio: some(orNull(open({ id: text }))),
    tool_calls: some(listOf(toolCalls)),
    function_call: some(orNull(open({ name: text, arguments: text }))),
    ...speaker,
  }),
  tool: open({ content: texts, tool_call_id: text }),
  function: open({ content: orNull(text), name: text }),
})

const metadata = v.pipe(
  v.record(upTo(64), upTo(512)),
  v.maxEntries(
    16,
    limit('too many properties', 'an object with at most 16 properties, but got an object with ', ' properties'),
  ),
)
const location = open({ country: some(text), region: some(text), city: some(text), timezone: some(text) })
const place = open({ type: word('approximate'), approximate: location })
const moderation = some(orNull(open({ mode: word('score', 'block') })))
const size = word('low', 'medium', 'high')

const fields: Fields = {
  audio: orNull(
    open({
      voice: textOr(v.strictObject({ id: text }, 'one of a string or an object')),
      format: word('wav', 'aac', 'mp3', 'flac', 'opus', 'pcm16'),
    }),
  ),
  function_call: wordOr(['none', 'auto'], called),
  functions: listOf(callable, 128),
  logit_bias: orNull(v.record(v.string(), whole(-100, 100))),
  max_completion_tokens: orNull(whole(1, Number.POSITIVE_INFINITY)),
  max_tokens: orNull(whole(1, Number.POSITIVE_INFINITY)),
  metadata: orNull(metadata),
  modalities: orNull(arrayOf(word('text', 'audio'), 'strings')),
  moderation: orNull(open({ model: text, policy: some(orNull(open({ input: moderation, output: moderation }))) })),
  parallel_tool_calls: flag,
  prediction: orNull(byType({ content: { content: texts } })),
  prompt_cache_key: orNull(text),
  prompt_cache_options: open({ ttl: some(word('30m')), mode: some(word('implicit', 'explicit')) }),
  prompt_cache_retention: orNull(word('in_memory', '24h')),
  reasoning_effort: orNull(word('none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max')),
  response_format: byType({
    text: {},
    json_object: {},
    json_schema: {
      json_schema: open({ name, description: some(text), schema: some(anyObject), strict: some(orNull(flag)) }),
    },
  }),
  safety_identifier: orNull(upTo(64)),
  seed: orNull(whole(-(2 ** 63), 2 ** 63)),
  service_tier: orNull(word('auto', 'default', 'flex', 'scale', 'priority', 'fast')),
  stop: orNull(oneOrMore(text, 'strings', 4)),
  stream_options: orNull(open({ include_usage: some(flag), include_obfuscation: some(flag) })),
  tool_choice: wordOr(
    ['none', 'auto', 'required'],
    byType({
      function: { function: called },
      custom: { custom: called },
      allowed_tools: { allowed_tools: open({ mode: word('auto', 'required'), tools: arrayOf(anyObject, 'objects') }) },
    }),
  ),
  tools: listOf(byType({ function: { function: callable }, custom: { custom } }), 128),
  user: text,
  verbosity: orNull(size),
  web_search_options: open({ user_location: some(orNull(place)), search_context_size: some(size) }),
}

/** The forms of a request's fields, by name. */
export const requestForms: ReadonlyMap<string, Form> = new Map(Object.entries(fields))

/** The other fields: their forms are those of request.ts. */
export const plainFields: ReadonlySet<string> = new Set(
  'model messages frequency_penalty logprobs n presence_penalty store stream temperature top_logprobs top_p'.split(' '),
)
