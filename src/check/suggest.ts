/** Finds what the user probably meant. */
import { distance } from 'fastest-levenshtein'

/** Comparing takes quadratic time, and a longer text is not a misspelt name. */
const LONGEST = 200

/** The known name most similar to `written`, or `undefined` if none is similar enough. */
export function nearest(written: string, known: readonly string[]): string | undefined {
  if (written.length > LONGEST) return undefined
  const lower = written.toLowerCase()
  let best: string | undefined
  // Long names often begin alike.
  let bestDistance = Math.min(4, Math.max(2, Math.floor(written.length / 3))) + 1
  for (const name of known) {
    // Of two equally similar names, prefers the one of the same length: letters are swapped more often than left out.
    const currentDistance = distanceTo(name.toLowerCase(), lower) + Math.abs(written.length - name.length) / 1000
    if (currentDistance < bestDistance) [best, bestDistance] = [name, currentDistance]
  }
  return best
}

/** Swapped letters count as one mistake. */
const distanceTo = (name: string, written: string) =>
  name !== written && lettersOf(name) === lettersOf(written) ? 1 : distance(name, written)

const lettersOf = (word: string) => [...word].sort().join('')

export const suggesting = (name: string) => ` Did you mean "${name}"?`

/**
 * Returns ` Did you mean "models"?` to append to a sentence, or an empty text. `prefix` is a common beginning, which is
 * ignored.
 */
export function didYouMean(written: string, known: readonly string[], prefix = ''): string {
  const withoutPrefix = (name: string) => name.slice(prefix.length)
  const name = nearest(withoutPrefix(written), known.map(withoutPrefix))
  return name === undefined ? '' : suggesting(prefix + name)
}
