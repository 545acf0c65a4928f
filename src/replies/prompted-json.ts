/**
 * Guesses the form of a JSON object that is only described in the prompt: `response_format: { type: "json_object" }`.
 */

import { type ChatRequest, textOf } from '../completions/request.js'
import { isObject } from '../core/json.js'

/**
 * Only this much at the end of the conversation is read, and the search stops after this many braces that begin no
 * object.
 */
const CHARACTERS_READ = 20_000
const MOST_FAILURES = 40

const MOST_NAMES = 12

/**
 * Returns a JSON Schema: the last one in the prompt, one like the last example, or one with the names in quotes. If
 * there is none, the object has an answer.
 */
export function promptedSchema({ messages }: ChatRequest): object {
  const instructions = messages.filter(({ role }) => role !== 'assistant' && role !== 'tool' && role !== 'function')
  const text = instructions.map(textOf).join('\n').slice(-CHARACTERS_READ)
  const example = exampleIn(text)
  if (example) return isSchema(example) ? { type: 'object', ...example } : schemaLike(example, 0)
  const names = namesIn(text)
  return names.length > 0 ? withProperties(names.map(name => [name, {}])) : anyAnswer
}

function withProperties(properties: readonly (readonly [string, object])[]) {
  return { type: 'object', properties: Object.fromEntries(properties), required: properties.map(([name]) => name) }
}

/** The fallback. */
export const anyAnswer = withProperties([['answer', { type: 'string' }]])

/** Client libraries put a JSON Schema into the prompt if a model does not support one. Some leave out its type. */
const isSchema = ({ type = 'object', properties }: { readonly type?: unknown; readonly properties?: unknown }) =>
  type === 'object' && isObject(properties) && Object.values(properties).every(isObject)

function exampleIn(text: string): object | undefined {
  let last: ReturnType<typeof objectFrom>
  let failures = 0
  for (const { index } of text.matchAll(/\{\s*"/g)) {
    // Of nested objects, the outer one is the example.
    if (last && index < last.end) continue
    const found = objectFrom(text, index)
    last = found ?? last
    if (!found && ++failures === MOST_FAILURES) break
  }
  return last?.value
}

/** The JSON object that begins here, if there is one. */
function objectFrom(text: string, start: number) {
  const end = closingBrace(text, start)
  if (end === undefined) return undefined
  try {
    return { end, value: JSON.parse(text.slice(start, end + 1)) as object }
  } catch {
    return undefined
  }
}

function closingBrace(text: string, start: number): number | undefined {
  let depth = 0
  const parts = /"(?:[^"\\]|\\.)*"|[{}]/gs
  parts.lastIndex = start
  for (let part = parts.exec(text); part; part = parts.exec(text)) {
    if (part[0] === '{') depth++
    if (part[0] === '}') depth--
    if (depth === 0) return part.index
  }
  return undefined
}

/** A schema for values like this one: the same names and types, with other texts and numbers. */
function schemaLike(value: unknown, depth: number): object {
  if (depth > 20) return {}
  if (Array.isArray(value)) {
    return value.length === 0
      ? { type: 'array' }
      : { type: 'array', minItems: 1, items: schemaLike(value[0], depth + 1) }
  }
  switch (typeof value) {
    case 'string':
      return { type: 'string', ...choicesIn(value) }
    case 'boolean':
      return { type: 'boolean' }
    case 'number':
      return { type: Number.isInteger(value) ? 'integer' : 'number' }
    default:
      return value === null
        ? {}
        : withProperties(Object.entries(value as object).map(([k, v]) => [k, schemaLike(v, depth + 1)]))
  }
}

/** Prompts often contain `"sentiment": "positive|neutral|negative"`. */
function choicesIn(text: string): object {
  const choices = text.split('|').map(choice => choice.trim())
  return choices.length > 1 && choices.every(choice => /^[\w -]{1,30}$/.test(choice)) ? { enum: choices } : {}
}

/** Names in quotes: `"name"`, `'age'`. */
function namesIn(text: string): readonly string[] {
  const names = [...text.matchAll(/(["'`])([A-Za-z_][\w-]{0,39})\1/g)].map(([, , name = '']) => name)
  return [...new Set(names)].filter(name => !/^json(_object)?$/i.test(name)).slice(0, MOST_NAMES)
}
