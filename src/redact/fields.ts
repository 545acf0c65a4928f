/** Hides the fields of bodies that are secret by their names: in JSON at any depth, in forms and in multipart forms. */
import { exactJsonOf, isObject, isTooDeep, stringifyExact } from '../core/json.js'
import { AUTH, isAuth, percentDecoded } from '../core/paths.js'
import { placeholderOf } from './matches.js'
import { dashedName, type IsSecretName, isPlaceholder, looksRandom, secretFields } from './names.js'

/** On the auth backend, also the fields that sign a user in. */
const authField = /^(?:nonce|token|(?:email-)?otp|(?:auth-)?code|action-link)$/

/** The placeholder for a field with this name and value, if it is secret; without a value, if it may be. */
type PlaceholderFor = (name: string, value?: string) => string | undefined

/** Called for each value that is secret by its name. */
export type OnSecret = (name: string, value: string) => void

export function createPlaceholderFor(isSecret: IsSecretName, path: string, onSecret?: OnSecret): PlaceholderFor {
  const isAuthPath = isAuth(path.toLowerCase()) || path.includes(AUTH)
  return (name, value) => {
    const isAuthField = isAuthPath && authField.test(dashedName(name.slice(0, 20)))
    if (!isAuthField && !isSecret(name)) return undefined
    if (value !== undefined && (isPlaceholder.test(value) || !(isAuthField ? isSignIn : isSecretValue)(name, value)))
      return
    if (value !== undefined) onSecret?.(name, value)
    return placeholderOf(name)
  }
}

/** A code of digits is a sign-in code; the code of an error is not. */
const isSignIn = (name: string, value: string) =>
  value !== '' && (dashedName(name) !== 'code' || /^\d{4,}$/.test(value))

const passwordName = /pass-?(?:word|wd|phrase|code)|pwd/
/** Three words or more that begin or end like a sentence, as in an error message. A passphrase does neither. */
const sentence = /^(?:\p{Lu}\p{Ll}|[^.,!?:;()]+[.,!?:;()])/u
const scheme = /^(?:bearer|basic|token|digest) /i

function isSecretValue(name: string, value: string): boolean {
  const dashed = dashedName(name)
  if (value === '' || dashed.endsWith(dashedName(value.slice(0, 100)))) return false
  if (/^(?:token|credentials?)$/.test(dashed)) return value.length >= 16 && !value.includes(' ') && looksRandom(value)
  if (dashed.endsWith('cookie')) return value.includes('=')
  if (passwordName.test(dashed)) return value.split(' ', 3).length < 3 || !sentence.test(value)
  return !/\s/.test(value) || scheme.test(value) || looksRandom(value)
}

/** Chat texts are not changed: what they say about passwords is for the user to see. */
const CHAT_PATHS = /^\/v1\/chat\//

/** For JSON within JSON. Deeper levels are shown unchanged. */
const DEEPEST_JSON = 3

/** Returns the same value if it has no secret. */
export function withHiddenFields(value: unknown, placeholderFor: PlaceholderFor, path: string): unknown {
  const isChat = CHAT_PATHS.test(path)

  /** JSON in a text is read, such as the arguments of a tool. Prompts stay. */
  function inText(text: string, name: string, depth: number): string {
    if (depth === 0 || (isChat && name !== 'arguments') || !/^\s*[{[]/.test(text)) return text
    const value = exactJsonOf(text)
    if (typeof value !== 'object' || value === null || isTooDeep(value)) return text
    const hidden = inside(value, '', '', depth - 1)
    return hidden === value ? text : stringifyExact(hidden)
  }

  /** `secret` is the secret name that holds the value, if any. */
  function inside(value: unknown, name: string, secret: string, depth: number): unknown {
    if (typeof value === 'string') return (secret && placeholderFor(secret, value)) || inText(value, name, depth)
    if (typeof value === 'number' || typeof value === 'bigint')
      return (secret && String(value).length >= SHORTEST_NUMBER && placeholderFor(secret, String(value))) || value
    if (Array.isArray(value)) {
      // A text with spaces in a list is a message about the field.
      const items = value.map(item =>
        inside(item, name, typeof item === 'string' && item.includes(' ') ? '' : secret, depth),
      )
      return items.some((item, i) => item !== value[i]) ? items : value
    }
    if (!isObject(value)) return value
    // A schema describes a secret; everything else under its name is one.
    const held = 'type' in value || '$ref' in value || 'description' in value ? '' : secret
    let isChanged = false
    const fields = Object.entries(value).map(([field, item]): [string, unknown] => {
      const own = placeholderFor(field) === undefined ? held : field
      const hidden = inside(item, field, own, depth)
      isChanged ||= hidden !== item
      return [field, hidden]
    })
    return isChanged ? Object.fromEntries(fields) : value
  }

  return inside(value, '', '', DEEPEST_JSON)
}

const isUsualName = secretFields([])

/** A JSON value without its fields that are secret by their usual names: older recordings may have some. */
export const withoutSecretFields = (value: unknown, path: string): unknown =>
  withHiddenFields(value, createPlaceholderFor(isUsualName, path), path)

const SHORTEST_NUMBER = 4

/** The values of a multipart form, which follow a few header lines each. The lines may be cut off. */
export function withHiddenParts(text: string, placeholderFor: PlaceholderFor): string {
  if (!/\bname="/.test(text)) return text
  return text
    .split('\n--')
    .map(part => {
      const head = /\r?\n\r?\n/.exec(part.slice(0, LONGEST_HEAD))
      const start = head ? head.index + head[0].length : part.length
      const name = /\bname="([^"\r\n]{1,100})"/.exec(part.slice(0, head?.index ?? 0))?.[1]
      const value = part.slice(start)
      const line = value.endsWith('\r') ? '\r' : ''
      const placeholder = name && placeholderFor(name, value.slice(0, value.length - line.length))
      return placeholder ? part.slice(0, start) + placeholder + line : part
    })
    .join('\n--')
}

/** The lines above a value. */
const LONGEST_HEAD = 2000

/** The fields of a form, as far as the text is one. */
export const withHiddenForm = (text: string, placeholderFor: PlaceholderFor) =>
  text
    .split('&')
    .map(field => {
      const [, name = '', value = ''] = /^([^=\s]{1,100})=(\S+)$/.exec(field) ?? []
      const placeholder = placeholderFor(percentDecoded(name.replaceAll('+', ' ')), value)
      return placeholder ? `${name}=${placeholder}` : field
    })
    .join('&')

/** The value may be cut off. */
const field = /(["']?)\b([A-Za-z][\w-]{2,40})(\1\s{0,20}[:=]\s{0,20})("(?:\\.|[^"\\\n])*"?|'[^'\n]*'?|[^\s"',;&}\]]+)/g

/** Names and values separated by a colon or equals sign. */
const withHiddenPairs = (text: string, placeholderFor: PlaceholderFor) =>
  text.replace(field, (all: string, quote: string, name: string, between: string, value: string) => {
    const placeholder = placeholderFor(name, value.replace(/^["']|["']$/g, ''))
    if (!placeholder || value.startsWith('[') || /^(?:null|true|false)$/.test(value)) return all
    return `${quote}${name}${between}${/^["']/.test(value) ? `"${placeholder}"` : placeholder}`
  })

/** A text that is no JSON and is only shown: a form, JSON that is cut off, or JSON with single quotes or trailing commas. */
export function withHiddenTexts(text: string, placeholderFor: PlaceholderFor, path: string): string {
  if (CHAT_PATHS.test(path)) return text
  return withHiddenPairs(withHiddenForm(withHiddenParts(text, placeholderFor), placeholderFor), placeholderFor)
}
