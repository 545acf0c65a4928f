/** A clock that stands still while this process gets no turn: what a busy machine takes away from a test does not count. */

const EVERY_MS = 10

/** A turn that comes later than this was taken away. */
const MOST_MS = 2 * EVERY_MS

let ownMs = 0
let beganMs = performance.now()

/** How long this turn has been going on, as far as it counts. */
const turnMs = () => Math.min(performance.now() - beganMs, MOST_MS)

setInterval(() => {
  ownMs += turnMs()
  beganMs = performance.now()
}, EVERY_MS).unref()

/** Milliseconds that this process has had; only differences mean something. */
export const ownTimeMs = (): number => ownMs + turnMs()
