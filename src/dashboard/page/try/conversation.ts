/** The conversation in Try. Its turns are the messages as they are sent. It survives a reload of the page, but not the tab. */
import { isObject, parsed } from '../widgets/json.js'
import { createShared } from '../widgets/shared.js'
import { answerTo, isOver, type TriedAnswer, type TriedMessage } from './answer.js'

export interface Turn {
  readonly id: number
  readonly message: TriedMessage
  /** How the message came about, if it is an answer of this conversation. */
  readonly answer?: TriedAnswer
}

/** The credential to send; `automatic` until one is chosen. */
export type CredentialChoice = 'automatic' | 'fresh' | 'development' | 'session' | 'pasted' | 'none'

export interface Conversation {
  readonly turns: readonly Turn[]
  readonly system: string
  readonly draft: string
  /** Empty for the first one. */
  readonly model: string
  readonly stream: boolean
  /** Further parameters of the request, as a JSON object. */
  readonly parameters: string
  readonly credential: CredentialChoice
  readonly pastedKey: string
}

const empty: Conversation = {
  turns: [],
  system: '',
  draft: '',
  model: '',
  stream: true,
  parameters: '',
  credential: 'automatic',
  pastedKey: '',
}

const STORED = 'standin-try'

const shared = createShared(stored())
export const useConversation = shared.use

function stored(): Conversation {
  const kept = parsed(sessionStorage.getItem(STORED) ?? '')
  if (!isObject(kept)) return empty
  const conversation = { ...empty, ...kept }
  // What had not arrived before the reload never will.
  const turns = conversation.turns.map(turn =>
    turn.answer && !isOver(turn.answer) ? { ...turn, answer: { ...turn.answer, state: 'stopped' as const } } : turn,
  )
  return { ...conversation, turns }
}

// A pasted key stays in the page's memory.
addEventListener('pagehide', () => sessionStorage.setItem(STORED, JSON.stringify({ ...shared.get(), pastedKey: '' })))

let running: AbortController | undefined

export const change = (changes: Partial<Conversation>) => shared.set({ ...shared.get(), ...changes })
export const stop = () => running?.abort()
export const isRunning = ({ turns }: Conversation) => turns.some(({ answer }) => answer && !isOver(answer))

/** Replaces the turns, and what else is given. */
export function begin(changes: Partial<Conversation> = {}): void {
  stop()
  change({ turns: [], ...changes })
}

/** The turns before the one with this id. */
export const turnsBefore = (id: number) => {
  const { turns } = shared.get()
  return turns.slice(
    0,
    turns.findIndex(turn => turn.id === id),
  )
}

const nextId = (turns: readonly Turn[]) => Math.max(0, ...turns.map(({ id }) => id)) + 1

/** What is needed to send a request, besides the conversation. */
interface Sender {
  readonly model: string
  bearer(): Promise<string | undefined>
}

/** Sends these turns, with further messages after them, and adds the answer as it arrives. */
export async function send(before: readonly Turn[], messages: readonly TriedMessage[], { model, bearer }: Sender) {
  if (isRunning(shared.get())) return
  const added = messages.map((message, i) => ({ id: nextId(before) + i, message }))
  const turns = [...before, ...added]
  const id = nextId(turns)
  running = new AbortController()
  const show = (message: TriedMessage, answer: TriedAnswer) => {
    const { turns: now } = shared.get()
    // The conversation may have been cleared in the meantime.
    if (now.some(turn => turn.id === id))
      change({ turns: now.map(turn => (turn.id === id ? { id, message, answer } : turn)) })
  }
  const waiting = { id, message: { role: 'assistant', content: null }, answer: { state: 'waiting' as const } }
  const body = JSON.stringify(requestOf(shared.get(), model, turns))
  // A message that is sent is no longer a draft.
  change({ turns: [...turns, waiting], ...(messages.some(({ role }) => role === 'user') && { draft: '' }) })
  await answerTo({ body, bearer, signal: running.signal, show })
}

function requestOf({ system, stream, parameters }: Conversation, model: string, turns: readonly Turn[]): object {
  // Answers without any content are left out.
  const messages = turns.flatMap(({ message }) => (message.content || message.tool_calls ? [message] : []))
  return {
    model,
    messages: [...(system.trim() === '' ? [] : [{ role: 'system', content: system }]), ...messages],
    stream,
    ...(stream && { stream_options: { include_usage: true } }),
    ...(parsed(parameters) as object | undefined),
  }
}

/** What is wrong with the parameters; undefined if nothing is. The platform checks their values. */
export function problemIn(parameters: string): string | undefined {
  if (parameters.trim() === '') return undefined
  try {
    const value: unknown = JSON.parse(parameters)
    if (!isObject(value)) return 'This must be a JSON object, such as {"temperature": 0.2}.'
    return 'messages' in value ? 'The messages are those of the conversation. Remove “messages” here.' : undefined
  } catch (error) {
    return `This is not valid JSON: ${(error as Error).message}.`
  }
}

/** The conversation of a chat request; undefined for any other body. Its last message is the draft, to be changed before it is sent. */
export function conversationOf(body: unknown): Partial<Conversation> | undefined {
  if (!isObject(body) || !Array.isArray(body.messages)) return undefined
  const { model, messages: all, stream, stream_options: _, ...parameters } = body
  const messages = (all as readonly unknown[]).filter(isObject)
  const [first] = messages
  const hasSystem = (first?.role === 'system' || first?.role === 'developer') && typeof first.content === 'string'
  const turns = messages.slice(hasSystem ? 1 : 0).map((message, i) => ({ id: i + 1, message }))
  const last = turns.at(-1)?.message
  const draft = last?.role === 'user' && typeof last.content === 'string' ? last.content : undefined
  return {
    turns: draft === undefined ? turns : turns.slice(0, -1),
    system: hasSystem ? String(first?.content) : '',
    draft: draft ?? '',
    model: typeof model === 'string' ? model : '',
    stream: stream === true,
    parameters: Object.keys(parameters).length === 0 ? '' : JSON.stringify(parameters, null, 2),
  }
}
