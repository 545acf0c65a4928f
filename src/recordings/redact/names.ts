/** Headers, parameters and fields that are secret by their names, and the credentials in them, which are secret wherever they recur. */
import { unescape as decoded } from 'node:querystring'
import { isTooDeep, jsonOf } from '../../core/json.js'
import { AUTH, isAuth, percentDecoded } from '../../core/paths.js'
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

const secretFields = [
  ...['password', 'current_password', 'new_password', 'password_hash', 'encrypted_password', 'client_secret'],
  ...['access_token', 'refresh_token', 'id_token', 'provider_token', 'provider_refresh_token'],
]
/** On the auth backend, also the fields that sign a user in. */
const authSecretFields = [
  ...secretFields,
  ...['nonce', 'token', 'token_hash', 'hashed_token', 'email_otp', 'code', 'auth_code', 'code_verifier', 'action_link'],
]

/** The placeholder for a field with this name and value, if it is secret. */
type PlaceholderFor = (name: string, value: string) => string | undefined

function placeholdersFor(names: readonly string[]): PlaceholderFor {
  const byName = new Map(names.map(name => [normalizedName(name), `[${name.replaceAll('_', '-')}]`]))
  return (name, value) => {
    const placeholder = byName.get(normalizedName(name))
    // A code of digits is a sign-in code; the code of an error is not.
    return value === '' || (placeholder === '[code]' && !/^\d{4,}$/.test(value)) ? undefined : placeholder
  }
}

/** Clients write `refresh_token`, `refreshToken` and `REFRESH-TOKEN`. */
const normalizedName = (name: string) => name.toLowerCase().replace(/[_-]/g, '')

const authPlaceholders = placeholdersFor(authSecretFields)
const otherPlaceholders = placeholdersFor(secretFields)

/** Most bodies match nothing here. An escape may hide a name. */
const mayContainSecret = /pass|secret|token|nonce|code|otp|link|\\u|%[\da-f]/i

/** Chat texts are not changed: what they say about passwords is for the user to see. */
const CHAT_PATHS = /^\/v1\/chat\//

/** `text` is the body of a request or answer at this path, or its beginning. JSON stays valid JSON. */
export function withoutSecretFields(text: string, path: string): string {
  if (CHAT_PATHS.test(path) || !mayContainSecret.test(text)) return text
  const placeholderFor = isAuth(path.toLowerCase()) || path.includes(AUTH) ? authPlaceholders : otherPlaceholders
  const value = jsonOf(text)
  if (value !== undefined && !isTooDeep(value)) {
    const hidden = withHiddenFields(value, placeholderFor, DEEPEST_JSON)
    return hidden === value ? text : JSON.stringify(hidden)
  }
  // A form, a multipart body, JSON that is cut off, or JSON with single quotes or trailing commas.
  return withHiddenPairs(withHiddenForm(withHiddenParts(text, placeholderFor), placeholderFor), placeholderFor)
}

/** For JSON within JSON. Deeper levels are shown unchanged. */
const DEEPEST_JSON = 3

/** Returns the same value if it has no secret. */
function withHiddenFields(value: unknown, placeholderFor: PlaceholderFor, depth: number): unknown {
  if (typeof value === 'string') {
    const inner = depth > 0 && /^\s*[{[]/.test(value) ? jsonOf(value) : undefined
    const hidden = isTooDeep(inner) ? inner : withHiddenFields(inner, placeholderFor, depth - 1)
    return hidden === inner ? value : JSON.stringify(hidden)
  }
  if (typeof value !== 'object' || value === null) return value
  let isChanged = false
  const fields = Object.entries(value).map(([name, item]): [string, unknown] => {
    const isHideable = item !== null && typeof item !== 'boolean'
    const hidden =
      (isHideable && placeholderFor(name, typeof item === 'string' ? item : 'not a text')) ||
      withHiddenFields(item, placeholderFor, depth)
    isChanged ||= hidden !== item
    return [name, hidden]
  })
  if (!isChanged) return value
  return Array.isArray(value) ? fields.map(([, item]) => item) : Object.fromEntries(fields)
}

/** A part of a multipart form begins with a few header lines. */
const part = /(\bname="([^"\r\n]*)"[^\r\n]*\r?\n(?:[^\r\n]+\r?\n){0,8}\r?\n)([\s\S]+?)(?=\r?\n--|$)/g

const withHiddenParts = (text: string, placeholderFor: PlaceholderFor) =>
  text.replace(part, (all, head: string, name: string, value: string) => {
    const placeholder = placeholderFor(name, value)
    return placeholder ? head + placeholder : all
  })

/** The fields of a form, as far as the text is one. */
const withHiddenForm = (text: string, placeholderFor: PlaceholderFor) =>
  text.replace(/(^|&)([^=&\s]+)=([^&\s]+)/g, (all, before: string, field: string, value: string) => {
    const placeholder = placeholderFor(percentDecoded(field.replaceAll('+', ' ')), value)
    return placeholder ? `${before}${field}=${placeholder}` : all
  })

/** The value may be cut off. */
const field = /(["']?)([A-Za-z][\w-]{2,40})(\1\s*[:=]\s*)("(?:\\.|[^"\\\n]+)*"?|'[^'\n]*'?|[^\s"',;&}\]]+)/g

/** Names and values separated by a colon or equals sign. */
const withHiddenPairs = (text: string, placeholderFor: PlaceholderFor) =>
  text.replace(field, (all: string, quote: string, name: string, between: string, value: string) => {
    const placeholder = placeholderFor(name, value.replace(/^["']|["']$/g, ''))
    if (!placeholder || value.startsWith('[') || /^(?:null|true|false)$/.test(value)) return all
    return `${quote}${name}${between}${/^["']/.test(value) ? `"${placeholder}"` : placeholder}`
  })
