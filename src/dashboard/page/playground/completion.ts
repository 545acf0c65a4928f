/** What a model says, gathered from a whole completion or from the events of a stream. */

export interface ToolCall {
  readonly id: string
  /** OpenAI's custom tools take a text instead of JSON. */
  readonly kind: 'function' | 'custom'
  readonly name: string
  /** As far as they have come. */
  readonly arguments: string
}

export interface Usage {
  readonly prompt: number
  readonly completion: number
}

export interface Completion {
  readonly id: string
  readonly model: string
  readonly text: string
  readonly reasoning: string
  readonly refusal: string
  readonly calls: readonly ToolCall[]
  /** Empty until the model has said why it stopped. */
  readonly finishReason: string
  readonly usage: Usage | undefined
}

export const nothingSaid: Completion = {
  ...{ id: '', model: '', text: '', reasoning: '', refusal: '', calls: [], finishReason: '' },
  usage: undefined,
}

export const saysSomething = ({ text, reasoning, refusal, calls }: Completion) =>
  text !== '' || reasoning !== '' || refusal !== '' || calls.length > 0

/** A live platform may say anything, so nothing is taken for granted. */
type Loose = { readonly [key: string]: unknown } | undefined

const objectOf = (value: unknown): Loose =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Loose) : undefined
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
const textOf = (value: unknown) => (typeof value === 'string' ? value : '')

/** `before` with what one event adds to it; a whole completion is one event with everything in it. */
export function added(before: Completion, json: unknown): Completion {
  const event = objectOf(json)
  const choice = objectOf(listOf(event?.choices).find(one => (objectOf(one)?.index ?? 0) === 0))
  const said = objectOf(choice?.delta) ?? objectOf(choice?.message)
  return {
    id: before.id || textOf(event?.id),
    model: before.model || textOf(event?.model),
    text: before.text + textOf(said?.content),
    reasoning: before.reasoning + textOf(said?.reasoning_content ?? said?.reasoning),
    refusal: before.refusal + textOf(said?.refusal),
    calls: withCalls(before.calls, listOf(said?.tool_calls)),
    finishReason: textOf(choice?.finish_reason) || before.finishReason,
    usage: usageIn(objectOf(event?.usage)) ?? before.usage,
  }
}

function withCalls(before: readonly ToolCall[], pieces: readonly unknown[]): readonly ToolCall[] {
  if (pieces.length === 0) return before
  const calls = [...before]
  for (const [place, one] of pieces.entries()) {
    const piece = objectOf(one)
    const index = typeof piece?.index === 'number' ? piece.index : place
    // Whoever leaves out an index means the next one; a number without end must not make a list without end.
    const at = Math.min(Math.max(0, Math.floor(index)), calls.length)
    calls[at] = withPiece(calls[at], piece)
  }
  return calls
}

function withPiece(call: ToolCall | undefined, piece: Loose): ToolCall {
  const custom = objectOf(piece?.custom)
  const called = custom ?? objectOf(piece?.function)
  return {
    id: call?.id || textOf(piece?.id),
    kind: call?.kind ?? (custom ? 'custom' : 'function'),
    name: (call?.name ?? '') + textOf(called?.name),
    arguments: (call?.arguments ?? '') + textOf(called?.arguments ?? called?.input),
  }
}

function usageIn(usage: Loose): Usage | undefined {
  const { prompt_tokens: prompt, completion_tokens: completion } = usage ?? {}
  return typeof prompt === 'number' && typeof completion === 'number' ? { prompt, completion } : undefined
}
