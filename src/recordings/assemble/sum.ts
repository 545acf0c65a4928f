/** Adds up the events of a stream to the completion that they are the pieces of. */
import { atOnce, type Sliced } from '../../core/work.js'
import type { Choice, Chunk, Completion, Fields, Message } from './forms.js'

/** What comes of what is there and what is said next. */
type Rule = (sum: unknown, said: unknown) => unknown

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The last one counts. Null and an empty text say nothing: vendors repeat the keys of a call in that way. */
const latest: Rule = (sum, said) => (said === null || said === '' ? (sum ?? said) : said)

/** Texts and lists grow. */
const grown: Rule = (sum, said) => {
  if (typeof sum === 'string' && typeof said === 'string') return sum + said
  if (!Array.isArray(sum) || !Array.isArray(said)) return latest(sum, said)
  // In place, for the logprobs of a long stream are thousands of short lists.
  for (const item of said) sum.push(item)
  return sum
}

/** Objects grow field by field: these as they are told here, any other as `others` says. */
function fieldwise(named: Readonly<Record<string, Rule>>, others: Rule): Rule {
  const rules = new Map(Object.entries(named))
  return (sum, said) => {
    if (!isFields(said)) return latest(sum, said)
    const fields = isFields(sum) ? sum : {}
    for (const [name, value] of Object.entries(said)) {
      fields[name] = (rules.get(name) ?? others)(fields[name], value)
    }
    return fields
  }
}

const called = fieldwise({ arguments: grown, input: grown }, latest)
const call = fieldwise({ function: called, custom: called }, latest)

const calls: Rule = (sum, said) => {
  if (!Array.isArray(said)) return latest(sum, said)
  const all: Fields[] = Array.isArray(sum) ? sum : []
  for (const piece of said) {
    const place = placeOf(piece, all)
    all[place] = call(all[place], piece) as Fields
  }
  return all
}

/** Which call a piece belongs to. Where a vendor does not number them, an id that is new begins one. */
function placeOf({ index, id }: Fields, all: readonly Fields[]): number {
  if (index === undefined && !id) return Math.max(all.length - 1, 0)
  const place = all.findIndex(call => (index === undefined ? call.id === id : call.index === index))
  return place < 0 ? all.length : place
}

const delta = fieldwise(
  {
    role: latest,
    tool_calls: calls,
    function_call: called,
    audio: fieldwise({ data: grown, transcript: grown }, latest),
  },
  grown,
)
const choice = fieldwise({ delta, logprobs: fieldwise({ content: grown, refusal: grown }, latest) }, latest)
const top = fieldwise({}, latest)

/** `sumUp` in one go. */
export const sumOf = (chunks: readonly Chunk[]): Completion => atOnce(sumUp(chunks))

/** The completion that these events add up to. Without usage where they tell none: the vendor's tokens cannot be counted here. */
export function* sumUp(chunks: readonly Chunk[]): Sliced<Completion> {
  const choices = new Map<number, unknown>()
  let around: unknown = {}
  for (const { choices: said, ...others } of chunks) {
    yield
    // Azure's first and last events have no id, and a model and a time that are none.
    around = others.id ? top(around, others) : top(others, around)
    for (const piece of said ?? []) {
      const index = piece.index ?? 0
      choices.set(index, choice(choices.get(index), { ...piece, index }))
    }
  }
  const sorted = [...choices].sort(([a], [b]) => a - b).map(([, sum]) => wholeChoice(sum as Fields))
  // Only events are padded, against those who measure how long they are.
  const { id, object: _, created, model, usage, obfuscation: __, ...others } = around as Fields
  return {
    ...{ id, object: 'chat.completion', created, model },
    choices: sorted,
    ...(isFields(usage) && { usage }),
    ...others,
  }
}

function wholeChoice({ index, delta, logprobs, finish_reason, ...others }: Fields): Choice {
  return {
    index: index as number,
    message: wholeMessage((delta ?? {}) as Message),
    ...(logprobs !== undefined && { logprobs: logprobs as Choice['logprobs'] }),
    finish_reason: (finish_reason ?? null) as string | null,
    ...others,
  }
}

function wholeMessage({ role, content, tool_calls, ...others }: Message): Message {
  // A stream may begin with an empty text before anybody knows that there will be none.
  const isSilent = tool_calls?.length || others.function_call || others.refusal || others.audio
  return {
    role: role || 'assistant',
    content: isSilent ? content || null : (content ?? null),
    ...others,
    ...(tool_calls !== undefined && { tool_calls: tool_calls && wholeCalls(tool_calls) }),
  }
}

const wholeCalls = (calls: NonNullable<Message['tool_calls']>) =>
  calls
    .toSorted((a, b) => (a.index ?? 0) - (b.index ?? 0))
    .map(({ index: _, id, type, ...others }) => ({
      ...(id !== undefined && { id }),
      type: type ?? (others.custom ? 'custom' : 'function'),
      ...others,
    }))
