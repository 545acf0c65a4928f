/** JSON as it is shown, and as it is written in fields. */
import { createParser } from 'eventsource-parser'
import { Failure } from '../failure.js'

export const indented = (value: unknown): string => JSON.stringify(value, null, 2) ?? ''

/** The value of a text; undefined if it is not JSON. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** What is JSON among the events of a stream. Its end may be missing. */
export function eventsIn(stream: string): readonly unknown[] {
  const found: unknown[] = []
  // Not so `[DONE]`, or an event that was cut.
  const events = createParser({ onEvent: ({ data }) => void found.push(parsed(data)) })
  events.feed(`${stream}\n\n`)
  return found.filter(json => json !== undefined)
}

/** JSON is indented; anything else, such as the events of a stream, stays as it came. */
export function readable(text: string): string {
  const value = parsed(text)
  return value === undefined ? text : indented(value)
}

export const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

type Fields = Readonly<Record<string, unknown>>

/** What was changed in an object: the fields that are new or different, and the names of those that are gone. */
export function changesBetween(before: Fields, after: Fields) {
  const differs = ([name, value]: readonly [string, unknown]) => JSON.stringify(value) !== JSON.stringify(before[name])
  return {
    changed: Object.fromEntries(Object.entries(after).filter(differs)),
    gone: Object.keys(before).filter(name => !(name in after)),
  }
}

/** The value that was written in a field. Throws a Failure about that field. */
export function valueWritten(text: string, field: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Failure(-1, `This is not valid JSON: ${(error as Error).message}.`, { field })
  }
}

/** The same, for an object. `example` is shown if it is something else. */
export function objectWritten(text: string, field: string, example: string): Fields {
  const value = valueWritten(text, field)
  if (isObject(value)) return value
  throw new Failure(-1, `This must be a JSON object, such as ${example}.`, { field })
}
