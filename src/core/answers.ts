/** What answers of the platform are, as the contract, the OpenAPI document and the check of live answers see them. */
import * as v from 'valibot'
import { open, word } from './check.js'

const text = v.string('text')
const count = v.pipe(v.number('a whole number'), v.integer('a whole number'), v.minValue(0, 'zero or more'))
const listOf = <S extends v.GenericSchema>(item: S, of: string) => v.array(item, `an array of ${of}`)
const only = (said: string) => v.literal(said, `"${said}"`)
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

/** Documented ("Error object"): always a text, never OpenAI's object. */
export const errorAnswer = open({ error: text })

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

const usage = open({ prompt_tokens: count, completion_tokens: count, total_tokens: count })

const logprobs = open({ content: maybe(v.array(v.unknown())), refusal: maybe(v.array(v.unknown())) })

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
        refusal: maybe(text),
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
})
