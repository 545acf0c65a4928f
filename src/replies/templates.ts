/** What templates can use, which texts are templates, and the error for an invalid one. */

import type { IncomingHttpHeaders } from 'node:http'
import { isObject, parseExact } from '../core/json.js'
import type { withFaker } from './fake.js'

export interface Templates {
  /** Compiles a text, or a JSON value with texts inside of it, which can name `names`. Throws a TemplateError. */
  compile(value: unknown, names: readonly string[]): CompiledTemplate
}

/** Both methods throw a TemplateError if a limit is exceeded. */
export interface CompiledTemplate {
  /** Whether the facts must include a seeded `faker`. */
  readonly needsFaker: boolean
  /** Renders to text, whatever the type of the value. */
  renderText(facts: TemplateFacts): string
  /** Renders to a value: a text that is a single `{{ … }}` keeps the type of its expression; `undefined` if that has no value. */
  renderValue(facts: TemplateFacts): unknown
}

/** Finds the value of a name, which is only asked for if a template uses it. */
export type TemplateFacts = (name: string) => unknown

export type Faker = Parameters<Parameters<typeof withFaker>[1]>[0]

/** The members of a name, if they are known. In rules on chat, which have `assistant`, the user message is a text. */
export const membersOf = (name: string, names: readonly string[]): readonly string[] | undefined =>
  name === 'user' && names.includes('assistant') ? ofText : members.get(name)

const ofText = ['size', 'first', 'last']
const members = new Map([
  ['caller', ['kind', 'name', 'email', 'id']],
  ['tool', ['name', 'content', 'text']],
  ['argument', ['name', 'value']],
  ...['system', 'assistant', 'model', 'method', 'path', 'uri'].map(name => [name, ofText] as const),
])

/** A match as templates see it: its texts, and each named group as a property. */
export function matchFact(match: Pick<RegExpExecArray, 'groups'> & readonly (string | undefined)[]): object {
  const { groups = {} } = match
  // Liquid defines these properties for arrays; here the author's groups take precedence.
  const hasReservedGroup = ['first', 'last', 'length'].some(name => name in groups)
  return Object.assign(hasReservedGroup ? { ...[...match] } : [...match], groups)
}

/** The fact for a tool result, including its parsed value if it is JSON. */
export function toolFact(name: string, text: string): object {
  try {
    const content = parseExact(text)
    return { name, text: textOfMcpResult(content) ?? text, content }
  } catch {
    return { name, text, content: text }
  }
}

/** The text of the result of an MCP tool, which agents send as it is or as the list of its parts; `undefined` for others. */
function textOfMcpResult(value: unknown): string | undefined {
  const parts = isObject(value) ? value.content : value
  const texts = (Array.isArray(parts) ? parts : []).filter(
    part => part?.type === 'text' && typeof part.text === 'string',
  )
  return texts.length === 0 ? undefined : texts.map(({ text }) => text).join('\n')
}

/**
 * The headers of a request without those that contain credentials, since templates are rendered into answers and logs.
 */
export function shownHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const shown = Object.entries(headers).filter(([name, value]) => value !== undefined && !holdsCredential(name))
  return Object.fromEntries(shown.map(([name, value]) => [name, String(value)]))
}

/** All texts in a JSON value, keys included. */
export function* textsIn(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value
  else if (Array.isArray(value)) for (const item of value) yield* textsIn(item)
  else if (typeof value === 'object' && value !== null) {
    for (const [key, part] of Object.entries(value)) {
      yield key
      yield* textsIn(part)
    }
  }
}

/** Whether a text, or any text in a JSON value, has to be rendered. */
export function hasTemplate(value: unknown): boolean {
  for (const text of textsIn(value)) if (text.includes('{{') || text.includes('{%')) return true
  return false
}

/** `message` is a sentence for the author. The position is relative to the text. */
export class TemplateError extends Error {
  override readonly name = 'TemplateError'

  constructor(
    message: string,
    /** 1-based. */
    readonly line: number,
    /** 1-based. */
    readonly column: number,
    /** The path to the text, if it is in a JSON value. */
    readonly path: readonly (string | number)[],
  ) {
    super(message)
  }
}

/** Headers that contain credentials. Standin never repeats their values. */
const credentialHeaders = new Set([
  ...['authorization', 'proxy-authorization', 'cookie'],
  // Used for keys of Supabase, Azure, Anthropic and Google.
  ...['apikey', 'api-key', 'x-api-key', 'x-goog-api-key'],
])

/** `name` must be lower-case. */
export const holdsCredential = (name: string) => credentialHeaders.has(name)
