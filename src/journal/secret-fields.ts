/** Hides values that are secret because of their field names: passwords, tokens and codes, in bodies of any format. */
import { closingQuote, isJson, jsonOf } from '../core/json.js'
import { AUTH, isAuth, percentDecoded } from '../core/paths.js'

const secretFields = [
  ...['password', 'current_password', 'new_password', 'password_hash', 'encrypted_password', 'client_secret'],
  ...['access_token', 'refresh_token', 'id_token', 'provider_token', 'provider_refresh_token'],
]
/** On the auth backend, also the fields that sign a user in. */
const authSecretFields = [
  ...secretFields,
  ...['nonce', 'token', 'token_hash', 'hashed_token', 'email_otp', 'code', 'auth_code', 'code_verifier', 'action_link'],
]

/** The placeholder for a field with this name, if it is secret. */
type PlaceholderOf = (name: string) => string | undefined

function placeholdersFor(names: readonly string[]): PlaceholderOf {
  const byName = new Map(names.map(name => [normalized(name), `[${name.replaceAll('_', '-')}]`]))
  return name => byName.get(normalized(name))
}

/** Clients write `refresh_token`, `refreshToken` and `REFRESH-TOKEN`. */
const normalized = (name: string) => name.toLowerCase().replace(/[_-]/g, '')

const authPlaceholders = placeholdersFor(authSecretFields)
const otherPlaceholders = placeholdersFor(secretFields)

/** Most bodies match nothing here. An escape may hide a name. */
const mayContainSecret = /pass|secret|token|nonce|code|otp|link|\\u|%[\da-f]/i

/** Chat texts are not changed: what they say about passwords is for the user to see. */
const CHAT = /^\/v1\/chat\//

/** `text` is the body of a request or answer at this path, or its beginning. JSON stays valid JSON. */
export function withoutSecretFields(text: string, path: string): string {
  if (CHAT.test(path) || !mayContainSecret.test(text)) return text
  const placeholderOf = isAuth(path.toLowerCase()) || path.includes(AUTH) ? authPlaceholders : otherPlaceholders
  const redacted = redactJson(text, placeholderOf, DEEPEST)
  if (isJson(redacted)) return redacted
  // A form, a multipart body, or malformed JSON.
  return redactPairs(redactForm(redactParts(redacted, placeholderOf), placeholderOf), placeholderOf)
}

/** For JSON within JSON. Deeper levels are shown unchanged. */
const DEEPEST = 3

/** Works on the text instead of parsed JSON: a long body is cut off, and if two fields have the same name, both must be hidden. */
function redactJson(text: string, placeholderOf: PlaceholderOf, depth: number): string {
  let redacted = ''
  let copiedTo = 0
  for (let quote = text.indexOf('"'); quote >= 0; ) {
    const end = closingQuote(text, quote + 1)
    const inside = text.slice(quote + 1, end)
    const value = afterColon(text, end + 1)
    const placeholder = value === undefined ? undefined : placeholderOf(decoded(inside))
    const valueEnd = placeholder && value !== undefined ? endOfSecret(text, value, placeholder) : undefined
    let next = end + 1
    if (valueEnd !== undefined) {
      redacted += `${text.slice(copiedTo, value)}"${placeholder}"`
      copiedTo = valueEnd
      next = valueEnd
    } else if (value === undefined && depth > 0 && inside.includes('\\')) {
      const nested = decoded(inside)
      const redactedNested = /^\s*[{[]/.test(nested) ? redactJson(nested, placeholderOf, depth - 1) : nested
      if (redactedNested !== nested) {
        redacted += text.slice(copiedTo, quote + 1) + JSON.stringify(redactedNested).slice(1, -1)
        copiedTo = end
      }
    }
    quote = text.indexOf('"', next)
  }
  return redacted + text.slice(copiedTo)
}

const colon = /\s*:\s*/y

function afterColon(text: string, start: number): number | undefined {
  colon.lastIndex = start
  return colon.test(text) ? colon.lastIndex : undefined
}

/** The value of a JSON string. A malformed one is returned as written. */
function decoded(inside: string): string {
  return inside.includes('\\') ? String(jsonOf(`"${inside}"`) ?? inside) : inside
}

const bareWord = /-?[\w.+]+/y
const brackets = /["{}[\]]/g

/**
 * Returns the end of a value that must be hidden; `undefined` if it need not be. A code of digits is a sign-in code;
 * the code of an error is not.
 */
function endOfSecret(text: string, start: number, placeholder: string): number | undefined {
  const first = text[start]
  if (first === '"') {
    const end = closingQuote(text, start + 1)
    const inside = text.slice(start + 1, end)
    if (inside === '' || (placeholder === '[code]' && !/^\d+$/.test(decoded(inside)))) return undefined
    return end + 1
  }
  if (placeholder === '[code]') return undefined
  if (first === '{' || first === '[') return endOfBrackets(text, start)
  bareWord.lastIndex = start
  const word = bareWord.exec(text)?.[0]
  return word === undefined || /^(null|true|false)$/.test(word) ? undefined : bareWord.lastIndex
}

function endOfBrackets(text: string, start: number): number {
  let depth = 0
  brackets.lastIndex = start
  for (let match = brackets.exec(text); match; match = brackets.exec(text)) {
    if (match[0] === '"') brackets.lastIndex = closingQuote(text, brackets.lastIndex) + 1
    else if (match[0] === '{' || match[0] === '[') depth++
    else if (--depth === 0) return brackets.lastIndex
  }
  return text.length
}

const part = /(\bname="([^"\r\n]*)"[^\r\n]*\r?\n(?:[^\r\n]+\r?\n)*\r?\n)([\s\S]+?)(?=\r?\n--|$)/g

/** The parts of a multipart form. */
const redactParts = (text: string, placeholderOf: PlaceholderOf) =>
  text.replace(part, (all, head: string, name: string) => {
    const placeholder = placeholderOf(name)
    return placeholder ? head + placeholder : all
  })

/** The fields of a form, as far as the text is one. */
const redactForm = (text: string, placeholderOf: PlaceholderOf) =>
  text.replace(/(^|&)([^=&\s]+)=([^&\s]+)/g, (all, before: string, field: string, value: string) => {
    const placeholder = placeholderOf(percentDecoded(field.replaceAll('+', ' ')))
    return placeholder && !isErrorCode(placeholder, value) ? `${before}${field}=${placeholder}` : all
  })

const field = /(["']?)([A-Za-z][\w-]{2,40})(\1\s*[:=]\s*)(?:"[^"\n]*"?|'[^'\n]*'?|[^\s"',;&}\]]+)/g

/** Names and values separated by a colon or equals sign: JSON with single quotes or trailing commas, YAML. */
const redactPairs = (text: string, placeholderOf: PlaceholderOf) =>
  text.replace(field, (all: string, quote: string, name: string, between: string) => {
    const placeholder = placeholderOf(name)
    const value = all.slice(quote.length + name.length + between.length)
    if (!placeholder || isErrorCode(placeholder, value.replace(/^["']|["']$/g, ''))) return all
    return `${quote}${name}${between}${/^["']/.test(value) ? `"${placeholder}"` : placeholder}`
  })

const isErrorCode = (placeholder: string, value: string) => placeholder === '[code]' && !/^\d{4,}$/.test(value)
