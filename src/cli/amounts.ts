/** Sizes, ages, durations and counts in readable form. */

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** `512 B`, `1.2 kB`, `34 MB`. */
export function inBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`
  const isSmall = bytes < 999_950
  const amount = bytes / (isSmall ? 1e3 : 1e6)
  return `${amount < 100 ? amount.toFixed(1) : Math.round(amount)} ${isSmall ? 'kB' : 'MB'}`
}

/** `5 m`, `3 h`, `12 d`. */
export function inAge(ms: number): string {
  if (ms < HOUR_MS) return `${Math.max(0, Math.floor(ms / 60_000))} m`
  return ms < 2 * DAY_MS ? `${Math.floor(ms / HOUR_MS)} h` : `${Math.floor(ms / DAY_MS)} d`
}

/** `320 ms`, `1.8 s`. */
export const inTime = (ms: number) => (ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`)

/** `1 recording`, `2 recordings`. */
export const counted = (count: number, noun: string) =>
  `${count.toLocaleString('en')} ${count === 1 ? noun : `${noun}s`}`
