/** The shape of JSON values: which types stand where, whatever they say. */

export type Kind = 'null' | 'boolean' | 'number' | 'string' | 'array' | 'object'

/** What one or several values have in common, and in what they differ. */
export interface Shape {
  readonly kinds: ReadonlySet<Kind>
  /** Of those that are objects. */
  readonly fields: ReadonlyMap<string, Field>
  /** All items of those that are arrays, as one; nothing where none has any. */
  readonly item: Shape | undefined
  /** What it says, where that is a word of the interface and not prose. */
  readonly words: ReadonlySet<string>
}

export interface Field {
  readonly shape: Shape
  /** Whether some of the objects lack it. */
  readonly optional: boolean
}

/** Fields whose values are words of the interface. */
const wordFields = new Set(['object', 'type', 'role', 'status', 'finish_reason'])

/** Words are short, in small letters; anything else in such a field is not looked at, and never shown. */
const isWord = (text: string) => text.length <= 40 && /^[a-z]+([._-][a-z]+)*$/.test(text)

/** What is nested deeper is not looked at: a hostile answer must not end the comparison. */
const DEEPEST = 100

const none: Shape = { kinds: new Set(), fields: new Map(), item: undefined, words: new Set() }

/** The shape of one JSON value. */
export const shapeOf = (value: unknown): Shape => shaped(value, '', 0)

function shaped(value: unknown, name: string, depth: number): Shape {
  const kind = kindOf(value)
  const kinds = new Set([kind])
  if (kind === 'string' && wordFields.has(name) && isWord(String(value))) {
    return { ...none, kinds, words: new Set([String(value)]) }
  }
  if (depth === DEEPEST) return { ...none, kinds }
  if (Array.isArray(value)) {
    // An array hands its name on: the words of `type: [object, null]` are words, too.
    return { ...none, kinds, item: mergeAll(value.map(item => shaped(item, name, depth + 1))) }
  }
  if (kind !== 'object') return { ...none, kinds }
  const fields = Object.entries(value as object).map(
    ([name, inner]) => [name, { shape: shaped(inner, name, depth + 1), optional: false }] as const,
  )
  return { ...none, kinds, fields: new Map(fields) }
}

function kindOf(value: unknown): Kind {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return typeof value as Kind
}

/** The shape of what has either. */
export function merge(a: Shape, b: Shape): Shape {
  const bothAreObjects = a.kinds.has('object') && b.kinds.has('object')
  const fields = new Map<string, Field>()
  for (const name of new Set([...a.fields.keys(), ...b.fields.keys()])) {
    const [one, other] = [a.fields.get(name), b.fields.get(name)]
    const optional = one?.optional === true || other?.optional === true
    const shape = mergeAll([one, other].flatMap(field => field?.shape ?? [])) ?? none
    fields.set(name, { shape, optional: optional || (bothAreObjects && !(one && other)) })
  }
  return {
    kinds: new Set([...a.kinds, ...b.kinds]),
    fields,
    item: mergeAll([a.item, b.item].flatMap(item => item ?? [])),
    words: new Set([...a.words, ...b.words]),
  }
}

/** The shape of what has any of them; nothing where there are none. */
export const mergeAll = (shapes: readonly Shape[]): Shape | undefined =>
  shapes.length === 0 ? undefined : shapes.reduce(merge)
