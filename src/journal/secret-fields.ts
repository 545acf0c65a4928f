/** Hides values that only their field names show to be secret: passwords, tokens and codes, in bodies of any format. */
import { closingQuote, isJson, jsonOf } from '../core/json.js'
import { AUTH, isAuth, percentDecoded } from '../core/paths.js'

const always = [
  ...['password', 'current_password', 'new_password', 'client_secret'],
  ...['access_token', 'refresh_token', 'id_token', 'provider_token', 'provider_refresh_token'],
]
/** Fields of the auth backend that sign someone in. */
const ofAuth = [
  ...always,
  ...['nonce', 'token', 'token_hash', 'hashed_token', 'email_otp', 'code', 'auth_code', 'code_verifier', 'action_link'],
]

/** The placeholder for a field with this name, if it is secret. */
type PlaceholderOf = (name: string) => string | undefined

function placeholdersFor(names: readonly string[]): PlaceholderOf {
  const byName = new Map(names.map(name => [plain(name), `[${name.replaceAll('_', '-')}]`]))
  return name => byName.get(plain(name))
}

/** Clients write `refresh_token`, `refreshToken` and `REFRESH-TOKEN`. */
const plain = (name: string) => name.toLowerCase().replace(/[_-]/g, '')

const authFields = placeholdersFor(ofAuth)
const otherFields = placeholdersFor(always)

/** Most bodies contain none of these. An escape may hide a name. */
const traces = /pass|secret|token|nonce|code|otp|link|\\u|%[\da-f]/i

/** Paths of chat texts. What they say about passwords is for the user to see. */
const CHAT = /^\/v1\/chat\//

/** `text` is the body of a request or answer at this path, or its beginning. JSON stays valid JSON. */
export function withoutSecretFields(text: string, path: string): string {
  if (CHAT.test(path) || !traces.test(text)) return text
  const placeholderOf = isAuth(path.toLowerCase()) || path.includes(AUTH) ? authFields : otherFields
  const open = inJson(text, placeholderOf, DEEPEST)
  if (isJson(open)) return open
  // A form, a multipart body, or malformed JSON.
  return inWords(inForm(inParts(open, placeholderOf), placeholderOf), placeholderOf)
}

/** For JSON within JSON. Deeper levels are shown unchanged. */
const DEEPEST = 3

/** Works on the text: a long body is cut in the middle, and if two fields have the same name, both must be hidden. */
function inJson(text: string, placeholderOf: PlaceholderOf, depth: number): string {
  let open = ''
  let at = 0
  for (let quote = text.indexOf('"'); quote >= 0; ) {
    const end = closingQuote(text, quote + 1)
    const inside = text.slice(quote + 1, end)
    const value = behindColon(text, end + 1)
    const placeholder = value === undefined ? undefined : placeholderOf(decoded(inside))
    const valueEnd = placeholder && value !== undefined ? endOfSecret(text, value, placeholder) : undefined
    let next = end + 1
    if (valueEnd !== undefined) {
      open += `${text.slice(at, value)}"${placeholder}"`
      at = valueEnd
      next = valueEnd
    } else if (value === undefined && depth > 0 && inside.includes('\\')) {
      const said = decoded(inside)
      const hidden = /^\s*[{[]/.test(said) ? inJson(said, placeholderOf, depth - 1) : said
      if (hidden !== said) {
        open += text.slice(at, quote + 1) + JSON.stringify(hidden).slice(1, -1)
        at = end
      }
    }
    quote = text.indexOf('"', next)
  }
  return open + text.slice(at)
}

const colon = /\s*:\s*/y

function behindColon(text: string, start: number): number | undefined {
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
  for (let sign = brackets.exec(text); sign; sign = brackets.exec(text)) {
    if (sign[0] === '"') brackets.lastIndex = closingQuote(text, brackets.lastIndex) + 1
    else if (sign[0] === '{' || sign[0] === '[') depth++
    else if (--depth === 0) return brackets.lastIndex
  }
  return text.length
}

const part = /(\bname="([^"\r\n]*)"[^\r\n]*\r?\n(?:[^\r\n]+\r?\n)*\r?\n)([\s\S]+?)(?=\r?\n--|$)/g

/** The parts of a multipart form. */
const inParts = (text: string, placeholderOf: PlaceholderOf) =>
  text.replace(part, (all, head: string, name: string) => {
    const placeholder = placeholderOf(name)
    return placeholder ? head + placeholder : all
  })

/** The fields of a form, as far as the text is one. */
const inForm = (text: string, placeholderOf: PlaceholderOf) =>
  text.replace(/(^|&)([^=&\s]+)=([^&\s]+)/g, (all, before: string, written: string, value: string) => {
    const placeholder = placeholderOf(percentDecoded(written.replaceAll('+', ' ')))
    return placeholder && !isErrorCode(placeholder, value) ? `${before}${written}=${placeholder}` : all
  })

const field = /(["']?)([A-Za-z][\w-]{2,40})(\1\s*[:=]\s*)(?:"[^"\n]*"?|'[^'\n]*'?|[^\s"',;&}\]]+)/g

/** Names and values separated by a colon or equals sign: JSON with single quotes or trailing commas, YAML. */
const inWords = (text: string, placeholderOf: PlaceholderOf) =>
  text.replace(field, (all: string, quote: string, name: string, between: string) => {
    const placeholder = placeholderOf(name)
    const value = all.slice(quote.length + name.length + between.length)
    if (!placeholder || isErrorCode(placeholder, value.replace(/^["']|["']$/g, ''))) return all
    return `${quote}${name}${between}${/^["']/.test(value) ? `"${placeholder}"` : placeholder}`
  })

const isErrorCode = (placeholder: string, value: string) => placeholder === '[code]' && !/^\d{4,}$/.test(value)
