/** The shape of answers, which is everything that clients rely on and none of the content, and how two shapes differ. */

import { dataIn, isStreamType } from '../chat/events.js'
import type { Finding, Severity } from '../check/finding.js'
import { isObject, jsonOf } from '../core/json.js'

type Kind = 'null' | 'boolean' | 'number' | 'string' | 'array' | 'object'

/** What the values at one path have in common, and how they differ. */
interface Place {
  /** The path of the object or array that it is in; `undefined` for whole values. */
  readonly parent: string | undefined
  /** The name of the field; that of an item is the name of its array. */
  readonly name: string
  readonly isItem: boolean
  readonly kinds: Set<Kind>
  /** The values, if they are keywords of the interface and not prose. */
  readonly words: Set<string>
  /** How many values were here, and how many of them were objects. */
  values: number
  objects: number
}

/** One or several JSON values by path, such as `choices[].message`. The path of whole values is empty. */
type Shape = Map<string, Place>

export interface AnswerShape {
  readonly status: number
  readonly contentType: string
  /** The names of headers that clients act on. */
  readonly headers: readonly string[]
  readonly body:
    | { readonly kind: 'nothing' }
    | { readonly kind: 'text' }
    | { readonly kind: 'JSON'; readonly shape: Shape }
    | StreamShape
}

interface StreamShape {
  readonly kind: 'stream'
  /** All frames together; empty if there were none. */
  readonly shape: Shape
  readonly hasContent: boolean
  readonly isFinished: boolean
  readonly isDone: boolean
}

interface AnswerParts {
  readonly status: number
  /** Names in lower case. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: Buffer
}

const relevantHeaders = /^(retry-after|x-ratelimit-.+|ratelimit(-.+)?|www-authenticate|location)$/

/** Never throws: a body that does not match its content type is treated as text. */
export function shapeOfAnswer({ status, headers, body }: AnswerParts): AnswerShape {
  const names = headers.map(([name]) => name).filter(name => relevantHeaders.test(name))
  const [, contentType = ''] = headers.find(([name]) => name === 'content-type') ?? []
  return {
    status,
    contentType: contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '',
    headers: [...new Set(names)].sort(),
    body: shapeOfBody(body, contentType),
  }
}

function shapeOfBody(body: Buffer, contentType: string): AnswerShape['body'] {
  if (isStreamType(contentType)) return shapeOfStream(body, /^text\/event-stream/i.test(contentType))
  if (body.length === 0) return { kind: 'nothing' }
  const value = jsonOf(body)
  return value === undefined ? { kind: 'text' } : { kind: 'JSON', shape: shapeOf([value]) }
}

/** The shape of a stream of events, or of one document per line. A frame that is not JSON is treated as text. */
function shapeOfStream(body: Buffer, isEvents: boolean): StreamShape {
  const texts = isEvents ? dataIn(body) : body.toString('utf8').split('\n')
  const frames = texts.filter(text => text.trim() !== '' && text !== '[DONE]').map(jsonOrText)
  const choices = frames.flatMap(frame => (isObject(frame) && Array.isArray(frame.choices) ? frame.choices : []))
  // Many platforms send an empty text along with the role.
  const hasContent = choices.some(choice => choice?.delta?.content || Array.isArray(choice?.delta?.tool_calls))
  const isFinished = choices.some(choice => typeof choice?.finish_reason === 'string')
  return { kind: 'stream', shape: shapeOf(frames), hasContent, isFinished, isDone: texts.includes('[DONE]') }
}

function jsonOrText(text: string): unknown {
  const value = jsonOf(text)
  return value === undefined ? text : value
}

/** Fields whose values are keywords of the interface. */
const wordFields = new Set(['object', 'type', 'role', 'status', 'finish_reason'])

/** Keywords are short and lower-case. Other values in these fields are ignored and never shown. */
const isWord = (text: string) => text.length <= 40 && /^[a-z]+([._-][a-z]+)*$/.test(text)

/** Deeper nesting is ignored, so that a hostile answer cannot break the comparison. */
const MOST_DEPTH = 100

/** Returns the shape that these values have together. */
export function shapeOf(values: readonly unknown[]): Shape {
  const shape: Shape = new Map()

  function add(value: unknown, path: string, where: Pick<Place, 'parent' | 'name' | 'isItem'>, depth: number): void {
    const place = shape.get(path) ?? { ...where, kinds: new Set(), words: new Set(), values: 0, objects: 0 }
    shape.set(path, place)
    const kind = kindOf(value)
    place.kinds.add(kind)
    place.values++
    if (typeof value === 'string' && wordFields.has(place.name) && isWord(value)) place.words.add(value)
    if (kind === 'object') place.objects++
    if (depth === MOST_DEPTH || typeof value !== 'object' || value === null) return
    // An array passes its name on: the words in `type: [object, null]` are keywords, too.
    for (const [key, inner] of Object.entries(value)) {
      const isItem = kind === 'array'
      const name = isItem ? place.name : key
      add(inner, isItem ? `${path}[]` : pathTo(path, key), { parent: path, name, isItem }, depth + 1)
    }
  }

  for (const value of values) add(value, '', { parent: undefined, name: '', isItem: false }, 0)
  return shape
}

function kindOf(value: unknown): Kind {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : (typeof value as Kind)
}

/** For example `choices[].message`, and `["odd name"]` for names that contain dots. */
function pathTo(path: string, name: string): string {
  if (!/^[^\s.[\]"]+$/.test(name)) return `${path}[${JSON.stringify(name)}]`
  return path === '' ? name : `${path}.${name}`
}

/** Returns all differences. The bodies of a success and of an error are not compared. */
export function compareAnswers(recorded: AnswerShape, live: AnswerShape): readonly Finding[] {
  const status = compareStatus(recorded.status, live.status)
  if (statusClass(recorded.status) !== statusClass(live.status)) return status
  const [removed, added] = [notAmong(recorded.headers, live.headers), notAmong(live.headers, recorded.headers)]
  const types = `${recorded.contentType || 'none'}, live ${live.contentType || 'none'}`
  return [
    ...status,
    ...removed.map(name => finding('warning', name, 'with this header, live without it')),
    ...added.map(name => finding('info', name, 'without this header, live with it')),
    ...(recorded.contentType === live.contentType ? [] : [finding('critical', 'content-type', types)]),
    ...compareBodies(recorded.body, live.body),
  ]
}

const statusClass = (status: number) => Math.floor(status / 100)

const notAmong = <T>(from: Iterable<T>, others: Iterable<T>): readonly T[] => {
  const other = new Set(others)
  return [...from].filter(one => !other.has(one))
}

/** `difference` is what was recorded, and what is live: `200, live 404`. */
const finding = (severity: Severity, path: string, difference: string): Finding => ({
  severity,
  path: path === '' ? 'body' : path,
  sentence: `recorded ${difference}`,
})

function compareStatus(recorded: number, live: number): readonly Finding[] {
  if (recorded === live) return []
  // Rate limits and server errors are temporary. If they no longer occur, the platform has not changed.
  const isOver = (recorded === 429 || recorded >= 500) && live < 400
  const isMinor = isOver || statusClass(recorded) === statusClass(live)
  return [finding(isMinor ? 'warning' : 'critical', 'status', `${recorded}, live ${live}`)]
}

function compareBodies(recorded: AnswerShape['body'], live: AnswerShape['body']): readonly Finding[] {
  if (recorded.kind === 'JSON' && live.kind === 'JSON') return compareShapes(recorded.shape, live.shape)
  if (recorded.kind === 'stream' && live.kind === 'stream') return compareStreams(recorded, live)
  if (recorded.kind === live.kind) return []
  return [finding('critical', '', `${bodyWords[recorded.kind]}, live ${bodyWords[live.kind]}`)]
}

const bodyWords = { nothing: 'nothing', text: 'text', JSON: 'JSON as a whole', stream: 'a stream' }

function compareStreams(recorded: StreamShape, live: StreamShape): readonly Finding[] {
  if (recorded.shape.size === 0 || live.shape.size === 0) {
    return recorded.shape.size === 0 ? [] : [finding('critical', '', 'a stream with frames, live one without')]
  }
  const frames = compareShapes(recorded.shape, live.shape)
  const isUnfinished = recorded.isFinished && !live.isFinished
  const found = frames.map((one): Finding => {
    // Clients wait for it.
    return isUnfinished && one.path.endsWith('finish_reason') ? { ...one, severity: 'critical' } : one
  })
  if (recorded.hasContent && !live.hasContent)
    found.push(finding('critical', 'choices[].delta.content', 'with content, live without'))
  if (recorded.isDone && !live.isDone)
    found.push(finding('critical', '[DONE]', 'at the end of the stream, live missing'))
  if (live.isDone && !recorded.isDone)
    found.push(finding('warning', '[DONE]', 'without it, live at the end of the stream'))
  return found
}

/** Compares path by path. Of what is gone or new, only the outermost is reported. */
export function compareShapes(recorded: Shape, live: Shape): readonly Finding[] {
  const paths = [...new Set([...recorded.keys(), ...live.keys()])].sort()
  return paths.flatMap(path => {
    const [before, now] = [recorded.get(path), live.get(path)]
    const { parent, isItem } = before ?? now ?? { parent: undefined, isItem: false }
    if (parent !== undefined) {
      const needed = isItem ? 'array' : 'object'
      const parents = [recorded.get(parent), live.get(parent)]
      // Then the parents themselves differ, which is reported there.
      if (!parents.every(one => one?.kinds.has(needed))) return []
    }
    if (before && now) return comparePlaces(path, [before, recorded], [now, live])
    if (before) return [isItem ? finding('warning', path, 'with items, live without') : goneField(path, before)]
    return now && !isItem ? [newField(path, now)] : []
  })
}

/** A client that reads null reads the same of a field that is missing, in most languages. */
const goneField = (path: string, { kinds }: Place): Finding =>
  isOnlyNull(kinds)
    ? { severity: 'warning', path, sentence: 'is gone (it was null)' }
    : { severity: 'critical', path, sentence: 'is gone' }

/** An `error` field that did not exist before is not just an addition. */
const newField = (path: string, { name, kinds }: Place): Finding => ({
  severity: name === 'error' && !isOnlyNull(kinds) ? 'critical' : 'warning',
  path,
  sentence: `is new (${alternatives(kinds)})`,
})

type PlaceIn = readonly [place: Place, shape: Shape]

/** Whether some of the objects lack the field. */
const isOptional = ([{ parent, isItem, values }, shape]: PlaceIn) =>
  parent !== undefined && !isItem && values < (shape.get(parent)?.objects ?? 0)

function comparePlaces(path: string, recorded: PlaceIn, live: PlaceIn): readonly Finding[] {
  const [{ kinds, words }] = recorded
  const [{ kinds: liveKinds, words: liveWords }] = live
  const kindSeverity = severityOfKinds(kinds, liveKinds)
  const wordSeverity = severityOfWords(path, words, liveWords)
  const found: Finding[] = []
  if (!isOptional(recorded) && isOptional(live))
    found.push(finding('info', path, 'always present, live sometimes missing'))
  if (kindSeverity) found.push(finding(kindSeverity, path, `${alternatives(kinds)}, live ${alternatives(liveKinds)}`))
  if (wordSeverity) found.push(finding(wordSeverity, path, `${alternatives(words)}, live ${alternatives(liveWords)}`))
  return found
}

function severityOfKinds(recorded: ReadonlySet<Kind>, live: ReadonlySet<Kind>): Severity | undefined {
  const [removed, added] = [notAmong(recorded, live), notAmong(live, recorded)]
  if (removed.length === 0 && added.length === 0) return undefined
  if (isOnlyNull(recorded)) return 'warning'
  // If an object or array has become null, so has everything inside. Most clients can handle a single value that is
  // null.
  if (isOnlyNull(live)) return removed.some(kind => kind === 'object' || kind === 'array') ? 'critical' : 'warning'
  if (added.some(kind => kind !== 'null')) return 'critical'
  return removed.includes('null') || added.includes('null') ? 'warning' : 'info'
}

const isOnlyNull = (kinds: ReadonlySet<Kind>) => kinds.size === 1 && kinds.has('null')

/** These depend on what the model generates, and vary from one answer to the next. */
const endings = new Set(['stop', 'length'])

function severityOfWords(path: string, recorded: ReadonlySet<string>, live: ReadonlySet<string>): Severity | undefined {
  const [removed, added] = [notAmong(recorded, live), notAmong(live, recorded)]
  if (recorded.size === 0 || live.size === 0 || removed.length + added.length === 0) return undefined
  const isEnding = path.endsWith('finish_reason') && [...removed, ...added].every(word => endings.has(word))
  return added.length === 0 || isEnding ? 'info' : 'critical'
}

const alternatives = (words: Iterable<string>) => [...words].sort().join(' or ')
