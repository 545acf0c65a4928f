/** Finds secrets in the text of a file, and says where they are without showing them. */
import { isUtf8 } from 'node:buffer'
import { createPlaceholderFor } from './fields.js'
import { createFormSearch } from './forms.js'
import {
  createLiteralSearch,
  type Match,
  merged,
  outsidePlaceholders,
  placeholderName,
  type Search,
} from './matches.js'
import { type RedactionRules, secretFields, secretHeaders } from './names.js'

/** Line and column count from 1. */
export interface SecretFinding {
  /** Its name: `jwt`, `key`, or the name of a header, a pattern or a known value. */
  readonly kind: string
  readonly line: number
  readonly column: number
}

/**
 * Everything that redacting would replace, headers in full, and secrets inside base64, in order. `named` are values that are
 * secret by their names in a text whose fields are known; in other texts they are looked for.
 */
export function findSecrets(
  text: string,
  rules: RedactionRules,
  named?: readonly NamedSecret[],
): readonly SecretFinding[] {
  const literals = createLiteralSearch(rules.known)
  const forms = createFormSearch(rules)
  const fields = named ? () => placesOf(named, text) : createFieldSearch(rules)
  const known = outsidePlaceholders(text => [...literals(text), ...forms(text)], rules)
  const search: Search = text => merged(known(text))
  const inText = merged([...search(text), ...fields(text)])
  return placed(
    text,
    [...inText, ...insideBase64(text, search)].sort((a, b) => a.start - b.start),
  )
}

/** A value that is secret by its name. */
export interface NamedSecret {
  readonly name: string
  readonly value: string
}

/** The first place of each value, or the beginning of the text if it is written in another way. */
const placesOf = (named: readonly NamedSecret[], text: string): readonly Match[] =>
  named.map(({ name, value }) => {
    const start = Math.max(0, text.indexOf(value), text.indexOf(JSON.stringify(value).slice(1, -1)))
    return { start, end: start + value.length, name: placeholderName(name), isNumbered: false }
  })

/** Binary data as recordings keep it; a long payload begins on the next line. */
const payload = /\bbase64["']?:[ \t]*(?:\|[-+]?\n[ \t]*)?["']?([A-Za-z0-9+/_-]{8,})/g

/** Each kind once for each payload, since a position inside base64 would not help a reader. */
function insideBase64(text: string, search: Search): readonly Match[] {
  return [...text.matchAll(payload)].flatMap(({ 0: all, 1: base64 = '', index }) => {
    const bytes = Buffer.from(base64, 'base64')
    const start = index + all.length - base64.length
    const names = new Set(search(bytes.toString(isUtf8(bytes) ? 'utf8' : 'latin1')).map(({ name }) => name))
    return [...names].map(name => ({ start, end: index + all.length, name, isNumbered: true }))
  })
}

function placed(text: string, matches: readonly Match[]): readonly SecretFinding[] {
  let line = 1
  let lineStart = 0
  return matches.map(({ start, name }) => {
    for (let end = text.indexOf('\n', lineStart); end >= 0 && end < start; end = text.indexOf('\n', lineStart)) {
      line++
      lineStart = end + 1
    }
    return { kind: name, line, column: start - lineStart + 1 }
  })
}

/** `name: value` at the beginning of a line or in braces, `"name": "value"` too, escaped quotes as well, or `[name, value]`. */
const field =
  /(?:^[ \t]*(?:- )*|[{,][ \t]*)(\\*["']?)([A-Za-z][\w-]{2,63})\1[ \t]*:[ \t]*|\[[ \t]*(\\*["']?)([A-Za-z][\w-]{2,63})\3[ \t]*,[ \t]*/gm

const valueAfter = /(?:\\*["'])?([^\n"'{}\\]*)/y

/** What documentation shows in place of a secret. */
const examples = /^[$<*%]|your|example|redacted|placeholder|xxx|\.\.\.|…/i
const placeholderWords = /^(?:null|true|false|~|string|number|object|required|optional)$/i

/** Finds headers with secret values in a text: as YAML, as JSON, or as sent over the wire. */
function createFieldSearch({ names }: RedactionRules): Search {
  const isHeader = secretHeaders(names)
  const placeholderFor = createPlaceholderFor(secretFields(names), '')
  return text => {
    const found: Match[] = []
    for (const { 0: before, 2: inBlock, 4: inList, index } of text.matchAll(field)) {
      const name = inBlock ?? inList ?? ''
      valueAfter.lastIndex = index + before.length
      const value = (valueAfter.exec(text)?.[1] ?? '').trimEnd()
      if (!isCredential(value) || !(isHeader(name) || placeholderFor(name, value))) continue
      const start = text.indexOf(value, index + before.length)
      found.push({ start, end: start + value.length, name: name.toLowerCase(), isNumbered: false })
    }
    return found
  }
}

function isCredential(value: string): boolean {
  const credential = value.replace(/^`?(?:Bearer|Basic|Token)(?: +|$)/i, '')
  const rest = credential.replace(/\[[\w-]+\]/g, '')
  if (
    !/[A-Za-z0-9]/.test(rest) ||
    examples.test(credential) ||
    placeholderWords.test(rest.replace(/(?<![\],])[\],]+$/, ''))
  )
    return false
  // A sentence. Cookies have spaces as well, but each part has an equals sign.
  return rest.includes('=') || rest.split(/ +/).length < 4
}
