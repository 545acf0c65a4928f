/** Splits a body into its texts, each joined from the pieces into which the network or the model has cut it, since a secret may cross a cut. */
import { isUtf8 } from 'node:buffer'
import { characterStart, eventsIn, linesIn } from '../completions/events.js'
import { jsonOf } from '../core/json.js'
import { type JsonText, jsonTexts } from './json-texts.js'
import type { RecordedChunk } from './recording.js'

/** The pieces of one text, in order. */
export type TextPassage = readonly Piece[]

/** The texts of a whole body: JSON, text, or bytes. */
export function passagesOfWhole(body: Body): readonly TextPassage[] {
  const { latin1 } = body
  // Some platforms write a byte order mark, which is not part of the JSON.
  const json = latin1.replace(/^\xef\xbb\xbf/, blank)
  const value = parsed(json)
  if (value === undefined) return [plainPieces(body, 0, latin1.length)]
  return Array.from(jsonTexts(json), ({ start, end, kind }) =>
    kind === 'number' ? [numberPiece(body, start, end)] : jsonPieces(body, start, end),
  )
}

/**
 * The texts of a stream of events, or of one document per line. Tokens are joined to one text. If nothing else is
 * suspicious, these texts are enough.
 */
export function passagesOfStream(body: Body, isSuspicious: boolean): readonly TextPassage[] {
  const { passages, add, addPlain, endPlain } = collectPassages(body, isSuspicious)
  const isOnLines = isDocument(body.latin1)
  for (const { start, end } of rangesOfEvents(body)) {
    const event = body.latin1.slice(start, end)
    const json = isDocument(event) ? event : event.replace(/^(?:data: ?|(?!data:).+)/gm, blank)
    const value = parsed(json)
    if (value === undefined) {
      addPlain(start, end)
      continue
    }
    endPlain()
    if (json !== event) {
      for (const { 0: line, index } of event.matchAll(/^(?!data:).+/gm)) {
        add(undefined, () => plainPieces(body, start + index, start + index + line.length))
      }
    }
    for (const text of jsonTexts(json)) {
      const [from, to] = [start + text.start, start + text.end]
      if (text.kind === 'number') add(undefined, () => [numberPiece(body, from, to)])
      else add(runningText(value, text.path, isOnLines), () => jsonPieces(body, from, to))
    }
  }
  return passages
}

function collectPassages(body: Body, isSuspicious: boolean) {
  const passages: Piece[][] = []
  const running = new Map<string, Piece[]>()
  /** Consecutive pieces that are not JSON. */
  let plain: Piece[] | undefined
  return {
    passages,
    /** Adds pieces to the text with this name; without a name they form a separate text. */
    add(name: string | undefined, pieces: () => readonly Piece[]): void {
      if (name === undefined && !isSuspicious) return
      const known = name === undefined ? undefined : running.get(name)
      if (known) {
        for (const piece of pieces()) known.push(piece)
        return
      }
      const passage = [...pieces()]
      passages.push(passage)
      if (name !== undefined) running.set(name, passage)
    },
    addPlain(start: number, end: number): void {
      if (!plain) {
        plain = []
        passages.push(plain)
      }
      for (const piece of plainPieces(body, start, end)) plain.push(piece)
    },
    endPlain(): void {
      plain = undefined
    },
  }
}

/** Removes the tokens in logprobs. They repeat the text, token by token, with bytes and alternatives. */
export function withoutTokens(body: Body, isEvents: boolean): readonly Edit[] {
  const documents = isEvents ? rangesOfEvents(body) : [{ start: 0, end: body.latin1.length }]
  const edits: Edit[] = []
  for (const { start, end } of documents) {
    const document = body.latin1.slice(start, end)
    if (!document.includes('"logprobs"')) continue
    const json = isDocument(document) ? document : document.replace(/^(?:data: ?|(?!data:).+)/gm, blank)
    if (parsed(json) === undefined) continue
    for (const text of jsonTexts(json)) {
      if (!isLogprobToken(text)) continue
      const bytes = Buffer.from(text.kind === 'number' ? '0' : '')
      edits.push({ start: start + text.start, end: start + text.end, bytes })
    }
  }
  return edits
}

const isLogprobToken = ({ path, kind }: JsonText) =>
  path.includes('logprobs') && (kind === 'number' ? path.at(-2) === 'bytes' : path.at(-1) === 'token')

const blank = (text: string) => ' '.repeat(text.length)

const isDocument = (event: string) => /^\s*[{[]/.test(event)

const numberPiece = ({ latin1 }: Body, start: number, end: number): Piece => ({
  ...{ start, end, text: latin1.slice(start, end) },
  encoding: 'number',
})

function parsed(json: string): unknown {
  return /^\s*["{[\d-]/.test(json) ? jsonOf(json) : undefined
}

/** The positions of the events, or of the lines if each line is a document. */
function rangesOfEvents({ bytes, latin1 }: Body): readonly { readonly start: number; readonly end: number }[] {
  const events = isDocument(latin1) ? linesIn(bytes) : eventsIn(bytes)
  let end = 0
  return events.map(event => {
    const start = end
    end += event.length
    return { start, end }
  })
}

/** Some bytes of the body, and the text that they stand for. */
export interface Piece {
  readonly start: number
  readonly end: number
  readonly text: string
  readonly encoding: 'utf8' | 'latin1' | 'json' | 'number'
}

/** A body, and where its chunks begin. */
export interface Body {
  readonly bytes: Buffer
  /** One character per byte. */
  readonly latin1: string
  readonly isUtf8: boolean
  readonly borders: readonly number[]
}

/** Pieces of literal bytes. They are cut at chunk boundaries, so that unchanged bytes can stay in their chunk. */
function plainPieces(body: Body, start: number, end: number): readonly Piece[] {
  const { bytes, latin1, borders } = body
  const text = latin1.slice(start, end)
  const isAscii = !/[\x80-\xff]/.test(text)
  const encoding = isAscii || body.isUtf8 || isUtf8(bytes.subarray(start, end)) ? 'utf8' : 'latin1'
  const inside = bordersInside(borders, start, end)
  // A character that crosses a border is a piece of its own.
  const cuts =
    encoding === 'utf8' ? inside.flatMap(cut => [characterStart(bytes, cut), characterEnd(bytes, cut)]) : inside
  if (isAscii && cuts.length === 0) return start < end ? [{ start, end, text, encoding }] : []
  return [start, ...cuts].flatMap((from, i) => {
    const to = cuts[i] ?? end
    return from < to ? [{ start: from, end: to, text: bytes.toString(encoding, from, to), encoding }] : []
  })
}

function characterEnd(bytes: Buffer, index: number): number {
  let end = index
  while (characterStart(bytes, end) < index && end < bytes.length) end++
  return end
}

const escapes = /\\(?:u[\dA-Fa-f]{4}|.)/g

/** The content of a JSON string: each escape is a piece, and so is the text between escapes. */
function jsonPieces(body: Body, start: number, end: number): readonly Piece[] {
  const inside = body.latin1.slice(start, end)
  if (!inside.includes('\\')) return plainPieces(body, start, end)
  const pieces: Piece[][] = []
  let position = start
  for (const { 0: code, index } of inside.matchAll(escapes)) {
    const from = start + index
    const to = from + code.length
    pieces.push([
      ...plainPieces(body, position, from),
      { start: from, end: to, text: JSON.parse(`"${code}"`), encoding: 'json' },
    ])
    position = to
  }
  return [...pieces.flat(), ...plainPieces(body, position, end)]
}

/** The edit for a piece whose text has changed, escaped again inside of a JSON string. */
export function editOf({ start, end, encoding, text: before }: Piece, text: string): readonly Edit[] {
  if (text === before) return []
  if (encoding === 'utf8' || encoding === 'latin1') return [{ start, end, bytes: Buffer.from(text, encoding) }]
  const json = JSON.stringify(text)
  return [{ start, end, bytes: Buffer.from(encoding === 'number' ? json : json.slice(1, -1)) }]
}

function bordersInside(borders: readonly number[], start: number, end: number): readonly number[] {
  let low = 0
  for (let high = borders.length; low < high; ) {
    const middle = (low + high) >> 1
    if ((borders[middle] ?? 0) <= start) low = middle + 1
    else high = middle
  }
  let last = low
  while ((borders[last] ?? end) < end) last++
  return borders.slice(low, last)
}

/** Fields of a delta that are sent whole in each event. */
const unsplitFields = new Set<unknown>(['type', 'role', 'id'])

/** The fields in which Ollama sends its answer piece by piece, in one document per line. */
const ollamaFields = new Set(['message.content', 'message.thinking', 'response', 'thinking'])

/**
 * The name of the text to which a fragment belongs; `undefined` for values that stand alone, such as a model's name, which
 * must not be joined. `event` is the object that contains `path`. `isOnLine` says whether it is a document on its own
 * line.
 */
function runningText(event: unknown, path: JsonText['path'], isOnLine: boolean): string | undefined {
  if (!isFragment(path, isOnLine)) return undefined
  const { type, index, output_index, content_index } = fieldsOf(event)
  return JSON.stringify([type, index, output_index, content_index, ...steps(event, path)])
}

function isFragment(path: JsonText['path'], isOnLine: boolean): boolean {
  if (path.includes('delta')) return !unsplitFields.has(path.at(-1))
  if (path[0] === 'choices') return path.at(-1) === 'text'
  return isOnLine && ollamaFields.has(path.join('.'))
}

/** The path with list positions replaced by the `index` field, since each choice comes in events of its own. */
function steps(event: unknown, path: JsonText['path']): readonly unknown[] {
  let node = event
  return path.map(step => {
    node = fieldsOf(node)[step]
    if (typeof step === 'string') return step
    return fieldsOf(node).index ?? step
  })
}

const fieldsOf = (value: unknown) =>
  (typeof value === 'object' && value !== null ? value : {}) as Record<string | number, unknown>

/** Replaces the bytes from `start` to `end`, counted across all chunks. */
export interface Edit {
  readonly start: number
  readonly end: number
  readonly bytes: Buffer
}

/**
 * Applies edits, which must not overlap. New bytes go to the chunk in which the edit begins. All others stay in their
 * chunk.
 */
export function edited(chunks: readonly RecordedChunk[], edits: readonly Edit[]): readonly RecordedChunk[] {
  const sorted = edits.toSorted(byStart)
  const result: RecordedChunk[] = []
  let next = 0
  let removedUntil = 0
  let chunkStart = 0
  for (const chunk of chunks) {
    const start = chunkStart
    const end = start + chunk.bytes.length
    chunkStart = end
    const parts: Buffer[] = []
    let position = Math.min(end, Math.max(start, removedUntil))
    for (let edit = sorted[next]; edit && edit.start < end; edit = sorted[++next]) {
      parts.push(chunk.bytes.subarray(position - start, edit.start - start), edit.bytes)
      removedUntil = edit.end
      position = Math.min(end, removedUntil)
    }
    const isUnchanged = parts.length === 0 && position === start
    result.push(
      isUnchanged ? chunk : { ...chunk, bytes: Buffer.concat([...parts, chunk.bytes.subarray(position - start)]) },
    )
  }
  return result
}

export const byStart = (a: Edit, b: Edit) => a.start - b.start
