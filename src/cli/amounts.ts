/** Sizes, ages, durations and counts in readable form. */
import prettyBytes from 'pretty-bytes'
import prettyMs from 'pretty-ms'

/** `512 B`, `1.2 kB`, `34 MB`. */
export const inBytes = (bytes: number) => prettyBytes(bytes, { maximumFractionDigits: 1 })

/** `5m`, `3h`, `12d`. */
export const inAge = (ms: number) => prettyMs(Math.max(1000, ms), { compact: true })

/** `3.2ms`, `320ms`, `1.8s`, `2m 5s`. */
export const inTime = (ms: number) => prettyMs(ms, { millisecondsDecimalDigits: ms < 100 ? 1 : 0 })

/** `1 recording`, `2 recordings`. */
export const counted = (count: number, noun: string) =>
  `${count.toLocaleString('en')} ${count === 1 ? noun : `${noun}s`}`
