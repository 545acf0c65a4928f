/** Serializes a value for a media type. A separate file, because it does not depend on documents. */
import { isObject, stringifyExact } from '../core/json.js'

/** Texts are sent unchanged unless the type is JSON. `name` is the root element of XML. */
export function serializeBody(contentType: string, value: unknown, name: string): string | Buffer {
  if (/[/+]json\b/i.test(contentType)) return stringifyExact(value ?? null)
  if (typeof value === 'string') return value
  if (/[/+]xml\b/i.test(contentType)) return `<?xml version="1.0" encoding="UTF-8"?>\n${element(name || 'root', value)}`
  if (/^application\/x-www-form-urlencoded\b/i.test(contentType) && isObject(value)) return urlEncoded(value)
  return stringifyExact(value ?? '')
}

const urlEncoded = (fields: Readonly<Record<string, unknown>>) =>
  new URLSearchParams(
    Object.entries(fields).flatMap(([name, value]) =>
      [value].flat().map((one): [string, string] => [name, textOf(one)]),
    ),
  ).toString()

const textOf = (value: unknown) => (typeof value === 'object' && value !== null ? stringifyExact(value) : String(value))

function element(name: string, value: unknown): string {
  const tag = /^[\p{L}_][\p{L}\d_.-]*$/u.test(name) ? name : 'item'
  if (Array.isArray(value)) return value.map(one => element(tag, one)).join('')
  if (!isObject(value)) return `<${tag}>${escapeXml(value === null ? '' : String(value))}</${tag}>`
  const inner = Object.entries(value).map(([key, field]) => element(key, field))
  return `<${tag}>${inner.join('')}</${tag}>`
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }
const escapeXml = (text: string) => text.replace(/[&<>]/g, letter => entities[letter] ?? letter)
