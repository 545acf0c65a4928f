/** Finds what somebody probably meant to write. */
import { distance } from 'fastest-levenshtein'

/** The known name nearest to `written`, or `undefined` when none is near enough to be worth proposing. */
export function nearest(written: string, known: readonly string[]): string | undefined {
  const lower = written.toLowerCase()
  let best: string | undefined
  let bestDistance = Math.max(2, Math.floor(written.length / 3)) + 1
  for (const name of known) {
    const apart = distance(lower, name.toLowerCase())
    if (apart < bestDistance) [best, bestDistance] = [name, apart]
  }
  return best
}

/** ` Did you mean "models"?`, or nothing. Made to stand behind a sentence. */
export function didYouMean(written: string, known: readonly string[]): string {
  const name = nearest(written, known)
  return name === undefined ? '' : ` Did you mean "${name}"?`
}
