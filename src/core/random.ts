/** Random numbers that follow from a seed, and ids that are unique across starts. */

/**
 * Tommy Ettinger's Mulberry32: evenly distributed from 0 up to, but not including, 1. Cheap to seed, which matters
 * because each stream has its own.
 */
export function mulberry32(seed: number): () => number {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/**
 * Returns a function that creates ids: `prefix`, then `random` letters and digits (a multiple of four) that stay the
 * same until the process ends, then eight that count up.
 */
export function createIds(prefix: string, random: number): () => string {
  // Not imported, because the dashboard uses this file and browsers do not have the module.
  const { randomBytes } = process.getBuiltinModule('node:crypto')
  const begin =
    prefix +
    randomBytes((random * 3) / 4)
      .toString('base64url')
      .replace(/[-_]/g, 'x')
  let count = 0
  return () => begin + (count++).toString(36).padStart(8, '0')
}
