/** Keeps secrets out of what is stored or shown: each is replaced by a stable placeholder. */
import type { Exchange } from '../core/exchange.js'
import { memoized } from '../core/work.js'
import {
  createPlaceholderFor,
  type OnSecret,
  withHiddenFields,
  withHiddenForm,
  withHiddenParts,
  withHiddenTexts,
} from './fields.js'
import { createFormSearch, createSuspicion, redactedQuery } from './forms.js'
import {
  CREDENTIAL,
  createLiteralSearch,
  createPlaceholders,
  outsidePlaceholders,
  type Placeholder,
  placeholderOf,
  replacedIn,
  type Search,
} from './matches.js'
import {
  type CredentialFields,
  createSecretsIn,
  isPlaceholder,
  type RedactionRules,
  secretFields,
  secretHeaders,
  secretParametersWith,
} from './names.js'

export { withoutSecretFields } from './fields.js'
export { findSecrets, type NamedSecret, type SecretFinding } from './find.js'
export { anyPlaceholder } from './matches.js'
export type { RedactionRules } from './names.js'

/** Replaces the secrets of one exchange: the same secret by the same placeholder, numbered in the order in which they appear. */
export interface Redaction {
  text(text: string): string
  /** Consecutive texts: a secret that crosses a border is replaced in the text where it begins. Returns as many texts as it gets. */
  pieces(texts: readonly string[]): readonly string[]
  /**
   * The texts and field names of a JSON value that does not nest too deep, and the fields that are secret by their names in a
   * body at this path. Returns the same value if it has no secret.
   */
  value(value: unknown, path?: string): unknown
  /** A body that is not JSON. Secret fields are those of forms and multipart forms; of anything in a text that is only shown. */
  form(text: string, path: string, contentType?: string, isOnlyShown?: boolean): string
  /** Node's flat array of names and values. */
  headers(headers: readonly string[]): readonly string[]
  /** The text after the `?`, not decoded. */
  query(query: string): string
  /** False if a text, which may be JSON, certainly has no secret. Quick, and assigns no numbers. */
  suspects(text: string): boolean
  /** A redaction that also replaces the secrets in these fields, such as an answer's headers; the same one if there are none. */
  withSecretsOf(fields: CredentialFields): Redaction
}

/** Makes redactions. `credentials` are those of the one caller. */
export interface Redact {
  (credentials?: readonly string[]): Redaction
  /** The credentials under secret names, such as each of the cookies, without those that may be words. */
  secretsIn(fields: CredentialFields): readonly string[]
}

/** Headers with addresses: Location and Referer, and the lists and sentences of Link and Refresh. */
const queryOrFragment = /(?<=[?#])[^\s#<>"]+/g

/** Text next to a secret may have hidden it. */
const MOST_ROUNDS = 3

/** At most this many callers are remembered. */
const REMEMBERED = 64

/** What all redactions of one configuration share. */
function searchesOf(rules: RedactionRules, onSecret?: OnSecret) {
  const isSecretHeader = secretHeaders(rules.names)
  const isSecretParameter = secretParametersWith(rules.names)
  const isSecretField = secretFields(rules.names)
  // The same few callers send most requests.
  const literalsOf = memoized((credentials: string) => {
    const values = (JSON.parse(credentials) as string[]).map(value => ({ name: CREDENTIAL, value }))
    return outsidePlaceholders(createLiteralSearch([...values, ...rules.known]), rules)
  }, REMEMBERED)
  return {
    isSecretHeader,
    isSecretParameter,
    placeholdersAt: (path: string) => createPlaceholderFor(isSecretField, path, onSecret),
    onSecret,
    formSearch: outsidePlaceholders(createFormSearch(rules), rules),
    literalsOf: (credentials: readonly string[]) => literalsOf(JSON.stringify(credentials)),
    suspectsForm: createSuspicion(rules),
    secretsIn: createSecretsIn(isSecretHeader, isSecretParameter),
  }
}

type Searches = ReturnType<typeof searchesOf>

/** `onSecret` gets what is secret by its name alone. */
export function createRedact(rules: RedactionRules, onSecret?: OnSecret): Redact {
  const searches = searchesOf(rules, onSecret)
  const redact = (credentials: readonly string[] = []) => redactionWith(credentials, createPlaceholders(), searches)
  return Object.assign(redact, { secretsIn: searches.secretsIn })
}

function redactionWith(credentials: readonly string[], placeholder: Placeholder, searches: Searches): Redaction {
  const { isSecretHeader, isSecretParameter, placeholdersAt, secretsIn, onSecret } = searches
  const literals = searches.literalsOf(credentials)
  const pieces = (texts: readonly string[]) => replacedPieces(texts, literals, searches.formSearch, placeholder)
  const text = (text: string) => pieces([text])[0] ?? ''
  const query = (encoded: string) => redactedQuery(encoded, isSecretParameter, text, onSecret)

  function leaf(value: unknown): unknown {
    if (typeof value === 'string') return text(value)
    if (typeof value !== 'number' && typeof value !== 'bigint') return value
    const number = String(value)
    const redacted = text(number)
    return redacted === number ? value : redacted
  }

  function header(name: string, value: string): string {
    if (isSecretHeader(name)) {
      if (!isPlaceholder.test(value)) onSecret?.(name, value)
      return placeholderOf(name)
    }
    return text(value.replace(queryOrFragment, query))
  }

  const redaction: Redaction = {
    text,
    pieces,
    query,
    value: (value, path = '') => withHiddenFields(withLeaves(value, leaf), placeholdersAt(path), path),
    form(body, path, contentType = '', isOnlyShown = false) {
      const placeholderFor = placeholdersAt(path)
      if (isForm(contentType)) return text(query(withHiddenForm(body, placeholderFor)))
      if (isOnlyShown) return text(withHiddenTexts(body, placeholderFor, path))
      return text(/^multipart\//i.test(contentType) ? withHiddenParts(body, placeholderFor) : body)
    },
    headers: headers => headers.map((value, i) => (i % 2 === 0 ? value : header(headers[i - 1] ?? '', value))),
    // Escapes change what a secret looks like.
    suspects: text => searches.suspectsForm(text) || /\\[u/]/.test(text) || literals(text).length > 0,
    withSecretsOf(fields) {
      const further = secretsIn(fields)
      return further.length === 0 ? redaction : redactionWith([...credentials, ...further], placeholder, searches)
    },
  }
  return redaction
}

/** A form is redacted in the same way as a query. */
const isForm = (contentType: string) => /^application\/x-www-form-urlencoded\b/i.test(contentType)

function replacedPieces(texts: readonly string[], literals: Search, forms: Search, placeholder: Placeholder) {
  // Known values first, so that the matches by form do not depend on the form of the caller's credential.
  let redacted = replacedIn(texts, literals, placeholder)
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const next = replacedIn(redacted, forms, placeholder)
    if (next === redacted) break
    redacted = next
  }
  return redacted
}

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
