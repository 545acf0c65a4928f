/** Divides a body into the texts in which secrets are looked for, each of which may have been sent in pieces. */
import { isStreamType } from '../chat/events.js'
import { jsonOf } from '../core/json.js'
import { type Field, formFields, isLogprob, jsonFields, multipartFields, pathOf, textField } from './fields.js'
import type { SecretFields } from './names.js'
import { plainReading, stringReading } from './readings.js'

/** A text, and the fields in which its pieces were sent. Most texts have one. */
export interface Passage {
  readonly text: string
  readonly pieces: () => readonly Field[]
}

/** The texts of a body. They can be gone through again. */
export type Passages = () => Iterable<Passage>

const alone = (field: Field): Passage => ({ text: field.reading.text, pieces: () => [field] })

const passagesOf = (...parts: readonly (() => Iterable<Field>)[]): Passages =>
  function* () {
    for (const fields of parts) for (const field of fields()) yield alone(field)
  }

export const textPassages = (text: string) => passagesOf(() => [textField(text, 0)])
export const formPassages = (form: string, secrets: SecretFields) => passagesOf(() => formFields(form, secrets))
export const jsonPassages = (json: string, secrets: SecretFields) => passagesOf(() => jsonFields(json, secrets))

/** The order is that of the text, but for those that were sent in pieces, which come first. */
export function passagesIn(text: string, contentType = '', secrets: SecretFields): Passages {
  const whole = () => [textField(text, 0)]
  if (/^application\/x-www-form-urlencoded\b/i.test(contentType)) return formPassages(text, secrets)
  if (/^multipart\//i.test(contentType)) return passagesOf(() => multipartFields(text, secrets), whole)
  // Not every stream has the right content type, and line-delimited JSON has several.
  if (isStreamType(contentType) || /^data:/m.test(text) || /^\s*\{[^\n]*\}\r?\n\{/.test(text))
    return () => passagesOfLines(text, secrets)
  if (!/^[\s\ufeff]*["{[\d-]/.test(text)) return passagesOf(whole)
  // It may be cut off, or only look like JSON.
  const isJson = jsonOf(text.replace(/^\ufeff/, '')) !== undefined
  return isJson ? jsonPassages(text, secrets) : passagesOf(() => jsonFields(text, secrets), whole)
}

/** What is before the data in a line of a stream. */
const prefixOfLine = /^(?:[\w-]{1,20}: ?)?/

/** Longer lines are whole documents. */
const LONGEST_EVENT = 1_048_576

/** A text that is sent piece by piece: what was sent, and where each piece begins and ends. */
interface Pieces {
  readonly isPlain: boolean
  readonly texts: string[]
  readonly starts: number[]
  readonly ends: number[]
}

function* passagesOfLines(text: string, secrets: SecretFields): Generator<Passage> {
  const inPieces = new Map<string, Pieces>()
  const add = (path: string, { start, end, reading }: Field, isPlain: boolean) => {
    const pieces = inPieces.get(path) ?? { isPlain, texts: [], starts: [], ends: [] }
    inPieces.set(path, pieces)
    pieces.texts.push(reading.text)
    pieces.starts.push(start)
    pieces.ends.push(end)
  }
  for (const { prefix, data, start, isJson } of linesOf(text)) {
    if (data.length > LONGEST_EVENT) continue
    if (!isJson && prefix.startsWith('data:')) add(prefix, textField(data, start), true)
    if (!isJson) continue
    for (const field of [...jsonFields(data, secrets, start)]) {
      const path = isLogprob(field) ? undefined : pathOf(field)
      if (path !== undefined) add(prefix + path, field, false)
    }
  }
  for (const pieces of inPieces.values())
    if (pieces.texts.some(piece => piece !== pieces.texts[0])) yield passageOfPieces(text, pieces)

  // Lines that are not JSON are one text.
  let plainFrom = 0
  for (const { data, start, isJson, lineStart, lineEnd } of linesOf(text)) {
    if (!isJson) continue
    if (lineStart > plainFrom) yield alone(textField(text.slice(plainFrom, lineStart), plainFrom))
    plainFrom = lineEnd
    for (const field of jsonFields(data, secrets, start)) yield alone(field)
  }
  if (text.length > plainFrom) yield alone(textField(text.slice(plainFrom), plainFrom))
}

function* linesOf(text: string) {
  for (let lineStart = 0; lineStart < text.length; ) {
    const lineEnd = text.indexOf('\n', lineStart) + 1 || text.length
    const line = text.slice(lineStart, lineEnd)
    const [prefix = ''] = prefixOfLine.exec(line) ?? []
    const data = line.slice(prefix.length).trimEnd()
    const isJson = /^["{[]/.test(data) && jsonOf(data) !== undefined
    yield { prefix, data, start: lineStart + prefix.length, isJson, lineStart, lineEnd }
    lineStart = lineEnd
  }
}

const passageOfPieces = (text: string, { isPlain, texts, starts, ends }: Pieces): Passage => ({
  text: texts.join(''),
  pieces: () =>
    starts.map((start, i) => {
      const end = ends[i] ?? start
      const written = text.slice(start, end)
      return { start, end, reading: isPlain ? plainReading(written, start) : stringReading(written, start) }
    }),
})
