/** The form of a recording's file: its schema, and YAML that reads well in a review. */

import * as v from 'valibot'
import { closed, integer, isMoment, map, numberBetween, open, text } from '../check/forms.js'
import { jsonStyles } from './json-style.js'

const milliseconds = v.optional(numberBetween(0, Number.MAX_SAFE_INTEGER, 'milliseconds'))
const base64 = v.pipe(text, v.regex(/^[A-Za-z0-9+/\s]*(?:={1,2}\s*)?$/, 'bytes in Base64'))
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

export const requestForm = closed({
  method: v.pipe(text, v.nonEmpty('a method such as GET')),
  path: v.pipe(text, v.startsWith('/', 'a path that begins with /')),
  query: v.optional(text),
  condition: v.optional(map(text, text, 'a map of names and values')),
  body: v.optional(withOneOf(closed(body), contents)),
})
export type RequestForm = v.InferOutput<typeof requestForm>

/** Numbers may be written without quotes. */
const headerValue = v.union([text, v.number(), v.bigint(), v.array(text)], 'a string or a list of strings')

const chunk = withOneOf(closed({ atMs: milliseconds, text: body.text, base64: body.base64 }), ['text', 'base64'])
export type ChunkForm = v.InferOutput<typeof chunk>

const response = v.pipe(
  closed({
    status,
    statusText: v.optional(v.pipe(text, v.regex(/^[\t\x20-\x7e\x80-\xff]*$/, 'one line of Latin-1'))),
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

const heading = {
  recordedAt,
  /** Absent for the run as a whole. */
  test: v.optional(v.pipe(text, v.nonEmpty('the name of a test'))),
  place: v.optional(integer(1), 1),
  /** Earlier versions wrote it. It does not count. */
  key: v.optional(v.unknown()),
}

export const recordingForm = closed({
  ...heading,
  complete: v.optional(v.boolean('true or false'), true),
  leftByClient: v.optional(v.literal(true, 'true')),
  request: requestForm,
  response,
})

export const questionForm = open({ ...heading, request: requestForm })

/**
 * The text of a value, after a key or as a document of its own. All lines but the first are indented by at least
 * `margin`; a blank line separates the fields of `spaced`. This is ten times as fast as the library, which would write
 * the same text again, so that a file can be edited through it.
 */
export function yamlText(value: unknown, margin = '', spaced?: unknown): string {
  if (Array.isArray(value) && value.length > 0) return listText(value, margin, spaced)
  if (typeof value !== 'object' || value === null || Object.keys(value).length === 0)
    return scalarText(value, margin, spaced === WITHIN)
  return Object.entries(value)
    .map(([key, item]) => fieldText(key, item, margin, value === spaced ? WITHIN : spaced))
    .join(value === spaced ? `\n\n${margin}` : `\n${margin}`)
}

/** In place of `spaced` within its fields: a text that keeps its last lines would take the blank line after it for one of them. */
const WITHIN = Symbol('within fields with blank lines between them')

/** Numbers go on one line, since vectors have thousands of them. */
function listText(list: readonly unknown[], margin: string, spaced: unknown): string {
  if (list.every(item => typeof item === 'number'))
    return `[${list.map(item => scalarText(item, margin, false)).join(', ')}]`
  return list.map(item => `- ${yamlText(item, `${margin}  `, spaced)}`).join(`\n${margin}`)
}

function fieldText(key: string, value: unknown, margin: string, spaced: unknown): string {
  const name = isPlainYaml(key) ? key : quotedYaml(key)
  // YAML looks for the colon of a key within 1,024 characters only.
  const keyText = name.length > 1000 ? `? ${name}\n${margin}:` : `${name}:`
  if (!isBlock(value)) return `${keyText} ${yamlText(value, margin, spaced)}`
  return `${keyText}\n${margin}  ${yamlText(value, `${margin}  `, spaced)}`
}

/** Whether the value begins on a new line. */
const isBlock = (value: unknown) =>
  Array.isArray(value)
    ? value.some(item => typeof item !== 'number')
    : typeof value === 'object' && value !== null && Object.keys(value).length > 0

function scalarText(value: unknown, margin: string, isSpaced: boolean): string {
  switch (typeof value) {
    case 'string':
      return isSpaced && value.endsWith('\n\n') ? quotedLines(value, `${margin}  `) : stringText(value, `${margin}  `)
    case 'number':
      if (Number.isFinite(value)) return String(value)
      return value > 0 ? '.inf' : '-.inf'
    case 'bigint':
      return String(value)
    default:
      return JSON.stringify(value)
  }
}

const LONGEST_QUOTED = 60

function stringText(text: string, margin: string): string {
  if (isPlainYaml(text)) return text
  if ((text.includes('\n') || text.length > LONGEST_QUOTED) && isLiteral(text)) return literal(text, margin)
  return quotedLines(text, margin)
}

/**
 * Whether it begins with a letter, so that it is not a number, has only single spaces, and is not a word that a YAML
 * version reads as another type.
 */
const isPlainYaml = (text: string) =>
  /^[\p{L}_/][^\p{C}\p{Z}]*(?: [^\p{C}\p{Z}#][^\p{C}\p{Z}]*)*$/u.test(text) &&
  !/:(?: |$)/.test(text) &&
  !/^(?:null|true|false|yes|no|on|off|y|n)$/i.test(text)

/** Whether it contains nothing that YAML changes, editors strip, or readers cannot see. */
const isLiteral = (text: string) =>
  !/^\s*$|^\n*[ \t]|[ \t](?:\n|$)|[^\n\t\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\u{10000}-\u{10ffff}]/u.test(
    text,
  )

function literal(text: string, margin: string): string {
  const indicator = text.endsWith('\n\n') ? '|+' : text.endsWith('\n') ? '|' : '|-'
  const lines = text.endsWith('\n') ? text.slice(0, -1) : text
  return `${indicator}\n${margin}${lines.replace(/\n(?=[^\n])/g, `\n${margin}`)}`
}

/** In quotes, and each line of the text on its own line. */
export const quotedLines = (text: string, margin: string) =>
  `"${text
    .split(/(?<=\n)(?=.)/s)
    .map((line, i) => (i > 0 && line.startsWith(' ') ? `\\x20${escapedText(line.slice(1))}` : escapedText(line)))
    .join(`\\\n${margin}`)}"`

const quotedYaml = (text: string) => `"${escapedText(text)}"`

/** JSON's escapes, and those for characters that JSON keeps but YAML does not allow. */
const escapedText = (text: string) =>
  JSON.stringify(text)
    .slice(1, -1)
    .replace(
      /[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/g,
      character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
    )
