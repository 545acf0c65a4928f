/** The events of a stream that the journal tells as text. */
import { createEventSplitter, dataOf as dataIn } from '../completions/events.js'
import { parseExact } from '../core/json.js'

export function eventsIn(text: string): readonly Buffer[] {
  const splitter = createEventSplitter()
  return [...splitter.push(Buffer.from(text)), splitter.rest()]
}

/** What an event says; nothing for the last one, and for those that say nothing. */
export function dataOf(event: Buffer): string | undefined {
  const data = dataIn(event)
  return data === undefined || data.trim() === '[DONE]' ? undefined : data
}

/** The value of a JSON text; none where it is no JSON. */
export function jsonIn(data: string | undefined): readonly unknown[] {
  try {
    return data === undefined ? [] : [parseExact(data)]
  } catch {
    return []
  }
}
