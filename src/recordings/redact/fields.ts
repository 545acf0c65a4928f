/** Hides values that are secret because of their field names: passwords, tokens and codes, in bodies of any format. */
import { isTooDeep, jsonOf } from '../../core/json.js'
import { AUTH, isAuth, percentDecoded } from '../../core/paths.js'

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
