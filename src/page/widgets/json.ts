/** JSON as it is shown, and as it is written in fields. */
import { Failure } from '../failure.js'

/** A value as indented JSON. */
export const indented = (value: unknown): string => JSON.stringify(value, null, 2) ?? ''

/** The value of a text; undefined if it is not JSON. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** JSON is indented; anything else, such as the events of a stream, stays as it came. */
export function readable(text: string): string {
  const value = parsed(text)
  return value === undefined ? text : indented(value)
}

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The value that was written in a field. Throws a Failure about that field. */
export function valueWritten(text: string, field: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Failure(-1, `This is not valid JSON: ${(error as Error).message}.`, { field })
  }
}

/** The same, for an object. `example` is shown if it is something else. */
export function objectWritten(text: string, field: string, example: string): Readonly<Record<string, unknown>> {
  const value = valueWritten(text, field)
  if (isObject(value)) return value
  throw new Failure(-1, `This must be a JSON object, such as ${example}.`, { field })
}
