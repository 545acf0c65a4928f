/** The events of a stream, and what clauses look for in them. */
import { chunkAnswer } from '../core/answers.js'
import { createEventSplitter, dataOf } from '../core/events.js'
import type { Look } from './clause.js'
import { jsonIn, mistakesOf } from './looks.js'

const DONE = '[DONE]'

/** The data of each event. */
function eventsIn(text: string): readonly string[] {
  const splitter = createEventSplitter()
  const events = splitter.push(Buffer.from(text))
  return [...events, splitter.rest()].flatMap(event => dataOf(event) ?? [])
}

export const eventStream: Look = {
  expected: 'Content-Type: text/event-stream',
  differs({ headers }) {
    const type = headers.get('content-type') ?? 'none'
    return /^text\/event-stream\s*(;|$)/i.test(type) ? undefined : `Content-Type: ${type}`
  },
}

export const chunks: Look = {
  expected: 'events that are each a chat.completion.chunk',
  differs: ({ text }) => chunkMistake(text),
}

/** What is wrong with the first event that is no chunk. */
export function chunkMistake(text: string): string | undefined {
  const events = eventsIn(text).filter(data => data !== DONE)
  if (events.length === 0) return 'no event'
  for (const [i, data] of events.entries()) {
    const { value, why } = jsonIn(data)
    const mistake = why === undefined ? mistakesOf(chunkAnswer, value) : `it is not JSON: ${why}`
    if (mistake !== undefined) return `event ${i + 1}: ${mistake}`
  }
  return undefined
}

export const endsDone: Look = {
  expected: `data: ${DONE} as the last event`,
  differs({ text }) {
    const last = eventsIn(text).at(-1)
    return last === DONE
      ? undefined
      : `${last === undefined ? 'no event' : `the event ${last.slice(0, 100)}`} as the last one`
  },
}
