/** Replaces matches in a text that comes in pieces. */
import type { Match, Search } from './match.js'

/** A match is replaced in the piece in which it begins, and taken out of the following ones. */
export function replacedIn(
  pieces: readonly string[],
  search: Search,
  placeholder: (match: Match, value: string) => string,
): readonly string[] {
  const [only] = pieces
  const text = pieces.length === 1 && only !== undefined ? only : pieces.join('')
  const matches = search(text)
  if (matches.length === 0) return pieces
  const written: string[] = []
  let next = 0
  let pieceStart = 0
  for (const piece of pieces) {
    const pieceEnd = pieceStart + piece.length
    let out = ''
    let at = Math.max(pieceStart, Math.min(pieceEnd, matches[next - 1]?.end ?? 0))
    for (let match = matches[next]; match && match.start < pieceEnd; match = matches[++next]) {
      out += text.slice(at, match.start) + placeholder(match, text.slice(match.start, match.end))
      at = Math.min(pieceEnd, match.end)
    }
    written.push(out + text.slice(at, pieceEnd))
    pieceStart = pieceEnd
  }
  return written
}
