/** The shape of an answer as JSON, to be kept in a file, and back again. */
import * as v from 'valibot'
import { check } from '../../core/check.js'
import type { AnswerShape, BodyShape } from './answer-shape.js'
import type { Field, Kind, Shape } from './shape.js'
import type { Part } from './stream-shape.js'

const kinds = ['null', 'boolean', 'number', 'string', 'array', 'object'] as const satisfies readonly Kind[]
const parts = ['role', 'content', 'tool calls', 'finish', 'usage'] as const satisfies readonly Part[]

interface Written {
  readonly kinds: readonly Kind[]
  /** A list: an answer may name a field `__proto__`, too. */
  readonly fields?: readonly WrittenField[] | undefined
  readonly item?: Written | undefined
  readonly words?: readonly string[] | undefined
}

interface WrittenField {
  readonly name: string
  readonly optional?: true | undefined
  readonly shape: Written
}

const written: v.GenericSchema<Written> = v.object({
  kinds: v.array(v.picklist(kinds)),
  fields: v.optional(
    v.array(v.object({ name: v.string(), optional: v.optional(v.literal(true)), shape: v.lazy(() => written) })),
  ),
  item: v.optional(v.lazy(() => written)),
  words: v.optional(v.array(v.string())),
})

const body = v.variant('kind', [
  v.object({ kind: v.literal('nothing') }),
  v.object({ kind: v.literal('text') }),
  v.object({ kind: v.literal('JSON'), shape: written }),
  v.object({
    kind: v.literal('stream'),
    frame: v.optional(written),
    parts: v.array(v.picklist(parts)),
    done: v.boolean(),
  }),
])

const answer = v.object({
  status: v.pipe(v.number(), v.integer()),
  contentType: v.string(),
  headers: v.array(v.string()),
  body,
})

export type WrittenShape = v.InferOutput<typeof answer>

export const writtenShape = ({ status, contentType, headers, body }: AnswerShape): WrittenShape => ({
  ...{ status, contentType },
  headers: [...headers].sort(),
  body: writtenBody(body),
})

function writtenBody(body: BodyShape): WrittenShape['body'] {
  if (body.kind === 'JSON') return { kind: 'JSON', shape: write(body.shape) }
  if (body.kind !== 'stream') return { kind: body.kind }
  const { parts, done, frame } = body
  return { kind: 'stream', ...(frame && { frame: write(frame) }), parts: [...parts], done }
}

/** In an order of its own, so that a file changes only where a shape does. */
function write({ kinds, fields, item, words }: Shape): Written {
  const named = [...fields]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, { optional, shape }]) => ({ name, ...(optional && { optional: true as const }), shape: write(shape) }))
  return {
    kinds: [...kinds].sort(),
    ...(named.length > 0 && { fields: named }),
    ...(item && { item: write(item) }),
    ...(words.size > 0 && { words: [...words].sort() }),
  }
}

/** Nothing where it is no such shape. */
export function shapeIn(value: unknown): AnswerShape | undefined {
  const result = check(answer, value, { firstOnly: true })
  if ('mistakes' in result) return undefined
  const { status, contentType, headers, body } = result.value
  return { status, contentType, headers: new Set(headers), body: bodyIn(body) }
}

function bodyIn(body: WrittenShape['body']): BodyShape {
  if (body.kind === 'JSON') return { kind: 'JSON', shape: read(body.shape) }
  if (body.kind !== 'stream') return body
  const { frame, parts, done } = body
  return { kind: 'stream', frame: frame && read(frame), parts, done }
}

const read = ({ kinds, fields = [], item, words = [] }: Written): Shape => ({
  kinds: new Set(kinds),
  fields: new Map(
    fields.map(({ name, optional = false, shape }): [string, Field] => [name, { shape: read(shape), optional }]),
  ),
  item: item && read(item),
  words: new Set(words),
})
