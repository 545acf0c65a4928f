/** What answers of the platform are, as the contract, the OpenAPI document and the check of live answers see them. */
import * as v from 'valibot'
import { open, word } from '../check/check.js'

const text = v.string('text')
const count = v.pipe(v.number('a whole number'), v.integer('a whole number'), v.minValue(0, 'zero or more'))
const listOf = <S extends v.GenericSchema>(item: S, of: string) => v.array(item, `an array of ${of}`)
const only = <const W extends string>(said: W) => v.literal(said, `"${said}"`)
const maybe = <S extends v.GenericSchema>(schema: S) => v.nullish(schema)

/** Documented ("Health response"): dotted numeric, three parts. */
export const healthAnswer = open({
  status: only('ok'),
  version: v.pipe(text, v.regex(/^\d+\.\d+\.\d+$/, 'three numbers with dots between them')),
})

/** Documented ("API index response"); its elements are not. */
export const indexAnswer = open({
  status: only('ok'),
  endpoints: v.array(v.unknown(), 'an array'),
})

/** Ours: what the elements of the index are. */
export const listedEndpoint = open({
  method: text,
  path: v.pipe(text, v.startsWith('/', 'a path')),
  credential: listOf(text, 'texts'),
})

/** The index with our elements. */
export const listedIndexAnswer = open({
  ...indexAnswer.entries,
  endpoints: listOf(listedEndpoint, 'endpoints'),
})

/** Documented ("Error object"): always a text, never OpenAI's object. */
export const errorAnswer = open({ error: text })

/** Ours: an error in the middle of a stream, in OpenAI's form or, as some platforms say it, as text. */
export const errorEventAnswer = open({
  error: v.union([open({ message: text, type: maybe(text) }), text], 'an object with a message, or text'),
})

/** Documented: with the path as it was asked for. */
export const notFoundAnswer = open({ error: text, path: v.pipe(text, v.startsWith('/', 'a path')) })

/** OpenAI's form of the listing. */
export const modelsAnswer = open({
  object: only('list'),
  data: listOf(
    open({ id: v.pipe(text, v.nonEmpty('an id')), object: only('model'), created: count, owned_by: text }),
    'models',
  ),
})

export const finishReasons = ['stop', 'length', 'tool_calls', 'content_filter', 'function_call'] as const

const calledFunction = open({ name: text, arguments: text })

const toolCall = v.variant('type', [
  open({ id: text, type: only('function'), function: calledFunction }),
  open({ id: text, type: only('custom'), custom: open({ name: text, input: text }) }),
])

const usage = open({
  prompt_tokens: count,
  completion_tokens: count,
  total_tokens: count,
  prompt_tokens_details: maybe(open({ cached_tokens: maybe(count), audio_tokens: maybe(count) })),
  completion_tokens_details: maybe(
    open({
      reasoning_tokens: maybe(count),
      audio_tokens: maybe(count),
      accepted_prediction_tokens: maybe(count),
      rejected_prediction_tokens: maybe(count),
    }),
  ),
})

const anyToken = { token: text, logprob: v.number('a number'), bytes: maybe(listOf(count, 'bytes')) }
const tokens = maybe(listOf(open({ ...anyToken, top_logprobs: listOf(open(anyToken), 'tokens') }), 'tokens'))
const logprobs = open({ content: tokens, refusal: tokens })

/** OpenAI's `chat.completion`. */
export const completionAnswer = open({
  id: text,
  object: only('chat.completion'),
  created: count,
  model: text,
  choices: v.pipe(
    listOf(
      open({
        index: count,
        message: open({
          role: only('assistant'),
          content: v.nullable(text),
          reasoning_content: maybe(text),
          refusal: maybe(text),
          tool_calls: maybe(listOf(toolCall, 'tool calls')),
          function_call: maybe(calledFunction),
        }),
        logprobs: maybe(logprobs),
        finish_reason: word(finishReasons),
      }),
      'choices',
    ),
    v.nonEmpty('an array with at least one choice'),
  ),
  usage: maybe(usage),
  system_fingerprint: maybe(text),
})

/** OpenAI's `chat.completion.chunk`: one event of a stream. The one with the usage has no choices. */
export const chunkAnswer = open({
  id: text,
  object: only('chat.completion.chunk'),
  created: count,
  model: text,
  choices: listOf(
    open({
      index: count,
      delta: open({
        role: maybe(only('assistant')),
        content: maybe(text),
        reasoning_content: maybe(text),
        refusal: maybe(text),
        function_call: maybe(open({ name: maybe(text), arguments: maybe(text) })),
        tool_calls: maybe(
          listOf(
            open({
              index: count,
              id: maybe(text),
              type: maybe(text),
              function: maybe(open({ name: maybe(text), arguments: maybe(text) })),
              custom: maybe(open({ name: maybe(text), input: maybe(text) })),
            }),
            'pieces of tool calls',
          ),
        ),
      }),
      logprobs: maybe(logprobs),
      finish_reason: v.nullish(word(finishReasons)),
    }),
    'choices',
  ),
  usage: maybe(usage),
  system_fingerprint: maybe(text),
})

/** What an endpoint may say: the fields that a form names, however deep, and no others. */
type Told<T> = T extends readonly (infer Item)[]
  ? readonly Told<Item>[]
  : T extends object
    ? { readonly [K in keyof T as string extends K ? never : K]: Told<T[K]> }
    : T

export type HealthAnswer = Told<v.InferInput<typeof healthAnswer>>
export type IndexAnswer = Told<v.InferInput<typeof listedIndexAnswer>>
export type ModelsAnswer = Told<v.InferInput<typeof modelsAnswer>>
export type CompletionAnswer = Told<v.InferInput<typeof completionAnswer>>
export type ChunkAnswer = Told<v.InferInput<typeof chunkAnswer>>
