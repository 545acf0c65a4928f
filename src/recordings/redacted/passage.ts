/** Takes a passage of a body apart into pieces that can be told apart again once they are redacted. */
import { isUtf8 } from 'node:buffer'
import { letterAt } from '../../core/events.js'
import type { Edit } from './edits.js'

/** Some bytes of the body, and what they say. */
export interface Piece {
  readonly start: number
  readonly end: number
  readonly text: string
  readonly written: 'utf8' | 'latin1' | 'json' | 'number'
}

/** A body, and where its chunks begin. */
export interface Body {
  readonly bytes: Buffer
  /** A character for each byte. */
  readonly latin1: string
  readonly isUtf8: boolean
  readonly borders: readonly number[]
}

/** Bytes of which each says what it says. They are cut where chunks are, so that what stays can stay in its chunk. */
export function plainPieces(body: Body, start: number, end: number): readonly Piece[] {
  const { bytes, latin1, borders } = body
  const said = latin1.slice(start, end)
  const isAscii = !/[\x80-\xff]/.test(said)
  const written = isAscii || body.isUtf8 || isUtf8(bytes.subarray(start, end)) ? 'utf8' : 'latin1'
  const cuts = bordersInside(borders, start, end).map(cut => (written === 'utf8' ? letterAt(bytes, cut) : cut))
  if (isAscii && cuts.length === 0) return start < end ? [{ start, end, text: said, written }] : []
  return [start, ...cuts].flatMap((from, i) => {
    const to = cuts[i] ?? end
    return from < to ? [{ start: from, end: to, text: bytes.toString(written, from, to), written }] : []
  })
}

const escapes = /\\(?:u[\dA-Fa-f]{4}|.)/g

/** The inside of a JSON text: each escape is a piece, and what is between them. */
export function jsonPieces(body: Body, start: number, end: number): readonly Piece[] {
  const inside = body.latin1.slice(start, end)
  if (!inside.includes('\\')) return plainPieces(body, start, end)
  const pieces: Piece[][] = []
  let at = start
  for (const { 0: code, index } of inside.matchAll(escapes)) {
    const from = start + index
    const to = from + code.length
    pieces.push([
      ...plainPieces(body, at, from),
      { start: from, end: to, text: JSON.parse(`"${code}"`), written: 'json' },
    ])
    at = to
  }
  return [...pieces.flat(), ...plainPieces(body, at, end)]
}

/** What has to be written for a piece that says something else now; inside of a JSON text as that has to be written. */
export function editOf(piece: Piece, text: string): readonly Edit[] {
  const { start, end, written } = piece
  if (text === piece.text) return []
  const encoding = written === 'latin1' ? 'latin1' : 'utf8'
  if (written === 'number') return [{ start, end, bytes: Buffer.from(JSON.stringify(text)) }]
  if (written === 'json') return [{ start, end, bytes: Buffer.from(JSON.stringify(text).slice(1, -1)) }]
  const [before, behind] = commonEnds(piece.text, text)
  return [
    {
      start: start + Buffer.byteLength(piece.text.slice(0, before), encoding),
      end: end - Buffer.byteLength(piece.text.slice(piece.text.length - behind), encoding),
      bytes: Buffer.from(text.slice(before, text.length - behind), encoding),
    },
  ]
}

/** How much two texts have in common at their beginnings and at their ends, whole characters only. */
function commonEnds(a: string, b: string): readonly [before: number, behind: number] {
  const most = Math.min(a.length, b.length)
  let before = 0
  while (before < most && a[before] === b[before]) before++
  if (isHigh(a.charCodeAt(before - 1))) before--
  let behind = 0
  while (behind < most - before && a[a.length - 1 - behind] === b[b.length - 1 - behind]) behind++
  if (isLow(a.charCodeAt(a.length - behind))) behind--
  return [before, behind]
}

const isHigh = (unit: number) => unit >= 0xd800 && unit < 0xdc00
const isLow = (unit: number) => unit >= 0xdc00 && unit < 0xe000

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
