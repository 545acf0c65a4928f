/** The conversation with a model, which goes on while its reader looks at another view; kept in the page's memory alone. */
import { useEffect, useState } from 'preact/hooks'
import { announce } from '../widgets/announcer.jsx'
import { awaited, isOver, type ModelAnswer } from './answer.js'
import { type AnswerOrigin, findAnswer } from './answered-by.js'
import { askModel } from './ask-model.js'
import { firstSettings, type PlaygroundSettings } from './settings.js'
import { type AnswerTurn, messagesOf, type Turn } from './turns.js'

/** Which credential is shown to the platform; `automatic` until one is chosen. */
export type CredentialChoice = 'automatic' | 'fresh' | 'session' | 'pasted' | 'none'

export interface Conversation {
  readonly system: string
  readonly turns: readonly Turn[]
  /** What is being written. */
  readonly draft: string
  readonly settings: PlaygroundSettings
  readonly credential: CredentialChoice
  readonly pastedKey: string
}

/** What a question needs beside the turns before it. */
export interface Means {
  /** The body of the request; `undefined` where the settings make none. */
  bodyFor(messages: readonly object[]): object | undefined
  bearer(): Promise<string | undefined>
  readonly serviceKey: string | undefined
}

const empty: Conversation = {
  ...{ system: '', turns: [], draft: '', settings: firstSettings, credential: 'automatic', pastedKey: '' },
}

let current = empty
/** Whose it is, where they were signed in. */
let owner: string | undefined
let running: AbortController | undefined
let nextId = 1
const listeners = new Set<() => void>()

function change(news: Partial<Conversation>): void {
  current = { ...current, ...news }
  for (const listener of listeners) listener()
}

export function useConversation(): Conversation {
  const [conversation, setConversation] = useState(current)
  useEffect(() => {
    const listen = () => setConversation(current)
    listen()
    listeners.add(listen)
    return () => void listeners.delete(listen)
  }, [])
  return conversation
}

export const edit = (news: Partial<Omit<Conversation, 'turns' | 'settings'>>) => change(news)
export const setUp = (news: Partial<PlaygroundSettings>) => change({ settings: { ...current.settings, ...news } })

export const isRunning = ({ turns }: Conversation) => turns.some(turn => turn.kind === 'answer' && !isOver(turn.answer))

export const stop = () => running?.abort()

/** Begins again; what is set up stays. */
export function clear(): void {
  stop()
  change({ turns: [] })
}

/** What one user said, and with which key, is not for the next user. */
export function belongTo(person: string | undefined): void {
  if (owner !== undefined && owner !== person) {
    stop()
    change(empty)
  }
  owner = person
}

/** Says `text` behind the turns before `before`, or behind all, and has it answered. */
export function say(text: string, means: Means, before?: number): void {
  const turns = upTo(before)
  answerTo([...turns, { kind: 'user', id: nextId++, text }], means)
}

/** Has the turns before this answer answered once more. */
export const askAgain = (id: number, means: Means) => answerTo(upTo(id), means)

/** Goes on with what the calls of an answer came to. */
export function tellResults(id: number, results: readonly string[], means: Means): void {
  const turns = upTo(id)
  const turn = current.turns[turns.length]
  if (turn?.kind === 'answer') answerTo([...turns, { ...turn, results }], means)
}

/** Puts other words into the mouth of the model. */
export function reword(id: number, text: string): void {
  const reworded = (turn: AnswerTurn): AnswerTurn => {
    const completion = { ...turn.answer.completion, text }
    return { ...turn, answer: { ...turn.answer, completion } }
  }
  changeAnswer(id, reworded)
}

const upTo = (id: number | undefined) => {
  const place = current.turns.findIndex(turn => turn.id === id)
  return place < 0 ? current.turns : current.turns.slice(0, place)
}

const changeAnswer = (id: number, changed: (turn: AnswerTurn) => AnswerTurn) =>
  change({ turns: current.turns.map(turn => (turn.id === id && turn.kind === 'answer' ? changed(turn) : turn)) })

async function answerTo(turns: readonly Turn[], { bodyFor, bearer, serviceKey }: Means): Promise<void> {
  const body = bodyFor(messagesOf(current.system, turns))
  if (!body || isRunning(current)) return
  const request = JSON.stringify(body)
  const id = nextId++
  const leaving = new AbortController()
  running = leaving
  change({ turns: [...turns, { kind: 'answer', id, answer: awaited(request, false) }] })
  const show = oncePerFrame((answer: ModelAnswer) => changeAnswer(id, turn => ({ ...turn, answer })))
  const answer = await askModel({
    ...{ body: request, signal: leaving.signal, onChange: show.soon },
    // Without a session the request has no credential, and the answer says so.
    bearer: await bearer().catch(() => undefined),
  })
  show.now(answer)
  // It may have been cleared away meanwhile.
  if (!current.turns.some(turn => turn.id === id)) return
  announce(spoken(answer))
  const by = await findAnswer({ request, completionId: answer.completion.id, bearer: serviceKey })
  if (by) changeAnswer(id, turn => withSource(turn, by))
}

const withSource = (turn: AnswerTurn, by: AnswerOrigin): AnswerTurn => ({ ...turn, by })

/** Hands on the last of what comes between two frames: a model may say thousands of things a second. */
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

/** How much of an answer is read out. */
const READ_OUT = 300

/** An answer for those who do not see it: once, when it is over. */
function spoken({ state, completion: { text, refusal, calls } }: ModelAnswer): string {
  // What went wrong is an alert of its own.
  if (state === 'refused') return ''
  const said = text || refusal
  const words = said.length > READ_OUT ? `${said.slice(0, READ_OUT)}, and so on` : said
  const called = calls.length === 0 ? '' : ` The model calls ${calls.map(({ name }) => name).join(', ')}.`
  return `Answer: ${words}${called}${state === 'stopped' ? ' Stopped.' : ''}`
}
