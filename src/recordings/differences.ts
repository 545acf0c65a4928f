/** What differs between two requests, field by field, and how much. Messages and tools are compared with those of the same role or name, wherever they are. */
import { isDeepStrictEqual } from 'node:util'
import { commonEnds, type Difference } from '../check/finding.js'
import { isObject, stringifyExact } from '../core/json.js'
import { isConversation } from './conversation.js'
import { isQueryForm } from './form-body.js'
import type { RecordedRequest } from './recording.js'

/** The leaves of a request by path, as JSON. */
type Leaves = Map<string, string>

interface Sides {
  readonly recorded: Leaves
  readonly asked: Leaves
}

/** The fields that differ between two requests in their compared form, in the order of the incoming one. */
export function differencesBetween(recorded: RecordedRequest, asked: RecordedRequest): readonly Difference[] {
  const sides = { recorded: lineOf(recorded), asked: lineOf(asked) }
  const [before, after] = [fieldsOf(recorded), fieldsOf(asked)]
  if (before && after) {
    for (const name of lists) for (const pair of alignedItems(before[name], after[name])) addPair(name, pair, sides)
    for (const side of ['recorded', 'asked'] as const)
      for (const [name, value] of Object.entries({ recorded: before, asked: after }[side]))
        if (!Array.isArray(value) || !lists.some(list => list === name)) addLeaves(value, sides[side], name)
  } else {
    addBody(recorded, sides.recorded)
    addBody(asked, sides.asked)
  }
  const differences = differing(sides)
  if (differences.length > 0 || !before || !after) return differences
  // Nothing differs one by one if instructions have only moved.
  const whole = { recorded: new Map<string, string>(), asked: new Map<string, string>() }
  addBody(recorded, whole.recorded)
  addBody(asked, whole.asked)
  return differing(whole)
}

function differing({ recorded, asked }: Sides): readonly Difference[] {
  const names = new Set([...asked.keys(), ...recorded.keys()])
  const all = [...names].map(field => ({ field, recorded: recorded.get(field), asked: asked.get(field) }))
  return all.filter(({ recorded, asked }) => recorded !== asked)
}

/** Each differing field counts at most 1, and less the more both values have in common. */
export const distance = (differences: readonly Difference[]): number =>
  differences
    .map(({ asked, recorded }) => (asked === undefined || recorded === undefined ? 1 : unlikeness(asked, recorded)))
    .reduce((sum, one) => sum + one, 0)

/** From just above 0 for nearly equal texts to 1. Only common beginnings and ends count. */
export function unlikeness(one: string, other: string): number {
  const { front, back } = commonEnds(one, other)
  return 0.1 + 0.9 * (1 - (front + back) / Math.max(one.length, other.length, 1))
}

/** Lists in which items are compared with those of the same role or name, wherever they are. */
const lists = ['messages', 'input', 'tools', 'functions'] as const

const fieldsOf = ({ body }: RecordedRequest) =>
  body.kind === 'json' && isObject(body.value) ? (body.value as Readonly<Record<string, unknown>>) : undefined

function lineOf({ method, path, query }: RecordedRequest): Leaves {
  const fields: Leaves = new Map([
    ['method', method],
    ['path', path],
  ])
  addParameters(query, fields, 'query.')
  return fields
}

function addBody({ body }: RecordedRequest, fields: Leaves): void {
  if (body.kind === 'json') addLeaves(body.value, fields)
  if (body.kind === 'text' && isQueryForm(body.text)) addParameters(body.text, fields)
  else if (body.kind === 'text') fields.set('body', JSON.stringify(body.text))
  if (body.kind === 'bytes') fields.set('body', `${body.bytes.length} bytes: ${body.bytes.toString('base64')}`)
}

function addParameters(query: string, fields: Leaves, prefix = ''): void {
  const parameters = Map.groupBy(new URLSearchParams(query), ([name]) => name)
  for (const [name, all] of parameters) {
    const values = all.map(([, value]) => value)
    fields.set(prefix + name, JSON.stringify(values.length === 1 ? values[0] : values))
  }
}

function addLeaves(value: unknown, fields: Leaves, name = ''): void {
  const inside = typeof value === 'object' && value !== null ? Object.entries(value) : []
  if (inside.length === 0) fields.set(name === '' ? 'body' : name, JSON.stringify(value))
  for (const [key, inner] of inside) addLeaves(inner, fields, under(name, key, Array.isArray(value)))
}

function under(name: string, key: string, isList: boolean): string {
  if (isList) return `${name}[${key}]`
  return name === '' ? key : `${name}.${key}`
}

interface Item {
  readonly index: number
  readonly value: unknown
}

/** What an item was, and what it became; one of them is missing if it was added or removed. */
interface ItemPair {
  readonly recorded?: Item | undefined
  readonly asked?: Item | undefined
}

const itemsIn = (list: unknown): readonly Item[] =>
  Array.isArray(list) ? list.map((value, index) => ({ index, value })) : []

/** The role of a message, or the name of a tool. */
export function labelOf(item: unknown): string {
  if (!isObject(item)) return ''
  const { name } = isObject(item.function) ? item.function : item
  return String(item.role ?? name ?? '')
}

/** Finds what became of each item: equal ones first, then those of the same role or name, then the rest in order. */
export function alignedItems(recorded: unknown, asked: unknown): readonly ItemPair[] {
  const left = new Set(itemsIn(recorded))
  const partners = new Map<Item, Item>()
  const tests: readonly ((one: unknown, other: unknown) => boolean)[] = [
    isDeepStrictEqual,
    (one, other) => labelOf(one) === labelOf(other),
    (one, other) => isConversation(one) === isConversation(other),
  ]
  const all = itemsIn(asked)
  for (const isPair of tests) {
    for (const item of all) {
      const partner = partners.has(item) ? undefined : [...left].find(({ value }) => isPair(value, item.value))
      if (!partner) continue
      partners.set(item, partner)
      left.delete(partner)
    }
  }
  return [...all.map(asked => ({ asked, recorded: partners.get(asked) })), ...[...left].map(recorded => ({ recorded }))]
}

/** Adds the leaves of both items under one name; of an item that only one side has, the whole. */
function addPair(list: string, { recorded, asked }: ItemPair, sides: Sides): void {
  const { index, value } = asked ?? recorded ?? { index: 0, value: null }
  const name = `${list}[${index}]`
  if (recorded && asked) {
    addLeaves(recorded.value, sides.recorded, name)
    addLeaves(asked.value, sides.asked, name)
    return
  }
  const content = isObject(value) && typeof value.content === 'string' ? value.content : value
  sides[asked ? 'asked' : 'recorded'].set(`${name} (${labelOf(value)})`, stringifyExact(content))
}
