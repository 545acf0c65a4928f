/** Takes a body apart into its texts: in each of them a secret may stand, wherever the network or the model cut it. */
import { createEventSplitter } from '../../core/events.js'
import type { Sliced } from '../../core/slices.js'
import type { Edit } from './edits.js'
import { type JsonText, jsonTexts } from './json-texts.js'
import { type Body, jsonPieces, type Piece, plainPieces } from './passage.js'
import { runningText } from './running-texts.js'

/** Pieces of one text, in their order. */
export type Passage = readonly Piece[]

/** A whole body: JSON, text, or bytes. */
export function* passagesOfWhole(body: Body): Sliced<readonly Passage[]> {
  const { latin1 } = body
  // Some write a byte order mark, which is none of the JSON.
  const json = latin1.replace(/^\xef\xbb\xbf/, blank)
  const value = parsed(json)
  if (value === undefined) return [plainPieces(body, 0, latin1.length)]
  const passages: Passage[] = []
  for (const { start, end, kind } of jsonTexts(json)) {
    passages.push(kind === 'number' ? [numberPiece(body, start, end)] : jsonPieces(body, start, end))
    yield
  }
  return passages
}

/** Events, or one document on each line. What is said token by token is one text; where nothing else is suspicious, these will do. */
export function* passagesOfStream(body: Body, isSuspicious: boolean): Sliced<readonly Passage[]> {
  const passages: Piece[][] = []
  const isOnLines = isDocument(body.latin1)
  const running = new Map<string, Piece[]>()
  /** What is no JSON and stands behind one another. */
  let plain: Piece[] | undefined

  function add(name: string | undefined, pieces: () => readonly Piece[]): void {
    if (name === undefined && !isSuspicious) return
    const known = name === undefined ? undefined : running.get(name)
    if (known) {
      for (const piece of pieces()) known.push(piece)
      return
    }
    const passage = [...pieces()]
    passages.push(passage)
    if (name !== undefined) running.set(name, passage)
  }

  function addPlain(start: number, end: number): void {
    if (!plain) {
      plain = []
      passages.push(plain)
    }
    for (const piece of plainPieces(body, start, end)) plain.push(piece)
  }

  for (const { start, end } of eventsIn(body)) {
    yield
    const event = body.latin1.slice(start, end)
    const json = isDocument(event) ? event : event.replace(/^(?:data: ?|(?!data:).+)/gm, blank)
    const value = parsed(json)
    if (value === undefined) {
      addPlain(start, end)
      continue
    }
    plain = undefined
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

/** Takes the tokens out of logprobs: they spell once more what was said, each in a list with its bytes and what might have stood in its place. */
export function* withoutTokens(body: Body, isEvents: boolean): Sliced<readonly Edit[]> {
  const documents = isEvents ? eventsIn(body) : [{ start: 0, end: body.latin1.length }]
  const edits: Edit[] = []
  for (const { start, end } of documents) {
    yield
    const document = body.latin1.slice(start, end)
    if (!document.includes('"logprobs"')) continue
    const json = isDocument(document) ? document : document.replace(/^(?:data: ?|(?!data:).+)/gm, blank)
    if (parsed(json) === undefined) continue
    for (const text of jsonTexts(json)) {
      if (!isOfToken(text)) continue
      const bytes = Buffer.from(text.kind === 'number' ? '0' : '')
      edits.push({ start: start + text.start, end: start + text.end, bytes })
    }
  }
  return edits
}

const isOfToken = ({ path, kind }: JsonText) =>
  path.includes('logprobs') && (kind === 'number' ? path.at(-2) === 'bytes' : path.at(-1) === 'token')

const blank = (text: string) => ' '.repeat(text.length)

const isDocument = (event: string) => /^\s*[{[]/.test(event)

const numberPiece = ({ latin1 }: Body, start: number, end: number): Piece => ({
  ...{ start, end, text: latin1.slice(start, end) },
  written: 'number',
})

function parsed(json: string): unknown {
  if (!/^\s*["{[\d-]/.test(json)) return undefined
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}

/** Where the events are; lines where they are documents. */
function eventsIn({ bytes, latin1 }: Body): readonly { readonly start: number; readonly end: number }[] {
  const splitter = createEventSplitter()
  const events = isDocument(latin1) ? linesOf(bytes) : [...splitter.push(bytes), splitter.rest()]
  let end = 0
  return events.map(event => {
    const start = end
    end += event.length
    return { start, end }
  })
}

function linesOf(bytes: Buffer): readonly Buffer[] {
  const lines: Buffer[] = []
  let start = 0
  for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, start)) {
    lines.push(bytes.subarray(start, end + 1))
    start = end + 1
  }
  return [...lines, bytes.subarray(start)]
}
