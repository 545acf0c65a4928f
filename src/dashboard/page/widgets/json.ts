/** JSON as it is shown, and the events of streams. */
import { createParser } from 'eventsource-parser'

export const indented = (value: unknown): string => JSON.stringify(value, null, 2) ?? ''

/** The value of a text; undefined if it is not JSON. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The events of a stream that are JSON. The end of the stream may be missing. */
export function eventsIn(stream: string): readonly unknown[] {
  const found: unknown[] = []
  // `[DONE]` and an event that was cut off are not JSON.
  const events = createParser({ onEvent: ({ data }) => void found.push(parsed(data)) })
  events.feed(`${stream}\n\n`)
  return found.filter(json => json !== undefined)
}

/** The text of a body as it arrives. Not all browsers can iterate over streams. */
export async function* textsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  for (;;) {
    const { done, value } = await reader.read()
    yield done ? decoder.decode() : decoder.decode(value, { stream: true })
    if (done) return
  }
}

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
