/** The calls of tools in a message, and in the events of a stream. */
import type { ChatRequest } from '../../core/chat.js'
import type { ToolCall } from '../../replies/index.js'
import type { Tokenizer } from '../../tokenizer/index.js'
import type { Delta, Message } from './body.js'

/** A call that can be answered. */
export type IdentifiedCall = ToolCall & { readonly id: string }

/** Whether a request still speaks of functions, as before there were tools. */
export const callsFunctions = ({ functions, tools }: ChatRequest) => Array.isArray(functions) && !tools?.length

/** The calls with an id each: their own, where they have one. */
export const identified = (calls: readonly ToolCall[], nextId: () => string): readonly IdentifiedCall[] =>
  calls.map(call => ({ ...call, id: call.id ?? nextId() }))

/** What a message has of its calls; nothing where there are none. */
export function callsOf(calls: readonly IdentifiedCall[], asFunctions: boolean): Partial<Message> {
  const [first] = calls
  if (!first) return {}
  if (asFunctions) return { function_call: { name: first.name, arguments: first.arguments } }
  return {
    tool_calls: calls.map(({ id, kind, name, arguments: said }) =>
      kind === 'custom'
        ? { id, type: 'custom', custom: { name, input: said } }
        : { id, type: 'function', function: { name, arguments: said } },
    ),
  }
}

/** The calls one after the other: first who is called, then the arguments in pieces. */
export const callDeltas = (
  calls: readonly IdentifiedCall[],
  asFunctions: boolean,
  { pieces }: Tokenizer,
): readonly Delta[] =>
  calls.flatMap((call, index) => {
    const deltas = asFunctions ? functionDeltas(call) : toolDeltas(call, index)
    return [deltas.first, ...pieces(call.arguments).map(deltas.next)]
  })

/** How a call begins, and how a piece of its arguments follows. */
interface CallDeltas {
  readonly first: Delta
  readonly next: (piece: string) => Delta
}

const functionDeltas = ({ name }: IdentifiedCall): CallDeltas => ({
  first: { function_call: { name, arguments: '' } },
  next: piece => ({ function_call: { arguments: piece } }),
})

function toolDeltas({ kind, id, name }: IdentifiedCall, index: number): CallDeltas {
  switch (kind) {
    case 'function':
      return {
        first: { tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] },
        next: piece => ({ tool_calls: [{ index, function: { arguments: piece } }] }),
      }
    case 'custom':
      return {
        first: { tool_calls: [{ index, id, type: 'custom', custom: { name, input: '' } }] },
        next: piece => ({ tool_calls: [{ index, custom: { input: piece } }] }),
      }
  }
}
