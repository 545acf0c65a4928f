/** Randomness: numbers that follow from a seed, and ids that no other start of the platform gives out. */

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

/** Makes ids of `prefix`, letters and digits: `random` of them the same for this start (a multiple of four), then eight that count. */
export function createIds(prefix: string, random: number): () => string {
  // Not imported: the dashboard's page uses the numbers, and a browser has no such module.
  const { randomBytes } = process.getBuiltinModule('node:crypto')
  const begin =
    prefix +
    randomBytes((random * 3) / 4)
      .toString('base64url')
      .replace(/[-_]/g, 'x')
  let count = 0
  return () => begin + (count++).toString(36).padStart(8, '0')
}
