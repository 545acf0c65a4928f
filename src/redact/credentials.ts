/** The credentials in headers and a query: they are secret wherever they recur. */
import { unescape as decoded } from 'node:querystring'
import { looksRandom } from './keys.js'
import type { IsSecretName } from './names.js'

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
    return found.filter(isTelling)
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

/** `?key=default` must not replace words, nor a cookie that remembers a page replace paths. */
function isTelling(value: string): boolean {
  if (value.length < SHORTEST || isPlaceholder.test(value)) return false
  if (value.length < LONG) return /\d/.test(value) && /[A-Za-z]/.test(value) && looksRandom(value)
  return !isAddress.test(value) || looksRandom(value)
}

const isPlaceholder = /^\[[a-z][a-z\d-]*\]$/
const isAddress = /^(?:[a-z]+:\/)?\//
