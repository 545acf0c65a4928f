/** What templates can use, which texts are templates, and the error for an invalid one. */
import type { IncomingHttpHeaders } from 'node:http'
import { parseExact } from '../../core/json.js'
import type { withFaker } from '../fake.js'

/** The values that all templates can use. A value is only read if a template uses it, so expensive ones are getters. */
export interface CommonFacts {
  /** The match of the rule's first regular expression, as `exec` returns it; an empty array if there is none. */
  readonly match: readonly (string | undefined)[] & { readonly groups?: RegExpMatchArray['groups'] }
  readonly caller: {
    readonly kind: string
    readonly name?: string | undefined
    readonly email?: string | undefined
    readonly id?: string | undefined
  }
  /** As returned by `shownHeaders`. */
  readonly headers: Readonly<Record<string, string>>
  /** How often this rule has answered, from 1. */
  readonly count: number
  /** The time in ISO 8601. */
  readonly now: string
  /** The time in seconds since 1970. */
  readonly timestamp: number
  /** Seeded; needed only by templates with `needsFaker`. */
  faker?: Faker | undefined
}

/** The values that templates of chat rules can use. */
export interface TemplateFacts extends CommonFacts {
  /** The whole body of the request. */
  readonly request: object
  /** The text of the last user message. */
  readonly user: string
  /** The texts of all system messages. */
  readonly system: string
  /** The text of the last assistant message. */
  readonly assistant: string
  readonly model: string
  /** The number of user messages. */
  readonly turn: number
  /** The last tool result, as returned by `toolFact`. */
  readonly tool: { readonly name: string; readonly content: unknown; readonly text: string } | undefined
}

export type Faker = Parameters<Parameters<typeof withFaker>[1]>[0]

/** The names that templates can use. */
export type FactNames = readonly string[]

/** The members of names that have a fixed set of members. */
export const membersOf: Readonly<Record<string, readonly string[]>> = {
  caller: ['kind', 'name', 'email', 'id'],
  tool: ['name', 'content', 'text'],
  argument: ['name', 'value'],
}

export const commonNames: readonly (keyof CommonFacts)[] = [
  ...(['match', 'caller', 'headers', 'count', 'now', 'timestamp', 'faker'] as const),
]

export const chatNames: readonly (keyof TemplateFacts)[] = [
  ...(['request', 'user', 'system', 'assistant', 'model', 'turn', 'tool'] as const),
  ...commonNames,
]

/** A match as templates see it: its texts, and each named group as a property. */
export function matchFact(match: CommonFacts['match']): object {
  const { groups = {} } = match
  // Liquid defines these properties for arrays; here the author's groups take precedence.
  const hasReservedGroup = ['first', 'last', 'length'].some(name => name in groups)
  return Object.assign(hasReservedGroup ? { ...[...match] } : [...match], groups)
}

/** The fact for a tool result, including its parsed value if it is JSON. */
export function toolFact(name: string, text: string): NonNullable<TemplateFacts['tool']> {
  try {
    return { name, text, content: parseExact(text) }
  } catch {
    return { name, text, content: text }
  }
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
