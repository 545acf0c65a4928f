/** Chance that can be repeated: numbers that follow from a seed. */

/** Tommy Ettinger's Mulberry32: from 0 to 1, without 1, evenly. Cheap to seed, which matters where every stream has its own. */
export function mulberry32(seed: number): () => number {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
