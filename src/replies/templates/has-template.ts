/** Detects templates, and defines the error for an invalid one. */

/** All texts in a JSON value, keys included. */
export function* textsIn(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value
  else if (Array.isArray(value)) for (const item of value) yield* textsIn(item)
  else if (typeof value === 'object' && value !== null) {
    for (const [key, part] of Object.entries(value)) {
      yield key
      yield* textsIn(part)
    }
  }
}

/** Whether a text, or any text in a JSON value, has to be rendered. */
export function hasTemplate(value: unknown): boolean {
  for (const text of textsIn(value)) if (text.includes('{{') || text.includes('{%')) return true
  return false
}

/** `message` is a sentence for the author. The position is relative to the text. */
export class TemplateError extends Error {
  override readonly name = 'TemplateError'

  constructor(
    message: string,
    /** 1-based. */
    readonly line: number,
    /** 1-based. */
    readonly column: number,
    /** The path to the text, if it is in a JSON value. */
    readonly path: readonly (string | number)[],
  ) {
    super(message)
  }
}
