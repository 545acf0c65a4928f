/** Headers and parameters that are secret by their names, and the credentials in them, which are secret wherever they recur. */
import { unescape as decoded } from 'node:querystring'
import { memoized } from '../../core/work.js'

const secretHeader =
  /^(?:.*-)?(?:authorization|api-?key|(?:access|functions|subscription)-key|cookie2?)$|^mcp-session-id$|.-(?:token|secret|password|credential|signature(?:-256)?)$/

/** Exact names only: `page_token` is not secret, and it makes requests different. */
const secretParameters: readonly string[] = [
  ...['apikey', 'api_key', 'api-key', 'x-api-key', 'key', 'authorization'],
  ...['token', 'access_token', 'refresh_token', 'id_token', 'provider_token', 'provider_refresh_token', 'token_hash'],
  ...['password', 'secret', 'client_secret', 'signature', 'sig', 'code', 'code_verifier'],
  ...['x-amz-signature', 'x-amz-security-token', 'x-amz-credential', 'x-goog-signature', 'x-goog-credential'],
]

/** Whether the value of a header or parameter of this name is secret; case does not matter. */
export type IsSecretName = (name: string) => boolean

export function secretHeaders(further: readonly string[]): IsSecretName {
  const configured = lowerCaseSet(further)
  // The same few headers come with each request.
  return memoized(name => {
    const lowerCase = name.toLowerCase()
    return secretHeader.test(lowerCase) || configured.has(lowerCase)
  }, REMEMBERED)
}

/** At most this many names are remembered. */
const REMEMBERED = 512

export const secretParameterNames = (further: readonly string[]): readonly string[] => [...secretParameters, ...further]

export function secretParametersWith(further: readonly string[]): IsSecretName {
  const all = lowerCaseSet(secretParameterNames(further))
  return name => all.has(name.toLowerCase())
}

const lowerCaseSet = (names: readonly string[]) => new Set(names.map(name => name.toLowerCase()))

/** What is secret in addition to values with a known form. */
export interface RedactionRules {
  /** Names of other headers and parameters of the query whose values are secret; case does not matter. */
  readonly names: readonly string[]
  readonly emails: boolean
  /** Expressions, with the names of their placeholders. */
  readonly patterns: readonly { readonly name: string; readonly pattern: RegExp }[]
  /** Values that are known to be secret, with the names of their placeholders: the live keys, for example. */
  readonly known: readonly { readonly name: string; readonly value: string }[]
}

/** A request without its body. */
export interface CredentialFields {
  readonly headers: Iterable<readonly [name: string, value: string]>
  /** The text after the `?`, not decoded. */
  readonly query?: string
}

/** Returns the values that are worth looking for elsewhere. */
export function createSecretsIn(isHeader: IsSecretName, isParameter: IsSecretName) {
  return ({ headers, query = '' }: CredentialFields): readonly string[] => {
    const found: string[] = []
    for (const [name, value] of headers) if (isHeader(name)) found.push(...credentialsIn(name.toLowerCase(), value))
    if (query !== '') for (const [name, value] of new URLSearchParams(query)) if (isParameter(name)) found.push(value)
    return found.filter(isDistinctive)
  }
}

function credentialsIn(name: string, value: string): readonly string[] {
  if (name.startsWith('set-cookie')) return cookieValue(value.split(';', 1)[0] ?? '')
  if (name.startsWith('cookie')) return value.split(';').flatMap(cookieValue)
  // The part after a scheme such as Bearer.
  return [value.replace(/^[A-Za-z][\w-]* +/, '').trim()]
}

function cookieValue(cookie: string): readonly string[] {
  const value = cookie
    .slice(cookie.indexOf('=') + 1)
    .trim()
    .replace(/^"(.*)"$/, '$1')
  return value.includes('%') ? [value, decoded(value)] : [value]
}

const LONG = 12
const SHORTEST = 8

/** `?key=default` must not cause words to be replaced, and a cookie with a path must not cause paths to be replaced. */
function isDistinctive(value: string): boolean {
  if (value.length < SHORTEST || isPlaceholder.test(value)) return false
  if (value.length < LONG) return /\d/.test(value) && /[A-Za-z]/.test(value) && looksRandom(value)
  return !isAddress.test(value) || looksRandom(value)
}

const isPlaceholder = /^\[[a-z][a-z\d-]*\]$/
const isAddress = /^(?:[a-z]+:\/)?\//

/** Whether it has more digits and mixed case than words joined by dashes. */
export function looksRandom(text: string): boolean {
  if (/[a-z][A-Z]|[A-Z]{2}[a-z]/.test(text)) return true
  if ((text.match(/\d/g)?.length ?? 0) >= 8) return true
  return text.split(/[^A-Za-z0-9]/).some(part => part.length >= 6 && /\d/.test(part) && /[A-Za-z]/.test(part))
}
