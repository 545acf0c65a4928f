/** Compares texts roughly in a microsecond: by the words that they have in common, of which a few are chosen by their hashes. */

/** The smallest hashes of the words in some texts, in order. */
export type Sketch = Uint32Array

const KEPT = 64
/** Longer words are images and other data. */
const LONGEST_WORD = 64
const FNV_OFFSET = 0x811c9dc5
const FNV_PRIME = 0x01000193
/** Spreads similar hashes, so that the smallest ones are of words by chance. */
const SPREAD = 0x9e3779b1

export function sketchOf(texts: readonly string[]): Sketch {
  const words = new Set<number>()
  for (const text of texts) addWords(text, words)
  return Uint32Array.from(words).sort().slice(0, KEPT)
}

/** Letters and digits, and all characters beyond ASCII, are parts of words. */
function addWords(text: string, words: Set<number>): void {
  let hash = FNV_OFFSET
  let length = 0
  for (let i = 0; i <= text.length; i++) {
    const code = text.charCodeAt(i)
    if (code > 127 || (code > 47 && code < 58) || (code > 64 && code < 91) || (code > 96 && code < 123)) {
      hash = Math.imul(hash ^ code, FNV_PRIME)
      length++
    } else if (length > 0) {
      if (length <= LONGEST_WORD) words.add(Math.imul(hash ^ (hash >>> 15), SPREAD) >>> 0)
      hash = FNV_OFFSET
      length = 0
    }
  }
}

/** From 0 for the same words to 1 for none in common. */
export function apart(one: Sketch, other: Sketch): number {
  let [i, j, common, all] = [0, 0, 0, 0]
  while (all < KEPT && (i < one.length || j < other.length)) {
    const [left = Number.POSITIVE_INFINITY, right = Number.POSITIVE_INFINITY] = [one[i], other[j]]
    if (left <= right) i++
    if (right <= left) j++
    if (left === right) common++
    all++
  }
  return all === 0 ? 0 : 1 - common / all
}
