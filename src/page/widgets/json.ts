/** JSON as it is shown. */

/** A value as indented JSON. */
export const indented = (value: unknown): string => JSON.stringify(value, null, 2) ?? ''

/** JSON is indented; anything else, such as the events of a stream, stays as it came. */
export function readable(text: string): string {
  try {
    return indented(JSON.parse(text))
  } catch {
    return text
  }
}
