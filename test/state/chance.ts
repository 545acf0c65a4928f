/** Chance that can be had again: the same seed, the same choices. */

export interface Chance {
  /** A whole number from 0 to below `end`. */
  below(end: number): number
  pick<T>(choices: readonly T[]): T
  /** Chance of its own for one of several clients that choose side by side. */
  branch(): Chance
}

/** The seed of this run; `CHANCE_SEED` sets that of an earlier one. */
export const seedOfRun = Number(process.env.CHANCE_SEED ?? Math.floor(Math.random() * 2 ** 32))

/** Mulberry32, which is enough to be unforeseen. */
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
