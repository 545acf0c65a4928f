/** What differs between two requests, field by field, and how much. */
import { commonEnds, type Difference } from '../check/finding.js'
import { isQueryForm } from './form-body.js'
import type { RecordedRequest } from './recording.js'

/** The leaves of a request by path, as JSON. */
type Leaves = ReadonlyMap<string, string>

/** The fields that differ, in the order of the incoming request. */
export function differing(requestFields: Leaves, recordedFields: Leaves): readonly Difference[] {
  const names = new Set([...requestFields.keys(), ...recordedFields.keys()])
  const all = [...names].map(field => ({ field, recorded: recordedFields.get(field), asked: requestFields.get(field) }))
  return all.filter(({ recorded, asked }) => recorded !== asked)
}

/** Each differing field counts at most 1, and less the more both values have in common. */
export const distance = (differences: readonly Difference[]): number =>
  differences
    .map(({ asked, recorded }) => (asked === undefined || recorded === undefined ? 1 : unlikeness(asked, recorded)))
    .reduce((sum, one) => sum + one, 0)

/** From just above 0 for nearly equal texts to 1. Only common beginnings and ends count. */
function unlikeness(one: string, other: string): number {
  const { front, back } = commonEnds(one, other)
  return 0.1 + 0.9 * (1 - (front + back) / Math.max(one.length, other.length))
}

/** All leaves of a request by path, as JSON. */
export function leavesOf({ method, path, query, body }: RecordedRequest): Leaves {
  const fields = new Map<string, string>()
  fields.set('method', method)
  fields.set('path', path)
  addParameters(query, fields, 'query.')
  if (body.kind === 'json') addLeaves(body.value, fields)
  if (body.kind === 'text' && isQueryForm(body.text)) addParameters(body.text, fields)
  else if (body.kind === 'text') fields.set('body', JSON.stringify(body.text))
  if (body.kind === 'bytes') fields.set('body', `${body.bytes.length} bytes: ${body.bytes.toString('base64')}`)
  return fields
}

function addParameters(query: string, fields: Map<string, string>, prefix = ''): void {
  const parameters = Map.groupBy(new URLSearchParams(query), ([name]) => name)
  for (const [name, all] of parameters) {
    const values = all.map(([, value]) => value)
    fields.set(prefix + name, JSON.stringify(values.length === 1 ? values[0] : values))
  }
}

export function addLeaves(value: unknown, fields: Map<string, string>, name = ''): void {
  const inside = typeof value === 'object' && value !== null ? Object.entries(value) : []
  if (inside.length === 0) fields.set(name === '' ? 'body' : name, JSON.stringify(value))
  for (const [key, inner] of inside) addLeaves(inner, fields, under(name, key, Array.isArray(value)))
}

function under(name: string, key: string, isList: boolean): string {
  if (isList) return `${name}[${key}]`
  return name === '' ? key : `${name}.${key}`
}
