/** Where a request differs from a recorded one, field by field. */
import { sideBySide } from '../core/side-by-side.js'
import type { RecordedRequest } from './recording.js'
import type { Difference } from './run.js'

/** How much of a field is shown. */
const SHOWN = 200
/** More fields than these nobody reads. */
const MOST = 50

/** The fields of both, in the order of the request that was asked. */
export function differences(asked: RecordedRequest, recorded: RecordedRequest): readonly Difference[] {
  const [mine, theirs] = [fieldsOf(asked), fieldsOf(recorded)]
  const names = new Set([...mine.keys(), ...theirs.keys()])
  return [...names]
    .filter(name => mine.get(name) !== theirs.get(name))
    .slice(0, MOST)
    .map(field => difference(field, theirs.get(field), mine.get(field)))
}

function difference(field: string, recorded: string | undefined, asked: string | undefined): Difference {
  const [there, here] = sideBySide(recorded ?? '', asked ?? '', SHOWN)
  return { field, recorded: recorded && there, asked: asked && here }
}

/** How far apart they are: every field that differs counts one, a text less the more it has in common with the other. */
export function distance(asked: RecordedRequest, recorded: RecordedRequest): number {
  const [mine, theirs] = [fieldsOf(asked), fieldsOf(recorded)]
  let sum = 0
  for (const name of new Set([...mine.keys(), ...theirs.keys()])) {
    const [one, other] = [mine.get(name), theirs.get(name)]
    if (one !== other) sum += one === undefined || other === undefined ? 1 : unlikeness(one, other)
  }
  return sum
}

/** From just above 0 for texts that are nearly the same to 1: what they do not have in common at both ends. */
function unlikeness(one: string, other: string): number {
  const shorter = Math.min(one.length, other.length)
  let front = 0
  while (front < shorter && one[front] === other[front]) front++
  let back = 0
  while (back < shorter - front && one.at(-1 - back) === other.at(-1 - back)) back++
  return 0.1 + 0.9 * (1 - (front + back) / Math.max(one.length, other.length))
}

/** Every leaf of a request by its path, as JSON. */
function fieldsOf({ method, path, query, body }: RecordedRequest): ReadonlyMap<string, string> {
  const fields = new Map<string, string>()
  fields.set('method', method)
  fields.set('path', path)
  for (const [name, value] of new URLSearchParams(query)) fields.set(`query.${name}`, JSON.stringify(value))
  switch (body.kind) {
    case 'none':
      break
    case 'json':
      leaves(body.value, fields)
      break
    case 'text':
      fields.set('body', JSON.stringify(body.text))
      break
    case 'bytes':
      fields.set('body', `${body.bytes.length} bytes: ${body.bytes.toString('base64')}`)
      break
  }
  return fields
}

/** Not by recursion: bodies come as deep as somebody likes. */
function leaves(value: unknown, fields: Map<string, string>): void {
  const open: { readonly name: string; readonly value: unknown }[] = [{ name: '', value }]
  for (let next = open.pop(); next; next = open.pop()) {
    const { name, value } = next
    const inside = typeof value === 'object' && value !== null ? Object.entries(value) : []
    if (inside.length === 0) fields.set(name === '' ? 'body' : name, JSON.stringify(value) ?? 'nothing')
    const isList = Array.isArray(value)
    for (const [key, inner] of inside.reverse()) open.push({ name: under(name, key, isList), value: inner })
  }
}

function under(name: string, key: string, isList: boolean): string {
  if (isList) return `${name}[${key}]`
  return name === '' ? key : `${name}.${key}`
}
