/** Rules in a few words: when they match, and what they reply. */
import { spaced } from '../wording.js'

type Fields = Readonly<Record<string, unknown>>

interface RuleFields {
  /** `POST /builder/projects`, for a rule on a path. */
  readonly on?: string | undefined
  readonly when?: Fields | null | undefined
  readonly reply?: Fields | undefined
  readonly replies?: readonly Fields[] | undefined
}

const LONGEST = 120

/** `user "hello", model gpt-4o`. */
export function whenInShort({ on, when }: RuleFields): string {
  const parts = [...(on === undefined ? [] : [on]), ...Object.entries(when ?? {}).map(conditionInShort)]
  return parts.length === 0 ? 'always' : cut(parts.join(', '))
}

function toolResultInShort(value: unknown): string {
  if (value === true) return 'after a tool result'
  if (value === false) return 'not after a tool result'
  const { tool, contains } = (value ?? {}) as { readonly tool?: unknown; readonly contains?: unknown }
  const after = tool === undefined ? 'after a tool result' : `after ${[tool].flat().join(' or ')}`
  return contains === undefined ? after : `${after} with ${valueInShort(contains)}`
}

function valueInShort(value: unknown): string {
  if (typeof value === 'string') return /^\/.+\/[a-z]*$/s.test(value) ? value : JSON.stringify(value)
  if (value === true) return 'yes'
  if (value === false) return 'no'
  if (Array.isArray(value)) return value.map(valueInShort).join(' or ')
  if (typeof value !== 'object' || value === null) return String(value)
  return Object.entries(value).map(conditionInShort).join(', ')
}

function conditionInShort([name, value]: readonly [string, unknown]): string {
  switch (name) {
    case 'exact':
      return `is ${valueInShort(value)}`
    case 'contains':
      return valueInShort(value)
    case 'min':
      return `from ${value}`
    case 'max':
      return `to ${value}`
    case 'toolResult':
      return toolResultInShort(value)
    default:
      return `${spaced(name)} ${valueInShort(value)}`
  }
}

export function saysInShort({ reply, replies }: RuleFields): string {
  if (replies && replies.length !== 1) return cut(`${replies.length} in turn: ${replies.map(replyInShort).join(' · ')}`)
  return cut(replyInShort(reply ?? replies?.[0] ?? {}))
}

interface Call {
  readonly name: string
}

function replyInShort(reply: Fields): string {
  const { status, text, file, json, events, refusal, toolCalls, choices, fault } = reply
  const calls = ((toolCalls ?? []) as readonly Call[]).map(({ name }) => `calls ${name}`)
  const parts = [
    ...(status === undefined ? [] : [`status ${status}`]),
    ...(text === undefined ? [] : [String(text).trim() || '(no text)']),
    ...(file === undefined ? [] : [`the text of ${file}`]),
    ...(json === undefined ? [] : [JSON.stringify(json)]),
    ...(events === undefined ? [] : [`${(events as readonly unknown[]).length} events`]),
    ...(refusal === undefined ? [] : [`refuses: ${refusal}`]),
    ...calls,
    ...((choices ?? []) as readonly Fields[]).map(replyInShort),
    ...(fault ? [`fails: ${valueInShort(fault)}`] : []),
  ]
  return parts.join(', ')
}

function cut(text: string): string {
  const line = text.replace(/\s+/g, ' ')
  return line.length > LONGEST ? `${line.slice(0, LONGEST).trimEnd()}…` : line
}
