/** A clock that stands still while this process is not scheduled, so that a busy machine does not distort what tests measure. */

const EVERY_MS = 10

/** Anything beyond this means that the process was not scheduled. */
const MOST_MS = 2 * EVERY_MS

let ownMs = 0
let beganMs = performance.now()

/** How much of the current turn counts. */
const turnMs = () => Math.min(performance.now() - beganMs, MOST_MS)

setInterval(() => {
  ownMs += turnMs()
  beganMs = performance.now()
}, EVERY_MS).unref()

/** Milliseconds that this process has run; only differences are meaningful. */
export const ownTimeMs = (): number => ownMs + turnMs()
