/** Finds secrets by their form: tokens, keys, parameters of addresses, and what the configuration adds. */
import { unescape as decoded } from 'node:querystring'
import type { OnSecret } from './fields.js'
import { credentialsIn, jwtsIn, keysIn, privateKeysIn, traceOfToken } from './keys.js'
import { type Match, merged, percentEncoded, placeholderName, placeholderOf, type Search } from './matches.js'
import { type IsSecretName, isPlaceholder, type RedactionRules, secretParametersWith } from './names.js'

/** `postgres://app:password@`, with the slashes of JSON in JSON as well. The last @ before the path ends it. */
const passwordInAddress = /:(?:\\{0,8}\/){2}[^\s/?#@:"'<>\\]{0,128}:([^\s/?#"'<>\\]{1,256})@/

/** What documentation shows in place of a password, and what it is on each machine of a developer. */
const noPassword = /^(?:[$<*{[%].*|pass(?:word|wd)?|pwd?|secret|your.*|x+|\.+|…)$/i

function addressPasswordsIn(text: string): readonly Match[] {
  const found: Match[] = []
  for (const { 0: address, 1: password = '', index } of text.matchAll(new RegExp(passwordInAddress, 'g'))) {
    const end = index + address.length - 1
    const start = end - password.length
    const isUser = text.slice(index, start - 1).endsWith(`/${password}`)
    if (!isUser && !noPassword.test(password)) found.push({ start, end, name: 'password', isNumbered: false })
  }
  return found
}

/** What follows in the addresses of webhooks: whoever knows it can post. */
const webhook =
  /(?<=(?:hooks\.slack\.com|hooks\.slack-gov\.com|discord(?:app)?\.com\S{1,12}webhooks|webhook\.office(?:365)?\.com|outlook\.office(?:365)?\.com\S{1,8}webhook|hooks\.zapier\.com|hook\.[\w.]{0,12}make\.com|maker\.ifttt\.com|api\.telegram\.org|events\.pagerduty\.com\S{1,8}integration|open-apis\S{1,8}bot\S{1,8}hook|\/hooks?|\/webhook)\\{0,8}\/)(?:[\w.~%@:=-]|\\{0,8}\/){16,512}/

/** Every address with a parameter has this, and hardly anything else. An escaped `&` comes from JSON in JSON. */
const traceOfParameter = /(?:[?#&;]|u0026)[\w.~%+-]{1,128}=/

/**
 * Everything found here contains one of these traces, except email addresses. Most texts contain none and need no
 * search.
 */
const traces = new RegExp(
  [traceOfToken, traceOfParameter, passwordInAddress, webhook].map(({ source }) => source).join('|'),
)
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
    addressPasswordsIn,
    createPatternSearch('webhook', webhook),
    privateKeysIn,
    jwtsIn,
    keysIn,
    credentialsIn,
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

const nameBefore = /[\p{L}\p{N}._+'-]{1,65}$/u
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

function createAddressSearch(isSecret: IsSecretName): Search {
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
export function redactedQuery(
  query: string,
  isSecret: IsSecretName,
  redact: (text: string) => string,
  onSecret?: OnSecret,
): string {
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
      if (value !== '' && isSecret(name)) {
        if (!isPlaceholder.test(value)) onSecret?.(name, value)
        return `${encodedName}=${placeholderOf(name)}`
      }
      return `${redactedPart(encodedName)}=${redactedPart(value)}`
    })
    .join('&')
}

/** Brackets of placeholders stay readable, as they do in browsers. */
const encodedWithBrackets = (text: string) => percentEncoded(text).replaceAll('%5B', '[').replaceAll('%5D', ']')
