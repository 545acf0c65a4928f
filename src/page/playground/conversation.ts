/** The conversation with a model. It goes on while another view is open, and is kept in the page's memory only. */
import type { Control } from '../api.js'
import { announce } from '../widgets/announcer.jsx'
import { createShared } from '../widgets/shared.js'
import { askModel, CHAT } from './ask-model.js'
import type { OpenedRequest } from './opened.js'
import { firstSettings, type PlaygroundSettings } from './settings.js'
import {
  type AnswerOrigin,
  type AnswerTurn,
  awaited,
  isOver,
  type ModelAnswer,
  messagesOf,
  type Turn,
} from './turns.js'

/** The credential to send; `automatic` until one is chosen. */
export type CredentialChoice = 'automatic' | 'fresh' | 'development' | 'session' | 'pasted' | 'none'

export interface Conversation extends OpenedRequest {
  readonly credential: CredentialChoice
  readonly pastedKey: string
}

/** What a question needs besides the previous turns. */
export interface Means {
  /** The request body; `undefined` if a setting is invalid. */
  bodyFor(messages: readonly object[]): object | undefined
  bearer(): Promise<string | undefined>
  readonly control: Control
}

const empty: Conversation = {
  ...{ system: '', turns: [], draft: '', settings: firstSettings, credential: 'automatic', pastedKey: '' },
}

const shared = createShared(empty)
/** The signed-in user it belongs to, if any. */
let owner: string | undefined
let running: AbortController | undefined
let nextId = 1

const change = (news: Partial<Conversation>) => shared.set({ ...shared.get(), ...news })

export const useConversation = shared.use

export const edit = (news: Partial<Omit<Conversation, 'turns' | 'settings'>>) => change(news)
export const setUp = (news: Partial<PlaygroundSettings>) => change({ settings: { ...shared.get().settings, ...news } })

export const isRunning = ({ turns }: Conversation) => turns.some(turn => turn.kind === 'answer' && !isOver(turn.answer))

export const stop = () => running?.abort()

/** Removes all turns and keeps the settings. */
export function clear(): void {
  stop()
  change({ turns: [] })
}

/** Replaces everything but the credential. */
export function begin(news: OpenedRequest): void {
  stop()
  change(news)
}

/** Clears the conversation when the user changes, because it contains their messages and key. */
export function belongTo(person: string | undefined): void {
  if (owner !== undefined && owner !== person) {
    stop()
    change(empty)
  }
  owner = person
}

/** Sends `text` after the turns that come before `before`, or after all turns. Without text, asks for an answer to those. */
export function say(text: string, means: Means, before?: number): void {
  const turns = upTo(before)
  answerTo(text.trim() === '' ? turns : [...turns, { kind: 'user', id: nextId++, text }], means)
}

/** Whether the last turn waits for an answer, so that nothing has to be written before. */
export const isAsked = ({ turns }: Conversation) => {
  const last = turns.at(-1)
  return last?.kind === 'user' || last?.results !== undefined
}

export const askAgain = (id: number, means: Means) => answerTo(upTo(id), means)

/** Continues with the results of an answer's tool calls. */
export function tellResults(id: number, results: readonly string[], means: Means): void {
  const turns = upTo(id)
  const turn = shared.get().turns[turns.length]
  if (turn?.kind === 'answer') answerTo([...turns, { ...turn, results }], means)
}

export function reword(id: number, text: string): void {
  changeAnswer(id, turn => {
    const completion = { ...turn.answer.completion, text }
    return { ...turn, answer: { ...turn.answer, completion } }
  })
}

const upTo = (id: number | undefined) => {
  const place = shared.get().turns.findIndex(turn => turn.id === id)
  return place < 0 ? shared.get().turns : shared.get().turns.slice(0, place)
}

const changeAnswer = (id: number, changed: (turn: AnswerTurn) => AnswerTurn) =>
  change({ turns: shared.get().turns.map(turn => (turn.id === id && turn.kind === 'answer' ? changed(turn) : turn)) })

async function answerTo(turns: readonly Turn[], { bodyFor, bearer, control }: Means): Promise<void> {
  const body = bodyFor(messagesOf(shared.get().system, turns))
  if (!body || isRunning(shared.get())) return
  const request = JSON.stringify(body)
  const id = nextId++
  const leaving = new AbortController()
  running = leaving
  change({ turns: [...turns, { kind: 'answer', id, answer: awaited(request, false) }] })
  const show = oncePerFrame((answer: ModelAnswer) => changeAnswer(id, turn => ({ ...turn, answer })))
  // Without a session, the request is sent without a credential, and the answer says so.
  const [credential, after] = await Promise.all([bearer().catch(() => undefined), newestExchange(control)])
  const { signal } = leaving
  const answer = await askModel({ body: request, bearer: credential, signal, onChange: show.soon })
  show.now(answer)
  // The conversation may have been cleared meanwhile.
  if (!shared.get().turns.some(turn => turn.id === id)) return
  announce(spoken(answer))
  if (after === undefined) return
  const by = await findAnswer({ request, completionId: answer.completion.id, after, control })
  if (by) changeAnswer(id, turn => ({ ...turn, by }))
}

/** Passes on only the last value per frame, because a model may send thousands of chunks a second. */
function oncePerFrame<Value>(hand: (value: Value) => void) {
  let waiting: number | undefined
  let last: Value
  return {
    soon(value: Value) {
      last = value
      waiting ??= requestAnimationFrame(() => {
        waiting = undefined
        hand(last)
      })
    },
    now(value: Value) {
      if (waiting !== undefined) cancelAnimationFrame(waiting)
      waiting = undefined
      hand(value)
    },
  }
}

/** How many characters of an answer are read out. */
const READ_OUT = 300

/** The answer for screen readers, announced once when it has ended. */
function spoken({ state, completion: { text, refusal, calls } }: ModelAnswer): string {
  // Errors are announced by their own alert.
  if (state === 'refused') return ''
  const said = text || refusal
  const words = said.length > READ_OUT ? `${said.slice(0, READ_OUT)}, and so on` : said
  const called = calls.length === 0 ? '' : ` The model calls ${calls.map(({ name }) => name).join(', ')}.`
  return `Answer: ${words}${called}${state === 'stopped' ? ' Stopped.' : ''}`
}

interface Wanted {
  readonly request: string
  /** The id of the completion; empty if there is none, as in a refusal or an answer that was stopped early. */
  readonly completionId: string
  /** The newest exchange before the question: the same request may have been sent before. */
  readonly after: string
  readonly control: Control
}

/** The end of a body contains the last message, which is enough to identify it. */
const TELLING = 2000
const WAIT_MS = 250

/** The id of the newest exchange, `0` if there is none. Undefined if the control API is closed to the page. */
async function newestExchange(control: Control): Promise<string | undefined> {
  try {
    const { data } = await control('GET /journal', { query: { brief: true, limit: 1 } })
    return data[0]?.id ?? '0'
  } catch {
    return undefined
  }
}

/** Looks up in the journal what gave an answer. Finds nothing if the control API is closed to the page. */
async function findAnswer({ request, completionId, after, control }: Wanted): Promise<AnswerOrigin | undefined> {
  const body = { method: 'POST', path: CHAT, text: request.slice(-TELLING), after, limit: 5 }
  // An exchange enters the journal when it has ended, which may be a moment after the page has read its last byte.
  for (let round = 0; round < 3; round++) {
    if (round > 0) await new Promise(resolve => setTimeout(resolve, WAIT_MS))
    const found = await control('POST /journal/find', { body }).catch(() => undefined)
    if (!found) return undefined
    const entry = found.data.findLast(({ response }) => JSON.stringify(response.body ?? '').includes(completionId))
    if (entry) return entry
  }
  return undefined
}
