/** Looks at JSON as a text, for what a parsed value does not show. */

export function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** Where the string ends that begins at `start`: at a quote without an odd number of backslashes before it. Of a text that is cut, its length. */
export function closingQuote(text: string, start: number): number {
  for (let quote = text.indexOf('"', start); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    let first = quote
    while (first > start && text[first - 1] === '\\') first--
    if ((quote - first) % 2 === 0) return quote
  }
  return text.length
}
