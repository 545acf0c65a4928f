/** Matches of secrets in a text: where they are, and replacing them. */

export interface Match {
  readonly start: number
  /** The index after its last character. */
  readonly end: number
  readonly name: string
  /** Whether there may be several of this name, distinguished by numbers. */
  readonly isNumbered: boolean
}

/** Finds secrets in a text, in any order. Matches may overlap. */
export type Search = (text: string) => readonly Match[]

/** Overlapping matches become one, with the name of the longest; of equal ones, the first. */
export function merged(matches: readonly Match[]): readonly Match[] {
  if (matches.length < 2) return matches
  const sorted = [...matches].sort((a, b) => a.start - b.start || b.end - a.end)
  const kept: Match[] = []
  let longest = 0
  for (const match of sorted) {
    const before = kept.at(-1)
    const length = match.end - match.start
    if (!before || match.start >= before.end) {
      kept.push(match)
      longest = length
      continue
    }
    const end = Math.max(before.end, match.end)
    kept[kept.length - 1] = { ...(length > longest ? match : before), start: before.start, end }
    longest = Math.max(longest, length)
  }
  return kept
}

/** A match is replaced in the piece where it begins, and removed from the following ones. */
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
