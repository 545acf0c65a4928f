/** Reproducible randomness: the same seed makes the same choices. */

export interface Chance {
  /** An integer from 0 up to, but not including, `end`. */
  below(end: number): number
  pick<T>(choices: readonly T[]): T
  /** A generator of its own for one of several clients that run concurrently. */
  branch(): Chance
}

/** The seed of this run; set `CHANCE_SEED` to repeat an earlier one. */
export const seedOfRun = Number(process.env.CHANCE_SEED ?? Math.floor(Math.random() * 2 ** 32))

/** Mulberry32, which is random enough for tests. */
export function chanceFrom(seed: number): Chance {
  let state = seed | 0
  function next(): number {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return (mixed ^ (mixed >>> 14)) >>> 0
  }
  const below = (end: number) => next() % Math.max(end, 1)
  return {
    below,
    pick: <T>(choices: readonly T[]) => choices[below(choices.length)] as T,
    branch: () => chanceFrom(next()),
  }
}
