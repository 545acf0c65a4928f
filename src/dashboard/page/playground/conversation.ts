/** The conversation with a model. It continues while another view is open, and is kept in the page's memory only. */
import { control } from '../api.js'
import { announce } from '../widgets/announcer.jsx'
import { createShared } from '../widgets/shared.js'
import { askModel, CHAT } from './ask-model.js'
import type { OpenedRequest } from './opened.js'
import { firstSettings, type PlaygroundSettings } from './settings.js'
import {
  type AnswerOrigin,
  type AnswerTurn,
  isOver,
  type ModelAnswer,
  messagesOf,
  pendingAnswer,
  type Turn,
} from './turns.js'

/** The credential to send; `automatic` until one is chosen. */
export type CredentialChoice = 'automatic' | 'fresh' | 'development' | 'session' | 'pasted' | 'none'

export interface Conversation extends OpenedRequest {
  readonly credential: CredentialChoice
  readonly pastedKey: string
}

/** What is needed to send a request, besides the turns. */
export interface Sender {
  /** The request body; `undefined` if a setting is invalid. */
  bodyFor(messages: readonly object[]): object | undefined
  bearer(): Promise<string | undefined>
}

const empty: Conversation = {
  system: '',
  turns: [],
  draft: '',
  settings: firstSettings,
  credential: 'automatic',
  pastedKey: '',
}

const shared = createShared(empty)
/** The signed-in user whose conversation it is, if any. */
let owner: string | undefined
let running: AbortController | undefined
let nextId = 1

const change = (changes: Partial<Conversation>) => shared.set({ ...shared.get(), ...changes })

export const useConversation = shared.use

export const edit = (changes: Partial<Omit<Conversation, 'turns' | 'settings'>>) => change(changes)
export const setUp = (changes: Partial<PlaygroundSettings>) =>
  change({ settings: { ...shared.get().settings, ...changes } })

export const isRunning = ({ turns }: Conversation) => turns.some(turn => turn.kind === 'answer' && !isOver(turn.answer))

export const stop = () => running?.abort()

/** Removes all turns and keeps the settings. */
export function clear(): void {
  stop()
  change({ turns: [] })
}

/** Replaces everything but the credential. */
export function begin(request: OpenedRequest): void {
  stop()
  change(request)
}

/** Clears the conversation when the user changes, because it contains the previous user's messages and key. */
export function setOwner(person: string | undefined): void {
  if (owner !== undefined && owner !== person) {
    stop()
    change(empty)
  }
  owner = person
}

/** Sends `text` after all turns, or after those before the turn `before`. Without text, sends the turns as they are. */
export function say(text: string, sender: Sender, before?: number): void {
  const turns = upTo(before)
  answerTo(text.trim() === '' ? turns : [...turns, { kind: 'user', id: nextId++, text }], sender)
}

/** Whether the last turn awaits an answer, so that an empty message can be sent. */
export const awaitsAnswer = ({ turns }: Conversation) => {
  const last = turns.at(-1)
  return last?.kind === 'user' || last?.results !== undefined
}

export const askAgain = (id: number, sender: Sender) => answerTo(upTo(id), sender)

/** Continues with the results of an answer's tool calls. */
export function sendResults(id: number, results: readonly string[], sender: Sender): void {
  const turns = upTo(id)
  const turn = shared.get().turns[turns.length]
  if (turn?.kind === 'answer') answerTo([...turns, { ...turn, results }], sender)
}

export function editAnswer(id: number, text: string): void {
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

async function answerTo(turns: readonly Turn[], { bodyFor, bearer }: Sender): Promise<void> {
  const body = bodyFor(messagesOf(shared.get().system, turns))
  if (!body || isRunning(shared.get())) return
  const request = JSON.stringify(body)
  const id = nextId++
  const leaving = new AbortController()
  running = leaving
  change({ turns: [...turns, { kind: 'answer', id, answer: pendingAnswer(request, false) }] })
  const show = oncePerFrame((answer: ModelAnswer) => changeAnswer(id, turn => ({ ...turn, answer })))
  // Without a session, the request is sent without a credential, and gets a 401.
  const [credential, after] = await Promise.all([bearer().catch(() => undefined), newestExchange()])
  const { signal } = leaving
  const answer = await askModel({ body: request, bearer: credential, signal, onChange: show.soon })
  show.now(answer)
  // The conversation may have been cleared in the meantime.
  if (!shared.get().turns.some(turn => turn.id === id)) return
  announce(announcementOf(answer))
  if (after === undefined) return
  const by = await findAnswer(request, answer.completion.id, after)
  if (by) changeAnswer(id, turn => ({ ...turn, by }))
}

/** Passes on one value per frame, since a model may send thousands of chunks a second. */
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

/** How many characters of an answer screen readers get. */
const READ_OUT = 300

/** The announcement of an answer, once it has ended. */
function announcementOf({ state, completion: { text, refusal, calls } }: ModelAnswer): string {
  // Errors are announced by their own alert.
  if (state === 'refused') return ''
  const said = text || refusal
  const words = said.length > READ_OUT ? `${said.slice(0, READ_OUT)}, and so on` : said
  const called = calls.length === 0 ? '' : ` The model calls ${calls.map(({ name }) => name).join(', ')}.`
  return `Answer: ${words}${called}${state === 'stopped' ? ' Stopped.' : ''}`
}

/** How many characters of the body identify it. The last message is at the end. */
const SEARCHED = 2000
const WAIT_MS = 250

/** The id of the newest exchange; `0` without one, undefined if the control API is closed to the page. */
async function newestExchange(): Promise<string | undefined> {
  try {
    const { data } = await control('GET /journal', { query: { brief: true, limit: 1 } })
    return data[0]?.id ?? '0'
  } catch {
    return undefined
  }
}

/**
 * Finds the exchange of an answer in the journal. Undefined if the control API is closed to the page. `completionId` is empty for an
 * error, or if the answer was stopped early. `after` is the newest exchange before the request, which may have been sent earlier, too.
 */
async function findAnswer(request: string, completionId: string, after: string): Promise<AnswerOrigin | undefined> {
  const body = { method: 'POST', path: CHAT, text: request.slice(-SEARCHED), after, limit: 5 }
  // The journal adds an exchange when it has ended, which may be a moment after the page has read the last byte.
  for (let round = 0; round < 3; round++) {
    if (round > 0) await new Promise(resolve => setTimeout(resolve, WAIT_MS))
    const found = await control('POST /journal/find', { body }).catch(() => undefined)
    if (!found) return undefined
    const entry = found.data.findLast(({ response }) => JSON.stringify(response.body ?? '').includes(completionId))
    if (entry) return entry
  }
  return undefined
}
