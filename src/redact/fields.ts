/** Reads the fields of bodies: of JSON at any depth, of forms, and of multipart forms; whole, or cut off anywhere. */
import { closingQuote, MOST_LEVELS } from '../core/json.js'
import type { SecretFields } from './names.js'
import { formReading, plainReading, type Reading, stringReading } from './readings.js'
import { readAt } from './words.js'

/** A text, a name, or numbers, and where they are written. */
export interface Field {
  readonly start: number
  readonly end: number
  readonly reading: Reading
  readonly isNumber?: boolean
  /** The name that makes it a secret: its own, or that of an object around it. */
  readonly secret?: string
  /** Where it is in its document, without what tells it from the same field of the next one. */
  readonly place?: Place | undefined
}

/** A text that is no field. */
export const textField = (text: string, start: number): Field => ({
  ...{ start, end: start + text.length, reading: plainReading(text, start) },
})

/** An object or a list while it is read. */
interface Frame {
  readonly parent: Frame | undefined
  readonly isList: boolean
  /** Its name or position in its parent. */
  readonly key: string
  readonly depth: number
  /** Its name, or that of an object around it, if its texts may be secret because of it. */
  readonly held: string
  position: number
  /** What tells it from its neighbours: `index`, and the type of an event. */
  identity: string
  /** A schema describes a secret; everything else under its name is one. */
  isSchema: boolean
}

interface Place {
  readonly frame: Frame
  readonly key: string
}

const sign = /["{}[\],]|-?\d[\d.eE+-]*/g
const colon = /\s*:/y
const identities = /^(?:output_|content_)?index$/
const schemaFields = new Set(['type', '$ref', 'description'])
/** Numbers of a list are one field. */
const nextNumber = /\s*,\s*-?\d[\d.eE+-]*/y
const SHORTEST_NUMBER = 4

/**
 * The fields of the JSON in a text that begins at `offset`. Those whose secrecy the end of an object decides come last.
 */
// Long because each case is a sign of JSON.
export function* jsonFields(json: string, { isSecret, isSecretValue }: SecretFields, offset = 0): Generator<Field> {
  const undecided: Field[] = []
  let frame = frameOf(undefined, true, '', '')
  let tooDeep = 0
  let key = ''
  const signs = new RegExp(sign)

  function fieldAt(start: number, end: number, isNumber: boolean): Field {
    const text = json.slice(start, end)
    const place = { frame, key: frame.isList ? String(frame.position) : key }
    const reading = isNumber ? plainReading(text, offset + start) : stringReading(text, offset + start)
    return { start: offset + start, end: offset + end, reading, isNumber, place }
  }

  for (let hit = signs.exec(json); hit; hit = signs.exec(json)) {
    const { 0: text, index } = hit
    switch (text) {
      case '{':
      case '[':
        if (frame.depth === MOST_LEVELS) tooDeep++
        else {
          const name = frame.isList ? String(frame.position) : key
          frame = frameOf(frame, text === '[', name, !frame.isList && isSecret(key) ? key : frame.held)
        }
        key = ''
        break
      case '}':
      case ']':
        if (tooDeep > 0) tooDeep--
        else frame = frame.parent ?? frame
        key = ''
        break
      case ',':
        frame.position++
        key = ''
        break
      default: {
        const isNumber = text !== '"'
        const start = isNumber ? index : index + 1
        let end = isNumber ? signs.lastIndex : closingQuote(json, start)
        for (let more = isNumber && frame.isList; more; ) {
          const { length } = readAt(nextNumber, json, end)
          end += length
          more = length > 0
        }
        signs.lastIndex = isNumber ? end : end + 1
        colon.lastIndex = signs.lastIndex
        const field = fieldAt(start, end, isNumber)
        if (!isNumber && colon.test(json)) {
          key = field.reading.text
          if (schemaFields.has(key)) frame.isSchema = true
          yield { ...field, place: undefined }
          break
        }
        if (isNumber ? !frame.isList && identities.test(key) : key === 'type' && frame.depth === 1)
          frame.identity += key + field.reading.text
        const own = !frame.isList && isSecret(key)
        if (own && mayBeSecret(field) && isSecretValue(key, field.reading.text)) yield { ...field, secret: key }
        else if (own || frame.held === '') yield field
        else undecided.push(field)
      }
    }
  }
  for (const field of undecided) {
    const name = heldBy(field.place?.frame)
    yield name !== '' && mayBeSecret(field) && isSecretValue(name, field.reading.text)
      ? { ...field, secret: name }
      : field
  }
}

const frameOf = (parent: Frame | undefined, isList: boolean, key: string, held: string): Frame => ({
  ...{ parent, isList, key, held, depth: (parent?.depth ?? -1) + 1, position: 0, identity: '', isSchema: false },
})

/** A text with spaces in a list is a message about the field. */
const mayBeSecret = ({ isNumber, reading: { text }, place }: Field) =>
  isNumber ? text.length >= SHORTEST_NUMBER : !(place?.frame.isList && text.includes(' '))

/** The name that the fields in an object are held by, unless a schema is between them. */
function heldBy(frame: Frame | undefined): string {
  for (let one = frame; one && one.held !== ''; one = one.parent) {
    if (one.isSchema) return ''
    if (one.held !== one.parent?.held || one.key === one.held) return one.held
  }
  return ''
}

/** Deeper texts are not sent in pieces. */
const DEEPEST_PIECE = 16

/** What a field has in common with those of other events that it continues; `undefined` for numbers and names. */
export function pathOf({ place, isNumber }: Field): string | undefined {
  if (!place || isNumber || place.frame.depth > DEEPEST_PIECE) return undefined
  let path = place.key
  for (let { frame } = place; frame.parent; frame = frame.parent)
    path = `${frame.parent.isList ? frame.identity || frame.key : frame.key}/${path}`
  return path
}

/** Whether it repeats a part of a text for its probability. */
export function isLogprob({ place }: Field): boolean {
  const { frame, key } = place ?? {}
  if (key !== 'token' && frame?.key !== 'bytes' && frame?.key !== 'tokens') return false
  for (let one = frame; one; one = one.parent) if (one.key === 'logprobs') return true
  return false
}

/** The names and values of a form or a query. */
export function* formFields(form: string, { isSecret, isSecretValue }: SecretFields): Generator<Field> {
  for (let start = 0; start < form.length; ) {
    const end = form.indexOf('&', start) < 0 ? form.length : form.indexOf('&', start)
    const equals = form.slice(start, end).indexOf('=')
    const middle = equals < 0 ? end : start + equals
    const name = formReading(form.slice(start, middle), start)
    if (middle > start) yield { start, end: middle, reading: name }
    if (middle + 1 < end) {
      const reading = formReading(form.slice(middle + 1, end), middle + 1)
      const secret = isSecret(name.text) && isSecretValue(name.text, reading.text) ? name.text : ''
      yield { start: middle + 1, end, reading, secret }
    }
    start = end + 1
  }
}

/** The lines above a value. */
const LONGEST_HEAD = 2000

/** The secret values of a multipart form, which follow a few header lines each. The lines may be cut off. */
export function* multipartFields(text: string, { isSecret, isSecretValue }: SecretFields): Generator<Field> {
  let partStart = 0
  for (const part of text.split('\n--')) {
    const head = /\r?\n\r?\n/.exec(part.slice(0, LONGEST_HEAD))
    const name = /\bname="([^"\r\n]{1,100})"/.exec(part.slice(0, head?.index ?? 0))?.[1]
    if (head && name !== undefined && isSecret(name)) {
      const from = head.index + head[0].length
      const field = textField(part.slice(from, part.endsWith('\r') ? -1 : undefined), partStart + from)
      if (isSecretValue(name, field.reading.text)) yield { ...field, secret: name }
    }
    partStart += part.length + '\n--'.length
  }
}
