/** The forms of chat completions as far as they are taken apart here; whatever else a vendor adds stays in place. */
import * as v from 'valibot'
import { open } from '../../check/check.js'

/** A JSON object of which nothing is known. */
export type Fields = Record<string, unknown>

// Null stands for nothing to say, in the deltas of nearly every vendor.
const text = v.nullish(v.string())
const list = v.nullish(v.array(v.unknown()))
const index = v.optional(v.pipe(v.number(), v.integer()))

const call = open({
  index,
  id: text,
  function: v.nullish(open({ name: text, arguments: text })),
  custom: v.nullish(open({ name: text, input: text })),
})

const message = open({
  role: text,
  content: text,
  refusal: text,
  reasoning_content: text,
  reasoning: text,
  tool_calls: v.nullish(v.array(call)),
  function_call: v.nullish(open({ name: text, arguments: text })),
})

const choice = { index, finish_reason: text, logprobs: v.nullish(open({ content: list, refusal: list })) }
const usage = v.nullish(open({}))

const chunk = open({ choices: v.nullish(v.array(open({ ...choice, delta: v.nullish(message) }))), usage })
const completion = open({ choices: v.pipe(v.array(open({ ...choice, message })), v.minLength(1)), usage })

export type Call = v.InferOutput<typeof call>
export type Message = v.InferOutput<typeof message>
export type Completion = v.InferOutput<typeof completion>
export type Choice = Completion['choices'][number]
export type Chunk = v.InferOutput<typeof chunk>

/** What a text says as JSON; nothing where it is none, or not of this form. */
function reading<S extends v.GenericSchema>(schema: S) {
  return (json: string | Buffer): v.InferOutput<S> | undefined => {
    try {
      const { success, output } = v.safeParse(schema, JSON.parse(String(json)))
      return success ? output : undefined
    } catch {
      return undefined
    }
  }
}

export const completionIn = reading(completion)
export const chunkIn = reading(chunk)
