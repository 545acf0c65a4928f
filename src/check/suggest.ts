/** Finds what the user probably meant to write. */
import { distance } from 'fastest-levenshtein'

/** The known name nearest to `written`, or `undefined` when none is near enough to be worth proposing. */
export function nearest(written: string, known: readonly string[]): string | undefined {
  const lower = written.toLowerCase()
  let best: string | undefined
  let bestDistance = Math.max(2, Math.floor(written.length / 3)) + 1
  for (const name of known) {
    // Of two equally near ones, the one of the same length: letters are swapped more often than left out.
    const apart = distanceTo(name.toLowerCase(), lower) + Math.abs(written.length - name.length) / 1000
    if (apart < bestDistance) [best, bestDistance] = [name, apart]
  }
  return best
}

/** Swapped letters count as one mistake. */
const distanceTo = (name: string, written: string) =>
  name !== written && lettersOf(name) === lettersOf(written) ? 1 : distance(name, written)

const lettersOf = (word: string) => [...word].sort().join('')

/** ` Did you mean "models"?`, or nothing, to follow a sentence. `prefix` is a common beginning, which does not count. */
export function didYouMean(written: string, known: readonly string[], prefix = ''): string {
  const own = (name: string) => name.slice(prefix.length)
  const name = nearest(own(written), known.map(own))
  return name === undefined ? '' : ` Did you mean "${prefix}${name}"?`
}
