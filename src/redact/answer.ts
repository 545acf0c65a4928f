/** Removes the secrets from a recorded answer, also from texts that were sent in pieces. Everything else stays byte for byte. */
import { isUtf8 } from 'node:buffer'
import { dataOf, eventsIn, isStreamType, linesIn } from '../chat/events.js'
import { closingQuote, exactJsonOf, isTooDeep, jsonOf, stringifyExact } from '../core/json.js'
import type { Redaction } from './index.js'
import { styled, styleOf } from './json-style.js'

/** What of an answer can have a secret. */
export interface RedactableAnswer {
  readonly statusText?: string | undefined
  /** Names in lower case. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** Decompressed. */
  readonly body: Buffer
}

/** Replaces the bytes from `start` to `end` of a body. */
export interface Edit {
  readonly start: number
  readonly end: number
  readonly bytes: Buffer
}

/**
 * `requestRedaction` is the redaction of the request. Secrets that the answer introduces, such as a new cookie, are also removed
 * from its body. The edits do not overlap.
 */
export function redactedAnswer(
  { statusText, headers, body }: RedactableAnswer,
  requestRedaction: Redaction,
  path: string,
): Omit<RedactableAnswer, 'body'> & { readonly edits: readonly Edit[] } {
  const redaction = requestRedaction.withSecretsOf({ headers })
  const text = readableText(body)
  const contentType = headers.find(([name]) => name === 'content-type')?.[1]
  const isSuspicious = redaction.suspects(text)
  const isJson = isDocument(text)
  // Not every stream has the right content type, and line-delimited JSON has several.
  const isInPieces = isStreamType(contentType ?? '') || /^data:/m.test(text) || /^\s*\{[^\n]*\}\r?\n\{/.test(text)
  const parts = isInPieces ? piecesOfBody(body, isJson) : [partOf(body, false)]
  if (isInPieces) redactFragments(parts, redaction)
  if (isSuspicious) for (const part of parts) part.text = redactedPart(part, redaction)
  for (const part of parts) part.text = withoutFields(part, redaction, path, contentType)
  // If the text contains a secret, the logprobs contain it token by token.
  if (parts.some(({ text, before }) => text !== before)) for (const part of parts) removeTokens(part)
  const redactedHeaders = redaction.headers(headers.flat())
  return {
    ...(statusText !== undefined && { statusText: redaction.text(statusText) }),
    headers: headers.map(([name], i) => [name, redactedHeaders[2 * i + 1] ?? '']),
    edits: editsOf(parts),
  }
}

/** A body, or the part of one that is JSON on its own: an event or a line. Consecutive parts that are not JSON are one. */
interface BodyPart {
  readonly bytes: Buffer
  readonly before: string
  text: string
  readonly isEvent: boolean
  readonly isJson: boolean
}

const readableText = (bytes: Buffer) => bytes.toString(encodingOf(bytes))

/** With Latin-1 every byte is a character, so that a secret is found inside binary data as well. */
const encodingOf = (bytes: Buffer) => (isUtf8(bytes) ? 'utf8' : 'latin1')

const isDocument = (text: string) => /^\s*[{[]/.test(text)

function partOf(bytes: Buffer, isEvent: boolean): BodyPart {
  const text = readableText(bytes)
  const json = documentIn(text, isEvent)
  const value = isUtf8(bytes) && /^\s*["{[\d-]/.test(json) ? jsonOf(json) : undefined
  return { bytes, before: text, text, isEvent, isJson: value !== undefined && !isTooDeep(value) }
}

/** Some platforms write a byte order mark, which is not part of the JSON. */
const documentIn = (text: string, isEvent: boolean) =>
  isEvent ? (dataOf(Buffer.from(text)) ?? '') : text.replace(/^\ufeff/, '')

function piecesOfBody(body: Buffer, isOnLines: boolean): readonly BodyPart[] {
  const parts: BodyPart[] = []
  let plain: Buffer[] = []
  function endPlain(): void {
    if (plain.length > 0) parts.push(partOf(Buffer.concat(plain), true))
    plain = []
  }
  for (const bytes of isOnLines ? linesIn(body) : eventsIn(body)) {
    const part = partOf(bytes, !isOnLines)
    if (!part.isJson) plain.push(bytes)
    else {
      endPlain()
      parts.push(part)
    }
  }
  endPlain()
  return parts
}

/** A text that is sent piece by piece, and where each piece is. */
type Fragments = { readonly part: BodyPart; readonly holder: Record<string, unknown>; readonly key: string }[]

/** Joins the tokens of each text, since a secret may cross their borders, and puts its placeholder where it begins. */
function redactFragments(parts: readonly BodyPart[], redaction: Redaction): void {
  const running = new Map<string, Fragments>()
  const values = new Map<BodyPart, unknown>()
  for (const part of parts) {
    if (!part.isJson) continue
    const value = fieldsOfEvent(jsonOf(documentIn(part.text, part.isEvent)))
    values.set(part, value)
    const { type, index, output_index, content_index } = value
    const whole = JSON.stringify([type, index, output_index, content_index])
    for (const { holder, key, name } of fragmentsIn(value, !part.isEvent)) {
      const fragments = running.get(whole + name) ?? []
      running.set(whole + name, fragments)
      fragments.push({ part, holder, key })
    }
  }
  const changed = new Set<BodyPart>()
  for (const fragments of running.values()) {
    const texts = fragments.map(({ holder, key }) => String(holder[key]))
    for (const [i, redacted] of redaction.pieces(texts).entries()) {
      const fragment = fragments[i]
      if (!fragment || redacted === texts[i]) continue
      fragment.holder[fragment.key] = redacted
      changed.add(fragment.part)
    }
  }
  for (const part of changed) part.text = withDocument(part, values.get(part))
}

const fieldsOfEvent = (value: unknown) =>
  (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>

/** Deeper values are no fragments of a text. */
const DEEPEST_FRAGMENT = 16

/** Fields of a delta that are sent whole in each event. */
const unsplitFields: ReadonlySet<string | undefined> = new Set(['type', 'role', 'id'])

/** The fields in which Ollama sends its answer piece by piece, in one document per line. */
const ollamaFields = new Set(['message.content', 'message.thinking', 'response', 'thinking'])

/**
 * The texts of an event that continue those of earlier events of the same name. Items of a list are named by their field
 * `index`, since each choice comes in events of its own.
 */
function* fragmentsIn(
  holder: Record<string, unknown>,
  isOnLine: boolean,
  path: readonly string[] = [],
  steps: readonly unknown[] = [],
): Generator<{ readonly holder: Record<string, unknown>; readonly key: string; readonly name: string }> {
  if (path.length > DEEPEST_FRAGMENT) return
  for (const [key, item] of Object.entries(holder)) {
    const name = Array.isArray(holder) ? (fieldsOfEvent(item).index ?? key) : key
    const [to, named] = [
      [...path, key],
      [...steps, name],
    ]
    if (typeof item !== 'string') yield* fragmentsIn(fieldsOfEvent(item), isOnLine, to, named)
    else if (isFragment(to, isOnLine)) yield { holder, key, name: JSON.stringify(named) }
  }
}

function isFragment(path: readonly string[], isOnLine: boolean): boolean {
  if (path.includes('delta')) return !unsplitFields.has(path.at(-1))
  if (path[0] === 'choices') return path.at(-1) === 'text'
  return isOnLine && ollamaFields.has(path.join('.'))
}

function redactedPart({ text, isJson, isEvent }: BodyPart, redaction: Redaction): string {
  if (!isJson) return redaction.text(text)
  const lines = text.split(/(?<=\n)/)
  return lines
    .map(line => (isEvent && !line.startsWith('data:') ? redaction.text(line) : redactedJson(line, redaction)))
    .join('')
}

/** Hides what is secret by its name. */
function withoutFields(part: BodyPart, redaction: Redaction, path: string, contentType = ''): string {
  if (!part.isJson)
    return /\b(?:form-data|x-www-form-urlencoded)\b/.test(contentType)
      ? redaction.form(part.text, path, contentType)
      : part.text
  const value = exactJsonOf(documentIn(part.text, part.isEvent))
  const hidden = redaction.value(value, path)
  return hidden === value ? part.text : withDocument(part, hidden)
}

/** Redacts each text and number of some JSON in its place. */
function redactedJson(json: string, redaction: Redaction): string {
  const signs = /"|-?\d[\d.eE+-]*/g
  let result = ''
  let copiedTo = 0
  for (let sign = signs.exec(json); sign; sign = signs.exec(json)) {
    const { index } = sign
    if (sign[0] === '"') signs.lastIndex = closingQuote(json, index + 1) + 1
    const written = json.slice(index, signs.lastIndex)
    const before = sign[0] === '"' ? String(jsonOf(written)) : written
    const after = redaction.text(before)
    if (after === before) continue
    // Escapes beside the secret stay, unless it has some itself.
    const inPlace = redaction.text(written)
    result += json.slice(copiedTo, index) + (jsonOf(inPlace) === after ? inPlace : JSON.stringify(after))
    copiedTo = signs.lastIndex
  }
  return result + json.slice(copiedTo)
}

/** Removes the tokens in logprobs. They repeat the text, token by token, with bytes and alternatives. */
function removeTokens(part: BodyPart): void {
  if (!part.isJson || !part.text.includes('"logprobs"')) return
  const blank = (key: string, item: unknown) => {
    if (key === 'token') return ''
    return key === 'bytes' && Array.isArray(item) ? item.map(() => 0) : item
  }
  const value = JSON.parse(documentIn(part.text, part.isEvent), (key, item) =>
    key === 'logprobs' ? JSON.parse(JSON.stringify(item), blank) : item,
  )
  part.text = withDocument(part, value)
}

/** The part with another value, in the same style if it is a common one. */
function withDocument({ text, isEvent }: BodyPart, value: unknown): string {
  const before = documentIn(text, isEvent)
  const { style } = styleOf(before) ?? {}
  const json = style ? styled(value, style) : before.replace(/\S(?:.*\S)?/s, () => stringifyExact(value))
  if (text.includes(before)) return text.replace(before, () => json)
  const others = text.split(/\r?\n/).filter(line => line !== '' && !line.startsWith('data:'))
  return [...others, `data: ${json}`, '', ''].join('\n')
}

/** What has changed in each part, without the beginning and the end that are the same. */
function editsOf(parts: readonly BodyPart[]): readonly Edit[] {
  let position = 0
  return parts.flatMap(({ bytes, before, text }) => {
    const start = position
    position += bytes.length
    if (text === before) return []
    const changed = Buffer.from(text, encodingOf(bytes))
    const shorter = Math.min(bytes.length, changed.length)
    let front = 0
    while (front < shorter && bytes[front] === changed[front]) front++
    let back = 0
    while (back < shorter - front && bytes.at(-1 - back) === changed.at(-1 - back)) back++
    return [
      {
        start: start + front,
        end: start + bytes.length - back,
        bytes: changed.subarray(front, changed.length - back),
      },
    ]
  })
}
