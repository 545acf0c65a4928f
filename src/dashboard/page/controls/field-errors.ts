/** Which field a sentence of the server is about: it begins with the field's name. */
import type { Failure } from '../failure.js'

export interface FieldErrors {
  /** What is wrong with a field; nothing where it is another one's. */
  of(field: string): string | undefined
  /** What is about no field. */
  readonly other: string | undefined
}

/** `prefix` stands before the names of the fields: `models.gpt-4o.`. */
export function fieldErrors(failure: Failure | undefined, fields: readonly string[], prefix = ''): FieldErrors {
  const message = failure?.message
  const isAbout = (field: string) => message?.startsWith(`${prefix}${field} `) === true
  return {
    of: field => (isAbout(field) ? message : undefined),
    other: fields.some(isAbout) ? undefined : message,
  }
}
