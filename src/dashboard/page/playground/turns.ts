/** The turns of a conversation, the states of an answer, and the messages that the turns are sent as. */
import type { JournalEntry } from '../../../journal/operations.js'
import { type AnswerContent, type ContentCall, nothingSaid } from './completion.js'

export interface ModelAnswer {
  readonly state:
    | 'waiting'
    | 'arriving'
    | 'whole'
    /** By the user. */
    | 'stopped'
    /** By the server, before the end. */
    | 'cut'
    | 'refused'
  /** The request body as sent; empty for an answer from a request that was opened in the playground. */
  readonly request: string
  readonly hadCredential: boolean
  readonly status: number | undefined
  readonly completion: AnswerContent
  readonly problem: string | undefined
  /** The header's value: seconds or a date. */
  readonly retryAfter: string | undefined
  /** The raw body of the answer, or the start of a long one. */
  readonly raw: string
  readonly leftOut: number
  /** From the request to the first generated text. */
  readonly firstTokenMs: number | undefined
  readonly totalMs: number | undefined
}

export type AnswerOrigin = Pick<JournalEntry, 'id' | 'mode' | 'source' | 'remark' | 'hint'>

/** How many characters of a raw answer are kept. */
const KEPT = 262_144

export const pendingAnswer = (request: string, hadCredential: boolean): ModelAnswer => ({
  state: 'waiting',
  request,
  hadCredential,
  status: undefined,
  completion: nothingSaid,
  problem: undefined,
  retryAfter: undefined,
  raw: '',
  leftOut: 0,
  firstTokenMs: undefined,
  totalMs: undefined,
})

export const isOver = ({ state }: ModelAnswer) => state !== 'waiting' && state !== 'arriving'

export function withRaw(answer: ModelAnswer, text: string): Pick<ModelAnswer, 'raw' | 'leftOut'> {
  const kept = text.slice(0, Math.max(0, KEPT - answer.raw.length))
  return { raw: answer.raw + kept, leftOut: answer.leftOut + text.length - kept.length }
}

export type Turn =
  | {
      readonly kind: 'user'
      readonly id: number
      readonly text: string
      /** The whole message, if it is more than a user's text. Sent unchanged. */
      readonly message?: { readonly role?: unknown }
    }
  | {
      readonly kind: 'answer'
      readonly id: number
      readonly answer: ModelAnswer
      /** The results of its tool calls, in order, once entered. */
      readonly results?: readonly string[]
      /** The exchange behind the answer, if the journal has it. */
      readonly by?: AnswerOrigin
    }

export type AnswerTurn = Extract<Turn, { kind: 'answer' }>

/** The calls that need results. Calls in a stream that was cut may be incomplete. */
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
      ...(calls.length > 0 && { tool_calls: calls.map(wireCall) }),
    },
    ...calls.flatMap(({ id }, place) => {
      const content = turn.results?.[place]
      return content === undefined ? [] : [{ role: 'tool', tool_call_id: id, content }]
    }),
  ]
}

const wireCall = ({ id, kind, name, arguments: said }: ContentCall) =>
  kind === 'custom'
    ? { id, type: 'custom', custom: { name, input: said } }
    : { id, type: 'function', function: { name, arguments: said } }
