/** Finds secrets by their form: tokens, keys, parameters of addresses, and what the configuration adds. */

import { unescape as decoded } from 'node:querystring'
import { type Match, merged, percentEncoded, placeholderName, placeholderOf, type Search } from './matches.js'
import { type IsSecretName, looksRandom, type RedactionRules, secretParametersWith } from './names.js'

/** Every address with a parameter has this, and hardly anything else. An escaped `&` comes from JSON in JSON. */
const traceOfParameter = /(?:[?#&;]|u0026)[\w.~%+-]{1,128}=/

/**
 * Everything found here contains one of these traces, except email addresses. Most texts contain none and need no
 * search.
 */
const traceOfToken =
  /sk-|[spr]k_|sb_|gh[pousr]_|github_pat_|A[KS]IA|AIza|xox[abeprs]-|hf_|glpat-|gsk_|eyJ|[Bb]earer|BEARER|-----BEGIN/
const traces = new RegExp(`${traceOfToken.source}|${traceOfParameter.source}`)
const tracesOrEmails = new RegExp(`${traces.source}|@|%40`)

/** Finds at least the traces of what the form search finds. */
export function createSuspicion({ patterns, emails }: Pick<RedactionRules, 'patterns' | 'emails'>) {
  const suspicious = emails ? tracesOrEmails : traces
  return (text: string): boolean => patterns.length > 0 || suspicious.test(text)
}

const noMatches: readonly Match[] = []

/** Of matches of the same length, configured patterns win over built-in ones, and special ones over general ones. */
export function createFormSearch(rules: Pick<RedactionRules, 'patterns' | 'emails' | 'names'>): Search {
  const suspects = createSuspicion(rules)
  const searches: readonly Search[] = [
    // First, because in the query of a request the name decides, whatever the value looks like.
    createAddressSearch(secretParametersWith(rules.names)),
    ...rules.patterns.map(({ name, pattern }) => createPatternSearch(name, pattern)),
    privateKeysIn,
    jwtsIn,
    keysIn,
    bearersIn,
    ...(rules.emails ? [emailsIn] : []),
  ]
  return text => (suspects(text) ? merged(searches.flatMap(search => search(text))) : noMatches)
}

function createPatternSearch(name: string, { source, flags }: RegExp): Search {
  const all = new RegExp(source, `${flags.replace(/[gy]/g, '')}g`)
  return text => {
    const found: Match[] = []
    for (const { 0: secret, index } of text.matchAll(all)) {
      if (secret !== '') found.push({ start: index, end: index + secret.length, name, isNumbered: true })
    }
    return found
  }
}

/** The longest part before the @ (RFC 5321, 4.5.3.1.1). */
const LONGEST_LOCAL_PART = 64

const nameBefore = /[\p{L}\p{N}._+'-]+$/u
const hostAfter = /(?:[\p{L}\p{N}-]{1,63}\.){1,8}[\p{L}][\p{L}\p{N}-]{0,62}[\p{L}\p{N}]/uy

/** Finds email addresses. */
function emailsIn(text: string): readonly Match[] {
  const found: Match[] = []
  for (const { 0: sign, index } of text.matchAll(/@|%40/g)) {
    const name = nameBefore.exec(text.slice(Math.max(0, index - LONGEST_LOCAL_PART - 1), index))?.[0] ?? ''
    const before = text[index - name.length - 1]
    // The letter of an escape, as in `\nada@example.com`, is not part of the name.
    const start = index - (before === '\\' && /^[bfnrt]./.test(name) ? name.length - 1 : name.length)
    hostAfter.lastIndex = index + sign.length
    if (start === index || !hostAfter.test(text)) continue
    found.push({ start, end: hostAfter.lastIndex, name: 'email', isNumbered: true })
  }
  return found
}

/** No spaces, and no punctuation that surrounds addresses in a text. */
const runs = /[^\s"'<>`{}|^]+/g

/** A full address, or a path on its own; slashes of JSON in JSON may be escaped. `and/or` is neither. */
const addressStart = /[A-Za-z\d]:(?:\\{0,8}\/){2}|(?:^|[^\w%/\\-])\\{0,8}\//

const parameters = new RegExp(traceOfParameter, 'g')

/** Up to the next parameter or the end of the address. */
const value = /(?:\[[a-z][a-z\d-]*\]|[^&#\\()[\]])+/y

export function createAddressSearch(isSecret: IsSecretName): Search {
  return text => {
    if (!traceOfParameter.test(text)) return []
    return [...text.matchAll(runs)].flatMap(({ 0: run, index }) => {
      const start = startOfQuery(run)
      return start < 0 ? [] : secretsIn(run, start).map(match => moved(match, index))
    })
  }

  function secretsIn(run: string, queryStart: number): readonly Match[] {
    const found: Match[] = []
    parameters.lastIndex = queryStart
    for (let hit = parameters.exec(run); hit; hit = parameters.exec(run)) {
      const start = parameters.lastIndex
      const encodedName = hit[0].replace(/^(?:u0026|.)|=$/g, '')
      const name = placeholderName(percentDecoded(encodedName))
      const end = start + lengthOfValue(run, start)
      if (end === start || !isSecret(percentDecoded(encodedName)) || run.slice(start, end) === `[${name}]`) continue
      found.push({ start, end, name, isNumbered: false })
      parameters.lastIndex = end
    }
    return found
  }
}

/** The index of the `?` or `#` of the first address, or -1. */
function startOfQuery(run: string): number {
  const address = addressStart.exec(run)
  if (!address) return -1
  const rest = run.slice(address.index).search(/[?#]/)
  return rest < 0 ? -1 : address.index + rest
}

/** Without the full stop of a sentence, and without the start of a placeholder. */
function lengthOfValue(run: string, start: number): number {
  value.lastIndex = start
  const text = value.exec(run)?.[0] ?? ''
  let { length } = text
  while (length > 0 && '.,;:!?*$…'.includes(text[length - 1] ?? '')) length--
  return length
}

const moved = (match: Match, offset: number): Match => ({
  ...match,
  start: match.start + offset,
  end: match.end + offset,
})

/** Decodes as forms do. Malformed input is decoded as far as possible. */
const percentDecoded = (text: string): string => decoded(text.replaceAll('+', ' '))

/** Parts without a secret stay byte for byte. */
export function redactedQuery(query: string, isSecret: IsSecretName, redact: (text: string) => string): string {
  const redactedPart = (part: string) => {
    const text = percentDecoded(part)
    const redacted = redact(text)
    return redacted === text ? part : encodedWithBrackets(redacted)
  }
  return query
    .split('&')
    .map(parameter => {
      const [encodedName = ''] = parameter.split('=', 1)
      if (encodedName === parameter) return redactedPart(parameter)
      const value = parameter.slice(encodedName.length + 1)
      const name = percentDecoded(encodedName)
      if (value !== '' && isSecret(name)) return `${encodedName}=${placeholderOf(name)}`
      return `${redactedPart(encodedName)}=${redactedPart(value)}`
    })
    .join('&')
}

/** Brackets of placeholders stay readable, as they do in browsers. */
const encodedWithBrackets = (text: string) => percentEncoded(text).replaceAll('%5B', '[').replaceAll('%5D', ']')

interface KeyForm {
  readonly prefix: RegExp
  /** What must follow the prefix. */
  readonly continuation: RegExp
  /** Whether the form alone is enough to tell. */
  readonly isCertain?: true
}

const letters = /[A-Za-z0-9]*/y
const withDashes = /[\w-]*/y

const keyForms: readonly KeyForm[] = [
  { prefix: /^(?:sk-|sb_|github_pat_|glpat-|xox)/, continuation: withDashes },
  { prefix: /^(?:[spr]k_|gh|hf_|gsk_)/, continuation: letters },
  { prefix: /^A[KS]IA/, continuation: /[A-Z0-9]{16}(?![A-Za-z0-9])/y, isCertain: true },
  { prefix: /^AIza/, continuation: /[\w-]{35}/y, isCertain: true },
]

const prefixes =
  /sk-|[spr]k_(?:live|test)_|rk_|sb_(?:secret|publishable)_|gh[pousr]_|github_pat_|A[KS]IA|AIza|xox[abeprs]-|hf_|glpat-|gsk_/g

const SHORTEST_KEY = 16

function keysIn(text: string): readonly Match[] {
  const found: Match[] = []
  prefixes.lastIndex = 0
  for (let hit = prefixes.exec(text); hit; hit = prefixes.exec(text)) {
    const start = hit.index
    const form = isAtWordStart(text, start) ? keyForms.find(({ prefix }) => prefix.test(hit?.[0] ?? '')) : undefined
    if (!form) continue
    const rest = readAt(form.continuation, text, prefixes.lastIndex)
    const end = prefixes.lastIndex + rest.length
    const isKey = form.isCertain ? rest !== '' : rest.length >= SHORTEST_KEY && (looksRandom(rest) || isLongRun(rest))
    if (isKey) found.push({ start, end, name: 'key', isNumbered: true })
    // If the whole run looks like prose, so do its parts, which need no check of their own.
    if (isKey || form.continuation === withDashes) prefixes.lastIndex = end
  }
  return found
}

const bearers = /[Bb](?:earer|EARER)(?:[ \t]{1,8}|%20|\+)/g

/** `Bearer` followed by something that is not a word. */
function bearersIn(text: string): readonly Match[] {
  const found: Match[] = []
  bearers.lastIndex = 0
  while (bearers.test(text)) {
    const start = bearers.lastIndex
    const tokenText = readAt(/[\w.~+/-]*={0,2}/y, text, start)
    const token = tokenText.replace(/\.{1,3}$/, '')
    if (token.length >= SHORTEST_KEY && looksRandom(token)) {
      found.push({ start, end: start + token.length, name: 'key', isNumbered: true })
    }
    bearers.lastIndex = start + tokenText.length
  }
  return found
}

function readAt(expression: RegExp, text: string, index: number): string {
  expression.lastIndex = index
  return expression.exec(text)?.[0] ?? ''
}

/** Not in the middle of a word, as in `task-`. The letters of an escape before it are not part of a word. */
function isAtWordStart(text: string, index: number): boolean {
  if (index === 0 || !/[A-Za-z0-9]/.test(text[index - 1] ?? '')) return true
  return /(?:\\[bfnrt]|\\u[\da-f]{4}|%[\da-f]{2})$/i.test(text.slice(Math.max(0, index - 6), index))
}

/** Longer than any word in the place of a key. */
const isLongRun = (text: string): boolean => /[A-Za-z0-9]{20}/.test(text)

/** `{"alg":` in base64url begins like this, as every JSON object does. */
const BEGIN_JSON = 'eyJ'
const SHORTEST_HEAD = 10

/** A token has three parts or, if it is encrypted, five. */
function jwtsIn(text: string): readonly Match[] {
  const found: Match[] = []
  for (let start = text.indexOf(BEGIN_JSON); start >= 0; ) {
    const headEnd = endOfRun(text, start)
    const isToken = headEnd - start >= SHORTEST_HEAD && text[headEnd] === '.'
    const bodyEnd = isToken ? endOfRun(text, headEnd + 1) : headEnd
    const end = isToken && bodyEnd > headEnd + 1 && text[bodyEnd] === '.' ? endOfRun(text, bodyEnd + 1) : 0
    if (end > bodyEnd + 1) {
      const tokenEnd = endOfEncrypted(text, end)
      found.push({ start, end: tokenEnd, name: 'jwt', isNumbered: true })
      start = text.indexOf(BEGIN_JSON, tokenEnd)
    } else {
      // No other match in this run is more likely.
      start = text.indexOf(BEGIN_JSON, headEnd)
    }
  }
  return found
}

const tokenRun = /[\w-]*/y

function endOfRun(text: string, start: number): number {
  tokenRun.lastIndex = start
  tokenRun.exec(text)
  return Math.max(start, tokenRun.lastIndex)
}

/** The fourth and the fifth part: both or neither. */
function endOfEncrypted(text: string, end: number): number {
  if (text[end] !== '.') return end
  const fourth = endOfRun(text, end + 1)
  if (fourth === end + 1 || text[fourth] !== '.') return end
  const fifth = endOfRun(text, fourth + 1)
  return fifth > fourth + 1 ? fifth : end
}

const pemBegin = /-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----/g
const pemEnd = /-----END (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----/y
/** Lines of base64 directly after the beginning, where the end is missing. Line breaks may be escaped. */
const pemLines = /(?:(?:\s|\\[nr])+[A-Za-z0-9+/=]{16,})+/y

function privateKeysIn(text: string): readonly Match[] {
  const found: Match[] = []
  for (const { 0: begin, index } of text.matchAll(pemBegin)) {
    const inside = index + begin.length
    const end = endOfPem(text, inside)
    if (end > inside) found.push({ start: index, end, name: 'private-key', isNumbered: true })
  }
  return found
}

function endOfPem(text: string, inside: number): number {
  // The next five dashes are its end, or the beginning of another key.
  const dashes = text.indexOf('-----', inside)
  pemEnd.lastIndex = dashes
  const hasEnd = dashes >= 0 && pemEnd.test(text)
  // An example with three dots is not a key.
  if (hasEnd && /[A-Za-z0-9+/=]{16}/.test(text.slice(inside, dashes))) return pemEnd.lastIndex
  pemLines.lastIndex = inside
  return pemLines.test(text) ? pemLines.lastIndex : inside
}
