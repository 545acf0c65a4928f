/**
 * Schemas of chat completions, whole and as chunks of a stream. They are OpenAI's, since the platform's document does
 * not show them.
 */
import * as v from 'valibot'
import { arrayOf, integer, maybe, only, open, text, word } from '../check/forms.js'

export const finishReasons = ['stop', 'length', 'tool_calls', 'content_filter', 'function_call'] as const

const calledFunction = open({ name: text, arguments: text })

const toolCall = v.variant('type', [
  open({ id: text, type: only('function'), function: calledFunction }),
  open({ id: text, type: only('custom'), custom: open({ name: text, input: text }) }),
])

const usage = open({
  prompt_tokens: integer(0),
  completion_tokens: integer(0),
  total_tokens: integer(0),
  prompt_tokens_details: maybe(open({ cached_tokens: maybe(integer(0)), audio_tokens: maybe(integer(0)) })),
  completion_tokens_details: maybe(
    open({
      reasoning_tokens: maybe(integer(0)),
      audio_tokens: maybe(integer(0)),
      accepted_prediction_tokens: maybe(integer(0)),
      rejected_prediction_tokens: maybe(integer(0)),
    }),
  ),
})

const anyToken = { token: text, logprob: v.number('a number'), bytes: maybe(arrayOf(integer(0), 'bytes')) }
const tokens = maybe(arrayOf(open({ ...anyToken, top_logprobs: arrayOf(open(anyToken), 'tokens') }), 'tokens'))
const logprobs = open({ content: tokens, refusal: tokens })

/** OpenAI's `chat.completion`. */
export const completionAnswer = open({
  id: text,
  object: only('chat.completion'),
  created: integer(0),
  model: text,
  choices: v.pipe(
    arrayOf(
      open({
        index: integer(0),
        message: open({
          role: only('assistant'),
          content: v.nullable(text),
          reasoning_content: maybe(text),
          refusal: maybe(text),
          annotations: maybe(arrayOf(open({}), 'annotations')),
          tool_calls: maybe(arrayOf(toolCall, 'tool calls')),
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
  service_tier: maybe(text),
  system_fingerprint: maybe(text),
})

/** OpenAI's `chat.completion.chunk`: one event of a stream. The event with the usage has no choices. */
export const chunkAnswer = open({
  id: text,
  object: only('chat.completion.chunk'),
  created: integer(0),
  model: text,
  choices: arrayOf(
    open({
      index: integer(0),
      delta: open({
        role: maybe(only('assistant')),
        content: maybe(text),
        reasoning_content: maybe(text),
        refusal: maybe(text),
        function_call: maybe(open({ name: maybe(text), arguments: maybe(text) })),
        tool_calls: maybe(
          arrayOf(
            open({
              index: integer(0),
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
  service_tier: maybe(text),
  system_fingerprint: maybe(text),
})

/** Our own definition: an error in the middle of a stream, in OpenAI's format or, as on some platforms, as text. */
export const errorEventAnswer = open({
  error: v.union([open({ message: text, type: maybe(text) }), text], 'an object with a message, or a string'),
})

/** A completion that was made here. */
export type Completion = AnswerBody<v.InferInput<typeof completionAnswer>>
export type CompletionChoice = Completion['choices'][number]
export type CompletionMessage = CompletionChoice['message']
export type CompletionUsage = NonNullable<Completion['usage']>
export type Logprobs = NonNullable<CompletionChoice['logprobs']>
export type TokenLogprob = NonNullable<Logprobs['content']>[number]

/** An answer with only the fields that its form names, at any depth. */
export type AnswerBody<T> = T extends readonly (infer Item)[]
  ? readonly AnswerBody<Item>[]
  : T extends object
    ? { readonly [K in keyof T as string extends K ? never : K]: AnswerBody<T[K]> }
    : T
