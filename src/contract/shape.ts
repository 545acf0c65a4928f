/** The shape of answers: everything that clients rely on, and none of the content. */
import { dataIn, isStreamType } from '../completions/events.js'
import { jsonOf } from '../core/json.js'

export type Kind = 'null' | 'boolean' | 'number' | 'string' | 'array' | 'object'

/** What one or several JSON values have in common, and how they differ. */
export interface Shape {
  readonly kinds: readonly Kind[]
  /** The fields of those that are objects. A list with names, since an answer may have a field `__proto__`. */
  readonly fields?: readonly Field[]
  /** The merged items of those that are arrays; absent if none has any. */
  readonly item?: Shape | undefined
  /** The values, if they are keywords of the interface and not prose. */
  readonly words?: readonly string[]
}

export interface Field {
  readonly name: string
  /** Whether some of the objects lack it. */
  readonly optional?: true | undefined
  readonly shape: Shape
}

/** The parts of a chat completion stream. */
type Part = 'role' | 'content' | 'tool calls' | 'finish' | 'usage'

export interface StreamShape {
  readonly kind: 'stream'
  /** All frames merged; absent if there were none. */
  readonly frame?: Shape
  /** In the order of their first appearance. */
  readonly parts: readonly Part[]
  /** Whether `[DONE]` was sent. */
  readonly done: boolean
}

export interface AnswerShape {
  readonly status: number
  /** Without parameters, in lower case; may be empty. */
  readonly contentType: string
  /** The names of headers that clients act on. */
  readonly headers: readonly string[]
  readonly body:
    | { readonly kind: 'nothing' }
    | { readonly kind: 'text' }
    | { readonly kind: 'JSON'; readonly shape: Shape }
    | StreamShape
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
    headers: sorted(names),
    body: shapeOfBody(body, contentType),
  }
}

function shapeOfBody(body: Buffer, contentType: string): AnswerShape['body'] {
  if (isStreamType(contentType)) return shapeOfStream(body, /^text\/event-stream/i.test(contentType))
  if (body.length === 0) return { kind: 'nothing' }
  const value = jsonOf(body)
  return value === undefined ? { kind: 'text' } : { kind: 'JSON', shape: shapeOf(value) }
}

/** Fields whose values are keywords of the interface. */
const wordFields = new Set(['object', 'type', 'role', 'status', 'finish_reason'])

/** Keywords are short and lower-case. Other values in these fields are ignored and never shown. */
const isWord = (text: string) => text.length <= 40 && /^[a-z]+([._-][a-z]+)*$/.test(text)

/** Deeper nesting is ignored, so that a hostile answer cannot break the comparison. */
const DEEPEST = 100

/** Returns the shape of one JSON value. `name` is the name of its field. */
export function shapeOf(value: unknown, name = '', depth = 0): Shape {
  const kind = kindOf(value)
  if (kind === 'string' && wordFields.has(name) && isWord(String(value))) {
    return { kinds: [kind], words: [String(value)] }
  }
  if (depth === DEEPEST) return { kinds: [kind] }
  if (Array.isArray(value)) {
    // An array passes its name on: the words in `type: [object, null]` are keywords, too.
    return shapeWith([kind], { item: mergeAll(value.map(item => shapeOf(item, name, depth + 1))) })
  }
  if (kind !== 'object') return { kinds: [kind] }
  const fields = Object.entries(value as object).map(([name, inner]) => ({
    name,
    shape: shapeOf(inner, name, depth + 1),
  }))
  return shapeWith([kind], { fields })
}

function kindOf(value: unknown): Kind {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return typeof value as Kind
}

const sorted = <T extends string>(names: Iterable<T>): T[] => [...new Set(names)].sort()

function shapeWith(kinds: readonly Kind[], { fields = [], item, words = [] }: Omit<Shape, 'kinds'>): Shape {
  return {
    kinds: sorted(kinds),
    ...(fields.length > 0 && { fields: fields.toSorted((a, b) => (a.name < b.name ? -1 : 1)) }),
    ...(item && { item }),
    ...(words.length > 0 && { words: sorted(words) }),
  }
}

/** Merges two shapes. */
export function merge(a: Shape, b: Shape): Shape {
  const bothAreObjects = a.kinds.includes('object') && b.kinds.includes('object')
  const others = new Map(b.fields?.map(field => [field.name, field]))
  const fields: Field[] = []
  const add = ({ name, optional, shape }: Field, isShared: boolean) =>
    fields.push({ name, ...((optional || (bothAreObjects && !isShared)) && { optional: true }), shape })
  for (const field of a.fields ?? []) {
    const other = others.get(field.name)
    others.delete(field.name)
    if (other)
      add({ ...field, optional: field.optional ?? other.optional, shape: merge(field.shape, other.shape) }, true)
    else add(field, false)
  }
  for (const field of others.values()) add(field, false)
  return shapeWith([...a.kinds, ...b.kinds], {
    fields,
    item: mergeAll([a.item, b.item].flatMap(item => item ?? [])),
    words: [...(a.words ?? []), ...(b.words ?? [])],
  })
}

/** Merges all shapes; `undefined` if there are none. */
const mergeAll = (shapes: readonly Shape[]): Shape | undefined =>
  shapes.length === 0 ? undefined : shapes.reduce(merge)

/** The shape of a stream of events, or of one document per line. */
function shapeOfStream(body: Buffer, isEvents: boolean): StreamShape {
  const texts = isEvents ? dataIn(body) : body.toString('utf8').split('\n')
  const frames = texts.filter(text => text.trim() !== '' && text !== '[DONE]').map(jsonOrText)
  const frame = mergeAll(frames.map(value => shapeOf(value)))
  return {
    kind: 'stream',
    ...(frame && { frame }),
    parts: [...new Set(frames.flatMap(partsOf))],
    done: texts.includes('[DONE]'),
  }
}

/** A frame that is not JSON is treated as text. */
function jsonOrText(text: string): unknown {
  const value = jsonOf(text)
  return value === undefined ? text : value
}

interface Frame {
  readonly choices?: readonly (FrameChoice | null)[]
  readonly usage?: unknown
}

interface FrameChoice {
  readonly delta?: { readonly role?: unknown; readonly content?: unknown; readonly tool_calls?: unknown } | null
  readonly finish_reason?: unknown
}

function partsOf(value: unknown): readonly Part[] {
  const { choices, usage } = (value ?? {}) as Frame
  const inChoices = Array.isArray(choices) ? choices.flatMap(choice => partsOfChoice(choice ?? {})) : []
  return typeof usage === 'object' && usage !== null ? [...inChoices, 'usage'] : inChoices
}

function partsOfChoice({ delta, finish_reason }: FrameChoice): readonly Part[] {
  const { role, content, tool_calls } = delta ?? {}
  const found: readonly (readonly [boolean, Part])[] = [
    [typeof role === 'string', 'role'],
    // Many platforms send an empty text along with the role.
    [typeof content === 'string' && content !== '', 'content'],
    [Array.isArray(tool_calls), 'tool calls'],
    [typeof finish_reason === 'string', 'finish'],
  ]
  return found.flatMap(([isThere, part]) => (isThere ? [part] : []))
}
