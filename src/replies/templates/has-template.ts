/** Tells what is to be rendered from what is only text. */

/** All texts inside of a JSON value; keys are none. */
export function* textsIn(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value
  else if (typeof value === 'object' && value !== null) for (const part of Object.values(value)) yield* textsIn(part)
}

/** Whether a text, or any text inside of a JSON value, is to be rendered. */
export function hasTemplate(value: unknown): boolean {
  for (const text of textsIn(value)) if (text.includes('{{') || text.includes('{%')) return true
  return false
}
