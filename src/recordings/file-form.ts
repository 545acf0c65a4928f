/** The schema of a recording's file. */
import * as v from 'valibot'
import { closed, integer, map, number, open, text } from '../check/check.js'
import { isMoment } from '../check/formats.js'
import { stringifyExact } from '../core/json.js'

/** The layouts in which platforms write JSON. If a body has one of them, its value and the layout restore its bytes. */
const layouts = {
  compact: (value: unknown) => stringifyExact(value),
  indented: (value: unknown) => stringifyExact(value, 2),
  // Python's layout. All line breaks come from the indentation, since those within texts are escaped.
  spaced: (value: unknown) => stringifyExact(value, 1).replace(/,\n */g, ', ').replace(/\n */g, ''),
}
type Layout = keyof typeof layouts

/**
 * In addition to the layout: whether non-ASCII characters are escaped, as Python does, and whether there is a final
 * newline.
 */
const extras = ['', ', ascii', ', newline', ', ascii, newline'] as const

type JsonStyle = `${Layout}${(typeof extras)[number]}`

const layoutNames = Object.keys(layouts) as readonly Layout[]
const jsonStyles = layoutNames.flatMap(layout => extras.map((extra): JsonStyle => `${layout}${extra}`))

/** Writes a value in a style. */
export function styled(value: unknown, style: JsonStyle): string {
  const [layout, ...flags] = style.split(', ') as [Layout, ...string[]]
  const text = layouts[layout](value)
  return `${flags.includes('ascii') ? escaped(text) : text}${flags.includes('newline') ? '\n' : ''}`
}

const escaped = (text: string) =>
  text.replace(/[\x7f-\uffff]/g, character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)

/**
 * Returns the value and style of a JSON object or list; `undefined` if no style restores the text, or if it exceeds the
 * limits for YAML.
 */
export function styleOf(text: string): { readonly value: unknown; readonly style: JsonStyle } | undefined {
  if (!/^[{[]/.test(text) || text.length > LONGEST) return undefined
  try {
    const value: unknown = JSON.parse(text)
    const newline = text.endsWith('\n')
    const candidates = jsonStyles.filter(
      style => style.includes('newline') === newline && (!style.includes('ascii') || text.includes('\\u')),
    )
    const style = isModest(value, DEEPEST) ? candidates.find(style => styled(value, style) === text) : undefined
    return style && { value, style }
  } catch {
    return undefined
  }
}

/**
 * Limits for YAML: larger bodies are not reviewed, indentation grows with depth, and the library compares each key of a
 * map with all others.
 */
const LONGEST = 262_144
const DEEPEST = 100
const MOST_KEYS = 1000

function isModest(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true
  const inner = Object.values(value)
  return (
    depth > 0 && (Array.isArray(value) || inner.length <= MOST_KEYS) && inner.every(item => isModest(item, depth - 1))
  )
}

const milliseconds = v.optional(number(0, Number.MAX_SAFE_INTEGER, 'milliseconds'))
const base64 = v.pipe(text, v.regex(/^[A-Za-z0-9+/\s]*={0,2}\s*$/, 'bytes in Base64'))
const status = integer(100, 999, 'a status')
const timeExample = 'a time such as 2030-01-31T12:00:00Z'

/** An object that has exactly one of the keys. */
const withOneOf = <const S extends v.GenericSchema>(schema: S, keys: readonly string[]): S => {
  const sentence = `has none or several of ${keys.join(', ')}. Use exactly one.`
  const hasOne = v.check<unknown, string>(
    object => keys.filter(key => Object.hasOwn(object as object, key)).length === 1,
    sentence,
  )
  return v.pipe(schema, hasOne) as unknown as S
}

/** JSON is written as YAML, and bodies that are not text as Base64. */
const body = { json: v.optional(v.unknown()), text: v.optional(text), base64: v.optional(base64) }
const contents = ['json', 'text', 'base64'] as const

const request = closed({
  method: v.pipe(text, v.nonEmpty('a method such as GET')),
  path: v.pipe(text, v.startsWith('/', 'a path that begins with /')),
  query: v.optional(text),
  body: v.optional(withOneOf(closed(body), contents)),
})
export type RequestForm = v.InferOutput<typeof request>

/** Numbers may be written without quotes. */
const headerValue = v.union([text, v.number(), v.bigint(), v.array(text)], 'a string or a list of strings')

const chunk = withOneOf(closed({ atMs: milliseconds, text: body.text, base64: body.base64 }), ['text', 'base64'])
export type ChunkForm = v.InferOutput<typeof chunk>

const response = v.pipe(
  closed({
    status,
    headMs: milliseconds,
    headers: v.optional(map(text, headerValue, 'a map of names and values'), {}),
    body: v.optional(
      withOneOf(
        closed({ ...body, written: v.optional(v.picklist(jsonStyles, 'a style such as compact or indented')) }),
        contents,
      ),
    ),
    chunks: v.optional(v.array(chunk, 'a list of chunks')),
    endMs: milliseconds,
  }),
  v.check(({ body, chunks }) => !body || !chunks, 'has both body and chunks. Use only one of them.'),
)
export type ResponseForm = v.InferOutput<typeof response>

const recordedAt = v.optional(v.pipe(text, v.check(isMoment, timeExample)))

/** The whole file. `key` is only for human readers: the key in the file name counts. */
export const recordingForm = closed({
  recordedAt,
  key: v.optional(text),
  complete: v.optional(v.boolean('true or false'), true),
  request,
  response,
})

/** Only the request, and when it was made. */
export const questionForm = open({ recordedAt, request })
