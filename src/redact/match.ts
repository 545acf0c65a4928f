/** Matches of secrets in a text: where they are, and replacing them. */

export interface Match {
  readonly start: number
  /** The index after its last character. */
  readonly end: number
  readonly name: string
  /** Whether several secrets may have this name, distinguished by numbers. */
  readonly isNumbered: boolean
}

/** Finds secrets in a text, in any order. Matches may overlap. */
export type Search = (text: string) => readonly Match[]

/** Overlapping matches become one, with the name of the longest; of equal ones, the first. */
export function merged(matches: readonly Match[]): readonly Match[] {
  if (matches.length < 2) return matches
  const sorted = [...matches].sort((a, b) => a.start - b.start || b.end - a.end)
  const result: Match[] = []
  let longest = 0
  for (const match of sorted) {
    const previous = result.at(-1)
    const length = match.end - match.start
    if (!previous || match.start >= previous.end) {
      result.push(match)
      longest = length
      continue
    }
    const end = Math.max(previous.end, match.end)
    result[result.length - 1] = { ...(length > longest ? match : previous), start: previous.start, end }
    longest = Math.max(longest, length)
  }
  return result
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
  const replaced: string[] = []
  let next = 0
  let pieceStart = 0
  for (const piece of pieces) {
    const pieceEnd = pieceStart + piece.length
    let out = ''
    let position = Math.max(pieceStart, Math.min(pieceEnd, matches[next - 1]?.end ?? 0))
    for (let match = matches[next]; match && match.start < pieceEnd; match = matches[++next]) {
      out += text.slice(position, match.start) + placeholder(match, text.slice(match.start, match.end))
      position = Math.min(pieceEnd, match.end)
    }
    replaced.push(out + text.slice(position, pieceEnd))
    pieceStart = pieceEnd
  }
  return replaced
}
