/** The turns of a conversation, and the messages they are sent as. */
import type { AnswerOrigin, ModelAnswer } from './answer.js'
import type { ContentCall } from './completion.js'

export type Turn =
  | {
      readonly kind: 'user'
      readonly id: number
      readonly text: string
      /** The message itself, if it is more than the text of a user. Sent as it is. */
      readonly message?: { readonly role?: unknown }
    }
  | {
      readonly kind: 'answer'
      readonly id: number
      readonly answer: ModelAnswer
      /** The results of its tool calls in order, once they were entered. */
      readonly results?: readonly string[]
      /** What gave the answer, if the journal knows. */
      readonly by?: AnswerOrigin
    }

export type AnswerTurn = Extract<Turn, { kind: 'answer' }>

/** The calls that can be answered. Those of a stream that was cut may be incomplete. */
export const callsOf = ({ answer: { state, completion } }: AnswerTurn): readonly ContentCall[] =>
  state === 'whole' ? completion.calls : []

export const messagesOf = (system: string, turns: readonly Turn[]): readonly object[] => [
  ...(system.trim() === '' ? [] : [{ role: 'system', content: system }]),
  ...turns.flatMap(turn =>
    turn.kind === 'user' ? [turn.message ?? { role: 'user', content: turn.text }] : messagesIn(turn),
  ),
]

function messagesIn(turn: AnswerTurn): readonly object[] {
  const { text, refusal } = turn.answer.completion
  const calls = callsOf(turn)
  if (text === '' && refusal === '' && calls.length === 0) return []
  return [
    {
      role: 'assistant',
      content: text || null,
      ...(refusal !== '' && { refusal }),
      ...(calls.length > 0 && { tool_calls: calls.map(told) }),
    },
    ...calls.flatMap(({ id }, place) => {
      const content = turn.results?.[place]
      return content === undefined ? [] : [{ role: 'tool', tool_call_id: id, content }]
    }),
  ]
}

const told = ({ id, kind, name, arguments: said }: ContentCall) =>
  kind === 'custom'
    ? { id, type: 'custom', custom: { name, input: said } }
    : { id, type: 'function', function: { name, arguments: said } }
