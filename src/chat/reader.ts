/** Reads chat completions and the chunks of their streams from any vendor, and assembles chunks into a completion. */
import * as v from 'valibot'

/** An unknown JSON object. */
export type JsonFields = Record<string, unknown>

// Nearly every vendor uses null for "nothing" in deltas. Other fields of a vendor are kept.
const text = v.nullish(v.string())
const list = v.nullish(v.array(v.unknown()))
const index = v.optional(v.pipe(v.number(), v.integer()))

const call = v.looseObject({
  index,
  id: text,
  function: v.nullish(v.looseObject({ name: text, arguments: text })),
  custom: v.nullish(v.looseObject({ name: text, input: text })),
})

const message = v.looseObject({
  role: text,
  content: text,
  refusal: text,
  reasoning_content: text,
  reasoning: text,
  tool_calls: v.nullish(v.array(call)),
  function_call: v.nullish(v.looseObject({ name: text, arguments: text })),
})

const choiceEntries = {
  index,
  finish_reason: text,
  logprobs: v.nullish(v.looseObject({ content: list, refusal: list })),
}
const usage = v.nullish(v.looseObject({}))

const chunk = v.looseObject({
  choices: v.nullish(v.array(v.looseObject({ ...choiceEntries, delta: v.nullish(message) }))),
  usage,
})
const completion = v.looseObject({
  choices: v.pipe(v.array(v.looseObject({ ...choiceEntries, message })), v.minLength(1)),
  usage,
})

export type VendorCall = v.InferOutput<typeof call>
type VendorMessage = v.InferOutput<typeof message>
export type VendorCompletion = v.InferOutput<typeof completion>
export type VendorChoice = VendorCompletion['choices'][number]
export type VendorChunk = v.InferOutput<typeof chunk>

/** Parses a JSON value of a known form; `undefined` if it has another form. */
const reading =
  <S extends v.GenericSchema>(schema: S) =>
  (value: unknown): v.InferOutput<S> | undefined => {
    const { success, output } = v.safeParse(schema, value)
    return success ? output : undefined
  }

export const completionIn = reading(completion)
export const chunkIn = reading(chunk)

/** Whether a chunk has a delta; events of other endpoints have none. */
export const hasDelta = ({ choices }: VendorChunk) => choices?.some(({ delta }) => delta) === true

/** Merges a value with the next one. */
type Merge = (sum: unknown, value: unknown) => unknown

const isFields = (value: unknown): value is JsonFields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The last value wins. Null and empty texts are ignored, since vendors repeat the keys of a call with them. */
const latest: Merge = (sum, value) => (value === null || value === '' ? (sum ?? value) : value)

/** Texts and lists are appended. */
const appended: Merge = (sum, value) => {
  if (typeof sum === 'string' && typeof value === 'string') return sum + value
  if (!Array.isArray(sum) || !Array.isArray(value)) return latest(sum, value)
  // In place, since the logprobs of a long stream are thousands of short lists.
  for (const item of value) sum.push(item)
  return sum
}

/** Objects are merged field by field: named fields by their rules, all others by `others`. */
function fieldwise(named: Readonly<Record<string, Merge>>, others: Merge): Merge {
  const rules = new Map(Object.entries(named))
  return (sum, value) => {
    if (!isFields(value)) return latest(sum, value)
    const fields = isFields(sum) ? sum : {}
    for (const [name, piece] of Object.entries(value)) {
      fields[name] = (rules.get(name) ?? others)(fields[name], piece)
    }
    return fields
  }
}

const calledSum = fieldwise({ arguments: appended, input: appended }, latest)
const callSum = fieldwise({ function: calledSum, custom: calledSum }, latest)

const callsSum: Merge = (sum, value) => {
  if (!Array.isArray(value)) return latest(sum, value)
  const all: JsonFields[] = Array.isArray(sum) ? sum : []
  for (const piece of value) {
    const place = indexOfCall(piece, all)
    all[place] = callSum(all[place], piece) as JsonFields
  }
  return all
}

/** The call that a piece belongs to. If a vendor does not number calls, a new id begins a new one. */
function indexOfCall({ index, id }: JsonFields, all: readonly JsonFields[]): number {
  if (index === undefined && !id) return Math.max(all.length - 1, 0)
  const place = all.findIndex(call => (index === undefined ? call.id === id : call.index === index))
  return place < 0 ? all.length : place
}

const deltaSum = fieldwise(
  {
    role: latest,
    tool_calls: callsSum,
    function_call: calledSum,
    audio: fieldwise({ data: appended, transcript: appended }, latest),
  },
  appended,
)
const choiceSum = fieldwise(
  { delta: deltaSum, logprobs: fieldwise({ content: appended, refusal: appended }, latest) },
  latest,
)
const topSum = fieldwise({}, latest)

/** Assembles chunks. It may modify the chunks that it gets. */
export function createSum() {
  const choices = new Map<number, unknown>()
  let envelope: unknown = {}
  return {
    add({ choices: pieces, ...others }: VendorChunk): void {
      // Azure's first and last events have no id, and no real model and time.
      envelope = others.id ? topSum(envelope, others) : topSum(others, envelope)
      for (const piece of pieces ?? []) {
        const index = piece.index ?? 0
        choices.set(index, choiceSum(choices.get(index), { ...piece, index }))
      }
    },
    /**
     * Returns the completion so far. It has no usage if the chunks have none, since the vendor's tokens cannot be
     * counted here.
     */
    completion(): VendorCompletion {
      // Padding (`obfuscation`) is in chunks only, to hide their length.
      const { id, object: _, created, model, usage, obfuscation: __, ...others } = envelope as JsonFields
      return {
        id,
        object: 'chat.completion',
        created,
        model,
        choices: [...choices].sort(([a], [b]) => a - b).map(([, sum]) => wholeChoice(sum as JsonFields)),
        ...(isFields(usage) && { usage }),
        ...others,
      }
    },
  }
}

function wholeChoice({ index, delta, logprobs, finish_reason, ...others }: JsonFields): VendorChoice {
  return {
    index: index as number,
    message: wholeMessage((delta ?? {}) as VendorMessage),
    ...(logprobs !== undefined && { logprobs: logprobs as VendorChoice['logprobs'] }),
    finish_reason: (finish_reason ?? null) as string | null,
    ...others,
  }
}

function wholeMessage({ role, content, tool_calls, ...others }: VendorMessage): VendorMessage {
  return {
    role: role || 'assistant',
    content: content ?? null,
    ...others,
    ...(tool_calls !== undefined && { tool_calls: tool_calls && wholeCalls(tool_calls) }),
  }
}

const wholeCalls = (calls: NonNullable<VendorMessage['tool_calls']>) =>
  calls
    .toSorted((a, b) => (a.index ?? 0) - (b.index ?? 0))
    .map(({ index: _, id, type, ...others }) => ({
      ...(id !== undefined && { id }),
      type: type ?? (others.custom ? 'custom' : 'function'),
      ...others,
    }))

/** The content of a message, from whichever fields its vendor uses. */
export type Content = ReturnType<typeof contentOf>
export type ContentCall = ReturnType<typeof contentCall>

export const contentOf = ({
  content,
  reasoning_content,
  reasoning,
  refusal,
  tool_calls,
  function_call,
}: VendorMessage) => ({
  text: content ?? '',
  reasoning: reasoning_content || reasoning || '',
  refusal: refusal ?? '',
  calls: [...(tool_calls ?? []), ...(function_call ? [{ function: function_call }] : [])].map(contentCall),
})

const contentCall = ({ id, function: called, custom }: VendorCall) => ({
  id: id ?? '',
  /** OpenAI's custom tools take a text instead of JSON. */
  kind: custom ? ('custom' as const) : ('function' as const),
  name: custom?.name ?? called?.name ?? '',
  /** JSON, or the text of a custom tool; for a stream, what has arrived so far. */
  arguments: custom?.input ?? called?.arguments ?? '',
})
