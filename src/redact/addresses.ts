/** Secret parameters in the addresses that a text mentions, and in the query of a request. */
import { unescape as decoded } from 'node:querystring'
import type { Match, Search } from './match.js'
import type { IsSecretName } from './names.js'
import { placeholderName, placeholderOf } from './placeholders.js'

/** Every address with a parameter has this, and hardly anything else. An escaped `&` comes from JSON in JSON. */
export const traceOfParameter = /(?:[?#&;]|u0026)[\w.~%+-]{1,128}=/

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

/** Percent-encoding that never throws: unpaired surrogates, which UTF-8 cannot express, are replaced. */
export const percentEncoded = (text: string): string => encodeURIComponent(text.toWellFormed())

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
