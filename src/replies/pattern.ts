/** Text conditions: a part of the text, or `/a regular expression/flags`. */

const regularExpression = /^\/(.+)\/([a-z]*)$/is

/** Makes a test from what the author wrote. Throws a SyntaxError for a bad regular expression. */
export function pattern(written: string): (text: string) => boolean {
  const [, source, flags] = regularExpression.exec(written) ?? []
  if (source === undefined) return text => text.includes(written)
  // With g or y an expression remembers where it stopped, and the same text would match only every other time.
  const expression = new RegExp(source, flags?.replace(/[gy]/g, ''))
  return text => expression.test(text)
}
