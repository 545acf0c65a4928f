/** What a JSON object should look like that was asked for in words alone: `response_format: { type: "json_object" }`. */
import { type ChatRequest, textOf } from '../core/chat.js'

/** So much of the conversation's end is read, and so many braces are looked behind. */
const READ = 20_000
const BRACES = 40

const MOST_NAMES = 12

/** A JSON Schema of it: like the last example that is shown, or with the names that stand in quotes; else with an answer. */
export function promptedSchema({ messages }: ChatRequest): object {
  const told = messages.filter(({ role }) => role !== 'assistant' && role !== 'tool' && role !== 'function')
  const text = told.map(textOf).join('\n').slice(-READ)
  const example = exampleIn(text)
  if (example) return schemaLike(example, 0)
  const names = namesIn(text)
  return withProperties(names.length > 0 ? names.map(name => [name, {}]) : [['answer', { type: 'string' }]])
}

const withProperties = (properties: readonly (readonly [string, object])[]) => ({
  type: 'object',
  properties: Object.fromEntries(properties),
  required: properties.map(([name]) => name),
})

function exampleIn(text: string): object | undefined {
  const starts = [...text.matchAll(/\{\s*"/g)].slice(-BRACES).map(({ index }) => index)
  const found = starts.map(start => objectFrom(text, start)).filter(found => found !== undefined)
  // Of an object in an object the outer one is the example: it begins first and ends last.
  return found.findLast(({ start, end }) => !found.some(other => other.start < start && other.end > end))?.value
}

/** The JSON object that begins here, if it is one. */
function objectFrom(text: string, start: number) {
  const end = closingBrace(text, start)
  if (end === undefined) return undefined
  try {
    return { start, end, value: JSON.parse(text.slice(start, end + 1)) as object }
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

/** A schema of values like this one: the same names and types, with texts and numbers of their own. */
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

/** Prompts like to write `"sentiment": "positive|neutral|negative"`. */
function choicesIn(text: string): object {
  const choices = text.split('|').map(choice => choice.trim())
  return choices.length > 1 && choices.every(choice => /^[\w -]{1,30}$/.test(choice)) ? { enum: choices } : {}
}

/** Names in quotes: `"name"`, `'age'`. */
function namesIn(text: string): readonly string[] {
  const names = [...text.matchAll(/(["'`])([A-Za-z_][\w-]{0,39})\1/g)].map(([, , name = '']) => name)
  return [...new Set(names)].filter(name => !/^json(_object)?$/i.test(name)).slice(0, MOST_NAMES)
}
