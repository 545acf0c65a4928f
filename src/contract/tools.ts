/** Compares two tool lists of a server: inputs, outputs, and the descriptions by which models choose. */
import { isDeepStrictEqual } from 'node:util'
import type { Finding, Severity } from '../check/finding.js'
import { dataIn } from '../completions/events.js'
import { isObject, jsonOf } from '../core/json.js'

type JsonObject = Readonly<Record<string, unknown>>

/** Returns `undefined` unless both bodies are answers to `tools/list`, as JSON or as events. */
export function compareTools(recorded: Buffer, live: Buffer): readonly Finding[] | undefined {
  const [before, now] = [toolsIn(recorded), toolsIn(live)]
  if (!before || !now) return undefined
  const removed = [...before.keys()].filter(name => !now.has(name)).map(name => finding('critical', name, 'is gone'))
  const rest = [...now].flatMap(([name, tool]) => {
    const known = before.get(name)
    return known ? compareTool(known, tool, name) : [finding('warning', name, 'is new')]
  })
  return [...removed, ...rest]
}

function toolsIn(body: Buffer): ReadonlyMap<string, JsonObject> | undefined {
  const whole = jsonOf(body)
  const messages = (whole === undefined ? dataIn(body).map(jsonOf) : [whole]).flat()
  const lists = messages.map(message => fieldIn(fieldIn(message, 'result'), 'tools'))
  const tools = lists.find(list => Array.isArray(list)) as readonly unknown[] | undefined
  return tools && new Map(tools.filter(isObject).map(tool => [String(tool.name), tool]))
}

const fieldIn = (value: unknown, name: string) =>
  isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined

const finding = (severity: Severity, path: string, sentence: string): Finding => ({
  ...{ severity, source: 'recording', path, sentence },
})

function compareTool(before: JsonObject, now: JsonObject, path: string): readonly Finding[] {
  return [
    ...compareWords(before, now, path),
    ...compareSchemas(before.inputSchema, now.inputSchema, { path: `${path}.inputSchema`, isInput: true }),
    ...compareSchemas(before.outputSchema, now.outputSchema, { path: `${path}.outputSchema`, isInput: false }),
    ...changedField(before, now, 'annotations', path),
  ]
}

/**
 * A changed description is critical. Models follow it, so changing it after review is how an accepted tool is turned
 * against its users.
 */
function compareWords(before: JsonObject, now: JsonObject, path: string): readonly Finding[] {
  const title = changedField(before, now, 'title', path)
  if (before.description === now.description) return title
  const sentence = 'has changed; models follow it, so read it before you accept it'
  return [finding('critical', `${path}.description`, sentence), ...title]
}

const changedField = (before: JsonObject, now: JsonObject, name: string, path: string): readonly Finding[] =>
  isDeepStrictEqual(before[name], now[name]) ? [] : [finding('warning', `${path}.${name}`, 'has changed')]

interface Place {
  readonly path: string
  /** Whether the schema is for input, which clients must satisfy, or for output, which they rely on. */
  readonly isInput: boolean
}

/** Keywords with a comparison of their own. */
const compared = new Set(['description', 'title', 'properties', 'required', 'items', 'type', 'enum'])

function compareSchemas(before: unknown, now: unknown, place: Place): readonly Finding[] {
  const { path } = place
  if (isDeepStrictEqual(before, now)) return []
  if (!isObject(before) || !isObject(now)) return [finding('critical', path, inWords(before, now))]
  const others = [...new Set([...Object.keys(before), ...Object.keys(now)])].filter(name => !compared.has(name))
  return [
    ...compareWords(before, now, path),
    ...(isDeepStrictEqual(before.type, now.type) ? [] : [finding('critical', `${path}.type`, 'has changed')]),
    ...compareChoices(before.enum, now.enum, place),
    ...compareProperties(before, now, place),
    ...compareSchemas(before.items, now.items, { ...place, path: `${path}[]` }),
    ...others.flatMap(name => changedField(before, now, name, path)),
  ]
}

const inWords = (before: unknown, now: unknown) =>
  before === undefined ? 'is new' : now === undefined ? 'is gone' : 'has changed'

/** A removed value breaks clients that send it; a new value breaks clients that must handle every value. */
function compareChoices(before: unknown, now: unknown, { path, isInput }: Place): readonly Finding[] {
  if (isDeepStrictEqual(before, now)) return []
  if (!Array.isArray(before) || !Array.isArray(now)) return [finding('critical', `${path}.enum`, inWords(before, now))]
  const [hasLost, hasGained] = [before.some(one => !now.includes(one)), now.some(one => !before.includes(one))]
  const severity = (isInput ? hasLost : hasGained) ? 'critical' : 'info'
  return [finding(severity, `${path}.enum`, hasLost ? 'has lost a value' : 'has a new value')]
}

function compareProperties(before: JsonObject, now: JsonObject, { path, isInput }: Place): readonly Finding[] {
  const [oldProperties, newProperties] = [propertiesOf(before), propertiesOf(now)]
  const [wasRequired, nowRequired] = [requiredIn(before), requiredIn(now)]
  const names = [...new Set([...Object.keys(oldProperties), ...Object.keys(newProperties)])]
  return names.flatMap(name => {
    const at = { path: `${path}.${name}`, isInput }
    const isRequired = nowRequired.has(name)
    if (!Object.hasOwn(newProperties, name)) return [finding('critical', at.path, 'is gone')]
    if (!Object.hasOwn(oldProperties, name)) return [newProperty(at, isRequired)]
    const inside = compareSchemas(oldProperties[name], newProperties[name], at)
    if (isRequired === wasRequired.has(name)) return inside
    const severity = isRequired === isInput ? 'critical' : 'info'
    return [finding(severity, at.path, isRequired ? 'is now required' : 'is no longer required'), ...inside]
  })
}

const newProperty = ({ path, isInput }: Place, isRequired: boolean): Finding =>
  isInput && isRequired ? finding('critical', path, 'is new and required') : finding('warning', path, 'is new')

const propertiesOf = ({ properties }: JsonObject): JsonObject => (isObject(properties) ? properties : {})
const requiredIn = ({ required }: JsonObject) => new Set<unknown>(Array.isArray(required) ? required : [])
