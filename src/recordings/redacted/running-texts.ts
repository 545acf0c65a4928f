/** Knows which texts of a stream's events are parts of one text, said token by token. */
import type { JsonText } from './json-texts.js'

/** Texts that are said whole, and again in each event. */
const wholes = new Set<unknown>(['type', 'role', 'id'])

/**
 * The name of the text that a part belongs to; `undefined` for what stands for itself, such as a model's name, which
 * would only seem to be something when it was put together. `event` is the object that the path leads through.
 */
export function runningText(event: unknown, path: JsonText['path']): string | undefined {
  const isPart = path.includes('delta') ? !wholes.has(path.at(-1)) : path[0] === 'choices' && path.at(-1) === 'text'
  if (!isPart) return undefined
  const { type, index, output_index, content_index } = fieldsOf(event)
  return JSON.stringify([type, index, output_index, content_index, ...steps(event, path)])
}

/** The way to it; places in lists by the `index` that is written there, for several choices have an event each. */
function steps(event: unknown, path: JsonText['path']): readonly unknown[] {
  let at = event
  return path.map(step => {
    at = fieldsOf(at)[step]
    if (typeof step === 'string') return step
    return fieldsOf(at).index ?? step
  })
}

const fieldsOf = (value: unknown) =>
  (typeof value === 'object' && value !== null ? value : {}) as Record<string | number, unknown>
