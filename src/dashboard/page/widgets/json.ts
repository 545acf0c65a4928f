/** JSON as it is shown, typed into fields and sent, and the events of streams. */
import { createParser } from 'eventsource-parser'
import { Failure } from '../api.js'

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

export const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

type Fields = Readonly<Record<string, unknown>>

/** How an object has changed: the fields that are new or different, and the names of those that were removed. */
export function changesBetween(before: Fields, after: Fields) {
  const differs = ([name, value]: readonly [string, unknown]) => JSON.stringify(value) !== JSON.stringify(before[name])
  return {
    changed: Object.fromEntries(Object.entries(after).filter(differs)),
    gone: Object.keys(before).filter(name => !(name in after)),
  }
}

/** Parses the JSON object that was typed into a field. Throws a Failure about that field. */
export function objectFrom(text: string, field: string, example: string): Fields {
  const value = jsonFrom(text, field)
  if (isObject(value)) return value
  throw new Failure(-1, `This must be a JSON object, such as ${example}.`, { field })
}

function jsonFrom(text: string, field: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Failure(-1, `This is not valid JSON: ${(error as Error).message}.`, { field })
  }
}
