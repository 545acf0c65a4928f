/** Finds the few rules that can match a text among many, by three or four characters that each of them requires. */

/** With fewer rules than this, trying all of them is faster. */
export const WORTH_INDEXING = 24

/**
 * `needlesOf` returns the texts of which a rule requires one, with ASCII letters in any case; empty if the rule can
 * match without them. Each text is scanned only once, whatever the number of rules.
 */
export function createRuleIndex<R>(rules: readonly R[], needlesOf: (rule: R) => readonly string[]) {
  const all = new Uint8Array(BUCKETS).fill(1)
  const gramsOfRules = rules.map(rule => needlesOf(rule).map(needle => [...new Set(gramsIn(needle, all))]))
  const frequency = new Map<number, number>()
  for (const gram of gramsOfRules.flat(2)) frequency.set(gram, (frequency.get(gram) ?? 0) + 1)
  const rarest = (grams: readonly number[]) =>
    grams.reduce((best, one) => ((frequency.get(one) ?? 0) < (frequency.get(best) ?? 0) ? one : best))

  /** Rules that may match any text, and the rules for each gram. */
  const always: number[] = []
  const rulesByGram = new Map<number, number[]>()
  /** Whether a rule may be waiting for a gram. Most grams of a text are ruled out here, in less time than the map takes. */
  const isIndexed = new Uint8Array(BUCKETS)
  for (const [place, needles] of gramsOfRules.entries()) {
    if (needles.length === 0 || needles.some(grams => grams.length === 0)) always.push(place)
    else
      for (const gram of new Set(needles.map(rarest))) {
        const others = rulesByGram.get(gram)
        if (others) others.push(place)
        else rulesByGram.set(gram, [place])
        isIndexed[bucketOf(gram)] = 1
      }
  }

  const alwaysRules = always.map(place => rules[place] as R)
  return {
    /** The rules that may match a text, in order. Those left out cannot match. */
    candidates(text: string): readonly R[] {
      const grams = gramsIn(text, isIndexed)
      if (grams.length === 0) return alwaysRules
      const found = new Set(always)
      for (const gram of grams) for (const place of rulesByGram.get(gram) ?? []) found.add(place)
      const places = [...found].sort((a, b) => a - b)
      return places.map(place => rules[place] as R)
    },
  }
}

const BUCKETS = 1 << 16
const bucketOf = (gram: number) => (gram ^ (gram >>> 13)) & (BUCKETS - 1)

/** What tells four characters from three. */
const FOUR_FLAG = 1 << 28

/**
 * Returns each three and each four ASCII characters in a row as a number, with capitals as lower-case letters, where the
 * bucket of that number is wanted.
 */
function gramsIn(text: string, isWanted: Uint8Array): readonly number[] {
  const grams: number[] = []
  let last = 0
  let length = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code > 127) {
      length = 0
      continue
    }
    last = ((last << 7) & (FOUR_FLAG - 1)) | (code >= 65 && code <= 90 ? code + 32 : code)
    const three = last & 0x1fffff
    const four = last | FOUR_FLAG
    length++
    if (length >= 3 && isWanted[bucketOf(three)] !== 0) grams.push(three)
    if (length >= 4 && isWanted[bucketOf(four)] !== 0) grams.push(four)
  }
  return grams
}
