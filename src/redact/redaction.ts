/** Replaces the secrets in all parts of an exchange: the same secret by the same placeholder. */
import { isUtf8 } from 'node:buffer'
import { exactJsonOf, jsonOf, stringifyExact } from '../core/json.js'
import { memoized } from '../core/work.js'
import { createAssignmentSearch } from './assignments.js'
import { formPassages, jsonPassages, type Passages, passagesIn, textPassages } from './body.js'
import { byteEdits, type Edit, editedChunks, editedText } from './edits.js'
import { createFormSearch } from './forms.js'
import { createKnownSearch, type KnownSecret } from './known.js'
import {
  CREDENTIAL,
  createPlaceholders,
  outsidePlaceholders,
  type Placeholder,
  placeholderName,
  type Search,
} from './matches.js'
import {
  type CredentialFields,
  createSecretsIn,
  fieldsAt,
  isDistinctive,
  type RedactionRules,
  type SecretFields,
  secretFields,
  secretHeaders,
  secretParametersWith,
} from './names.js'
import { readingsOf } from './readings.js'
import { editsOf, matchesIn } from './search.js'
import { isPlaceholder } from './values.js'

/**
 * The redaction of one exchange. Placeholders are numbered in the order in which their secrets appear. What was found by
 * its name is hidden in all that follows.
 */
export interface Redaction {
  text(text: string): string
  /** Texts, numbers and field names of a JSON value that does not nest too deep. Returns the same value if it has no secret. */
  value(value: unknown, path?: string): unknown
  /** A body at this path. */
  body(text: string, path: string, contentType?: string): string
  /** The same in chunks. What is not secret stays in its chunk, byte for byte. */
  chunks<C extends { readonly bytes: Buffer }>(chunks: readonly C[], path: string, contentType?: string): readonly C[]
  /** Node's flat array of names and values. */
  headers(headers: readonly string[]): readonly string[]
  /** The text after the `?`, not decoded. */
  query(query: string): string
  /** Looks for secrets by their names in a body, which is not changed later. */
  learn(body: Buffer, path: string, contentType?: string): void
  /** A redaction that also replaces the secrets in these fields, such as an answer's headers; the same one if there are none. */
  withSecretsOf(fields: CredentialFields): Redaction
}

export interface Redact {
  (credentials?: readonly string[]): Redaction
  /** The credentials under secret names, such as each of the cookies, without those that may be words. */
  secretsIn(fields: CredentialFields): readonly string[]
}

/** Headers with addresses: Location and Referer, and the lists and sentences of Link and Refresh. */
const queryOrFragment = /(?<=[?#])[^\s#<>"]+/g

/** Text next to a secret may have hidden it, and what was found by its name may be elsewhere. */
const MOST_ROUNDS = 4

const REMEMBERED = 32

const nothing: Search = () => []
const isNoPlaceholder = (_name: string, value: string) => !isPlaceholder.test(value)

/** What all redactions of one configuration share. */
function searchesOf(rules: RedactionRules) {
  const isSecretHeader = secretHeaders(rules.names)
  const isSecretParameter = secretParametersWith(rules.names)
  const isSecretField = secretFields(rules.names)
  const inQuery: SecretFields = { isSecret: isSecretParameter, isSecretValue: isNoPlaceholder }
  const outside = (search: Search) => outsidePlaceholders(search, rules)
  const searchFor = (secrets: readonly KnownSecret[]) => outside(createKnownSearch(secrets))
  const known = searchFor(rules.known)
  // The same few callers send most requests.
  const searchOf = (credentials: string) =>
    searchFor(JSON.parse(credentials).map((value: string) => ({ name: CREDENTIAL, value })))
  const callers = memoized(searchOf, REMEMBERED)
  const named = createAssignmentSearch(rules.names)
  const fields = (path: string, contentType?: string) =>
    isForm(contentType) ? eitherOf(inQuery, fieldsAt(path, isSecretField)) : fieldsAt(path, isSecretField)
  const remembered = new WeakMap<Buffer, readonly KnownSecret[]>()
  return {
    isSecretHeader,
    inQuery,
    fieldsAt: fields,
    searchFor,
    named,
    forms: outside(createFormSearch(rules)),
    knownWith(credentials: readonly string[]): Search {
      const ofCaller = credentials.length === 0 ? nothing : callers(JSON.stringify(credentials))
      return text => [...ofCaller(text), ...known(text)]
    },
    secretsIn: createSecretsIn(isSecretHeader, isSecretParameter),
    /** What a body names. The journal is read again and again. */
    namedIn(body: Buffer, path: string, contentType: string | undefined): readonly KnownSecret[] {
      const earlier = remembered.get(body)
      if (earlier) return earlier
      const found: KnownSecret[] = []
      const passages = passagesIn(textOf([{ bytes: body }]).text, contentType, fields(path, contentType))
      editsOf(passages, { named, known: nothing, forms: nothing, onNamed: secret => found.push(secret) }, String)
      remembered.set(body, found)
      return found
    },
  }
}

/** The fields of forms are parameters as well. */
const eitherOf = (one: SecretFields, other: SecretFields): SecretFields => ({
  isSecret: name => one.isSecret(name) || other.isSecret(name),
  isSecretValue: (name, value) => (one.isSecret(name) ? one : other).isSecretValue(name, value),
})

const isForm = (contentType = '') => /^application\/x-www-form-urlencoded\b/i.test(contentType)

type Searches = ReturnType<typeof searchesOf>

/** `onSecret` gets each secret that is replaced. */
export function createRedact(rules: RedactionRules, onSecret?: (secret: KnownSecret) => void): Redact {
  const searches = searchesOf(rules)
  const redact = (credentials: readonly string[] = []) => {
    const numbered = createPlaceholders()
    const placeholder: Placeholder = (match, value) => {
      onSecret?.({ name: match.name, value })
      return numbered(match, value)
    }
    return redactionWith(credentials, { searches, placeholder, learnt: createLearnt(searches) })
  }
  return Object.assign(redact, { secretsIn: searches.secretsIn })
}

/** What was found by its name in one exchange. */
function createLearnt({ searchFor }: Searches) {
  const secrets = new Map<string, KnownSecret>()
  let search: Search | undefined
  return {
    add(secret: KnownSecret): void {
      if (!isDistinctive(secret.value) || secrets.has(secret.value)) return
      secrets.set(secret.value, secret)
      search = undefined
    },
    search(text: string) {
      if (secrets.size === 0) return []
      search ??= searchFor([...secrets.values()])
      return search(text)
    },
  }
}

interface Parts {
  readonly searches: Searches
  readonly placeholder: Placeholder
  readonly learnt: ReturnType<typeof createLearnt>
}

function redactionWith(credentials: readonly string[], parts: Parts): Redaction {
  const { searches, placeholder, learnt } = parts
  const { isSecretHeader, named, forms } = searches
  const knownToAll = searches.knownWith(credentials)
  const known: Search = text => [...knownToAll(text), ...learnt.search(text)]
  const edits = (passages: Passages) => editsOf(passages, { named, known, forms, onNamed: learnt.add }, placeholder)

  const text = (text: string) => rounds(text, text => edits(textPassages(text)))
  const query = (query: string) => rounds(query, query => edits(formPassages(query, searches.inQuery)))

  function header(name: string, value: string): string {
    if (!isSecretHeader(name)) return text(value.replace(queryOrFragment, query))
    return isPlaceholder.test(value) ? value : placeholder({ name: placeholderName(name), isNumbered: false }, value)
  }

  const redaction: Redaction = {
    text,
    query,
    value: (value, path = '') =>
      mapJson(value, json => rounds(json, json => edits(jsonPassages(json, searches.fieldsAt(path))))),
    body: (body, path, contentType) =>
      rounds(body, body => edits(passagesIn(body, contentType, searches.fieldsAt(path, contentType)))),
    chunks(chunks, path, contentType) {
      const secrets = searches.fieldsAt(path, contentType)
      let redacted = chunks
      for (let round = 0; round < MOST_ROUNDS; round++) {
        const { text, encoding } = textOf(redacted)
        const found = edits(passagesIn(text, contentType, secrets))
        if (found.length === 0) break
        redacted = editedChunks(redacted, byteEdits(text, found, encoding))
      }
      return redacted
    },
    headers: headers => headers.map((value, i) => (i % 2 === 0 ? value : header(headers[i - 1] ?? '', value))),
    learn(body, path, contentType) {
      for (const secret of searches.namedIn(body, path, contentType)) learnt.add(secret)
    },
    withSecretsOf(fields) {
      const further = searches.secretsIn(fields)
      return further.length === 0 ? redaction : redactionWith([...credentials, ...further], parts)
    },
  }
  return redaction
}

function rounds(text: string, editsIn: (text: string) => readonly Edit<string>[]): string {
  let redacted = text
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const edits = editsIn(redacted)
    if (edits.length === 0) break
    redacted = editedText(redacted, edits)
  }
  return redacted
}

/** Changes a value as JSON. Returns the same value if nothing changes. */
function mapJson(value: unknown, change: (json: string) => string): unknown {
  if (value === undefined) return value
  const { json, read } = writtenJson(value)
  const changed = change(json)
  return changed === json ? value : read(changed)
}

/** Only a value with BigInts is read with BigInts. */
function writtenJson(value: unknown) {
  try {
    return { json: JSON.stringify(value), read: jsonOf }
  } catch {
    return { json: stringifyExact(value), read: exactJsonOf }
  }
}

/** With Latin-1 every byte is a character, so that a secret is found inside binary data as well. */
function textOf(chunks: readonly { readonly bytes: Buffer }[]) {
  const [only] = chunks
  const bytes = only && chunks.length === 1 ? only.bytes : Buffer.concat(chunks.map(({ bytes }) => bytes))
  const encoding = isUtf8(bytes) ? 'utf8' : 'latin1'
  return { text: bytes.toString(encoding), encoding } as const
}

/** Finds everything in a text that a redaction would replace. */
export function createSecretSearch(rules: RedactionRules): Search {
  const { named, knownWith, forms } = searchesOf(rules)
  const known = knownWith([])
  return text => {
    const readings = readingsOf(text)
    const certain = matchesIn(readings, text => [...named(text), ...known(text)])
    const others = matchesIn(readings, forms)
    return [...certain, ...others.filter(one => !certain.some(({ start, end }) => one.start < end && start < one.end))]
  }
}

const usualFields = secretFields([])
const usualNames = createAssignmentSearch([], true)

/**
 * A redacted JSON value as it is compared: recordings of earlier releases have some secrets under usual names, or
 * placeholders that say less, and count the others.
 */
export function comparable(value: unknown, path: string): unknown {
  const { isSecret, isSecretValue } = fieldsAt(path, usualFields)
  const secrets: SecretFields = {
    isSecret,
    isSecretValue: (name, value) => isPlaceholder.test(value) || isSecretValue(name, value),
  }
  const searches = { named: usualNames, known: numberedPlaceholders, forms: nothing }
  return mapJson(value, json => editedText(json, editsOf(jsonPassages(json, secrets), searches, createPlaceholders())))
}

const numberedPlaceholders: Search = text =>
  Array.from(text.matchAll(/\[(jwt|key|private-key|webhook|email)-\d+\]/g), ({ 0: all, 1: name = '', index }) => ({
    ...{ start: index, end: index + all.length, name, isNumbered: true },
  }))
