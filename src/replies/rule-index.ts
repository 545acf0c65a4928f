/** Finds the few rules that can match a text among many, by trigrams that each of them requires. */

/** With fewer rules than this, trying all of them is faster. */
export const WORTH_INDEXING = 24

interface RuleIndex<R> {
  /** The rules that may match a text, in order. Those left out cannot match. */
  candidates(text: string): readonly R[]
}

/**
 * `needlesOf` returns the texts of which a rule requires one, with ASCII letters in any case; empty if the rule can
 * match without them. Each text is scanned only once, whatever the number of rules.
 */
export function createRuleIndex<R>(rules: readonly R[], needlesOf: (rule: R) => readonly string[]): RuleIndex<R> {
  const lettersOf = rules.map(rule => needlesOf(rule).map(trigramsOf))
  const frequency = new Map<number, number>()
  for (const trigram of lettersOf.flat(2)) frequency.set(trigram, (frequency.get(trigram) ?? 0) + 1)
  const rarest = (trigrams: readonly number[]) =>
    trigrams.reduce((best, one) => ((frequency.get(one) ?? 0) < (frequency.get(best) ?? 0) ? one : best))

  /** Rules that may match any text, and the rules for each trigram. */
  const always: number[] = []
  const waiting = new Map<number, number[]>()
  for (const [place, needles] of lettersOf.entries()) {
    if (needles.length === 0 || needles.some(trigrams => trigrams.length === 0)) always.push(place)
    else
      for (const trigram of new Set(needles.map(rarest))) {
        const others = waiting.get(trigram)
        if (others) others.push(place)
        else waiting.set(trigram, [place])
      }
  }

  const usual = always.map(place => rules[place] as R)
  return {
    candidates(text) {
      const found = new Set<number>()
      eachTrigram(text, trigram => {
        const places = waiting.get(trigram)
        if (places) for (const place of places) found.add(place)
      })
      if (found.size === 0) return usual
      const places = [...found, ...always].sort((a, b) => a - b)
      return places.map(place => rules[place] as R)
    },
  }
}

function trigramsOf(text: string): readonly number[] {
  const trigrams = new Set<number>()
  eachTrigram(text, trigram => trigrams.add(trigram))
  return [...trigrams]
}

/** Visits all ASCII trigrams of a text as numbers, with capitals as lower-case letters. */
function eachTrigram(text: string, visit: (trigram: number) => void): void {
  let last = 0
  let length = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code > 127) {
      length = 0
      continue
    }
    last = ((last << 7) & 0x1fffff) | (code >= 65 && code <= 90 ? code + 32 : code)
    if (++length >= 3) visit(last)
  }
}
