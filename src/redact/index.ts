/** Keeps secrets out of what is stored or shown: each is replaced by a stable placeholder. */
import { inspect } from 'node:util'
import type { Exchange } from '../core/exchange.js'
import type { Redact, Redaction } from './redaction.js'

export { findSecrets, type SecretFinding } from './find.js'
export type { KnownSecret } from './known.js'
export { anyPlaceholder } from './matches.js'
export type { RedactionRules } from './names.js'
export { comparable, createRedact, type Redact, type Redaction } from './redaction.js'

/** The caller's credentials, wherever a client may put them: in the usual places at any length, elsewhere as `secretsIn` finds them. */
export function credentialsOf(
  { authorization = '', headers, query }: Pick<Exchange, 'authorization' | 'headers' | 'query'>,
  { secretsIn }: Pick<Redact, 'secretsIn'>,
): readonly string[] {
  const [, bearer] = /^\S+ +(\S+)/.exec(authorization) ?? []
  const inQuery = query === '' ? undefined : new URLSearchParams(query).get('apikey')
  const found = new Set<string>()
  for (const value of [bearer, headers.apikey, headers['x-api-key'], inQuery]) if (value) found.add(String(value))
  for (const value of secretsIn({ headers: headerFields(headers), query })) found.add(value)
  return [...found]
}

/** Longer bodies are not read for the secrets that they name. */
const LEARNT_BYTES = 262_144

/**
 * The redaction of a journaled exchange, which also knows the secrets that the body of its request names: an answer may
 * repeat them.
 */
export function redactionOf(exchange: Exchange, redact: Redact): Redaction {
  const { body, path, headers } = exchange
  const redaction = redact(credentialsOf(exchange, redact))
  if (body && body.length <= LEARNT_BYTES) redaction.learn(body, path, headers['content-type'])
  return redaction
}

/** What is printed of an error or a sentence: itself, or a text without the secrets that it quotes. */
export function withoutSecrets(said: unknown, redact: Redact): unknown {
  const text = typeof said === 'string' ? said : inspect(said)
  const hidden = redact().text(text)
  return hidden === text ? said : hidden
}

/** Node has a list of values only for Set-Cookie, which requests do not carry. */
function* headerFields(headers: Exchange['headers']) {
  for (const name in headers) yield [name, String(headers[name] ?? '')] as const
}

/** Calls `leaf` for everything but objects and arrays, and for field names. Returns the same value if nothing changes. */
export function withLeaves(value: unknown, leaf: (value: unknown) => unknown): unknown {
  if (typeof value !== 'object' || value === null) return leaf(value)
  if (Array.isArray(value)) {
    const items = value.map(item => withLeaves(item, leaf))
    return items.some((item, i) => item !== value[i]) ? items : value
  }
  const fields = Object.entries(value)
  const mapped = fields.map(([name, item]) => [String(leaf(name)), withLeaves(item, leaf)] as const)
  const isChanged = mapped.some(([name, item], i) => name !== fields[i]?.[0] || item !== fields[i]?.[1])
  return isChanged ? Object.fromEntries(mapped) : value
}
