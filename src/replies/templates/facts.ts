/** The facts that templates can use. */
import type { IncomingHttpHeaders } from 'node:http'
import { parseExact } from '../../core/json.js'
import { holdsCredential } from '../credential-headers.js'
import type { withFaker } from '../fake.js'

/** What all templates can name. Each is asked for only when a template names it, so whatever takes work may be a getter. */
export interface CommonFacts {
  /** What the rule's first regular expression found, as `exec` gives it; an empty array without one. */
  readonly match: readonly (string | undefined)[] & { readonly groups?: RegExpMatchArray['groups'] }
  readonly caller: {
    readonly kind: string
    readonly name?: string | undefined
    readonly email?: string | undefined
    readonly id?: string | undefined
  }
  /** As `shownHeaders` returns them. */
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

/** The same of a chat completion request. */
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
  /** How many user messages there are. */
  readonly turn: number
  /** The last result of a tool, as `toolFact` gives it. */
  readonly tool: { readonly name: string; readonly content: unknown; readonly text: string } | undefined
}

export type Faker = Parameters<Parameters<typeof withFaker>[1]>[0]

/** Names that templates know, and of those with a closed set of members the members. */
export type FactNames = Readonly<Record<string, readonly string[] | undefined>>

type Names<F> = { readonly [K in keyof F]-?: readonly string[] | undefined }

export const commonNames: Names<CommonFacts> = {
  match: undefined,
  caller: ['kind', 'name', 'email', 'id'],
  headers: undefined,
  count: undefined,
  now: undefined,
  timestamp: undefined,
  faker: undefined,
}

export const chatNames: Names<TemplateFacts> = {
  request: undefined,
  user: undefined,
  system: undefined,
  assistant: undefined,
  model: undefined,
  turn: undefined,
  tool: ['name', 'content', 'text'],
  ...commonNames,
}

/** What templates see of a match: its texts, and each named group as a property. */
export function matched(match: CommonFacts['match']): object {
  const { groups = {} } = match
  // Liquid uses these properties of arrays itself; as groups they are the author's.
  const isTaken = ['first', 'last', 'length'].some(name => name in groups)
  return Object.assign(isTaken ? { ...[...match] } : [...match], groups)
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
