/** Knows which texts of a stream's events are parts of one text, said token by token. */
import type { JsonText } from './json-texts.js'

/** Texts that are said whole, and again in each event. */
const wholes = new Set<unknown>(['type', 'role', 'id'])

/** Where Ollama says its answer in parts, in documents that stand on a line each. */
const onLines = new Set(['message.content', 'message.thinking', 'response', 'thinking'])

/**
 * The name of the text that a part belongs to; `undefined` for what stands for itself, such as a model's name, which
 * would only seem to be something when it was put together. `event` is the object that the path leads through; `isOnLine`
 * says whether it is a document on a line of its own.
 */
export function runningText(event: unknown, path: JsonText['path'], isOnLine: boolean): string | undefined {
  if (!isPart(path, isOnLine)) return undefined
  const { type, index, output_index, content_index } = fieldsOf(event)
  return JSON.stringify([type, index, output_index, content_index, ...steps(event, path)])
}

function isPart(path: JsonText['path'], isOnLine: boolean): boolean {
  if (path.includes('delta')) return !wholes.has(path.at(-1))
  if (path[0] === 'choices') return path.at(-1) === 'text'
  return isOnLine && onLines.has(path.join('.'))
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
