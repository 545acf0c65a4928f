/** What is wrong with a template, and where. */

/** `message` is a sentence for the author; the place is one inside of the text. */
export class TemplateError extends Error {
  override readonly name = 'TemplateError'

  constructor(
    message: string,
    /** 1-based. */
    readonly line: number,
    /** 1-based. */
    readonly column: number,
    /** The keys that lead to the text, where it stands inside of a JSON value. */
    readonly path: readonly (string | number)[],
  ) {
    super(message)
  }
}
