/** Long work in slices: between them the process answers whatever came in meanwhile. */

/** Work that pauses at each `yield`, and returns what it made. Pausing costs next to nothing, so it may be done for every line of a file. */
export type Sliced<T> = Generator<void, T, void>

/** Well below the pause between two pieces of a stream. */
const SLICE_MS = 5

/** Does the work, and lets others have their turn after every few milliseconds of it. Short work is done before this returns. */
export async function inSlices<T>(work: Sliced<T>): Promise<T> {
  for (;;) {
    const endMs = performance.now() + SLICE_MS
    do {
      const step = work.next()
      if (step.done) return step.value
    } while (performance.now() < endMs)
    await new Promise<void>(resolve => void setImmediate(resolve))
  }
}

/** Does the work in one go. */
export function atOnce<T>(work: Sliced<T>): T {
  for (;;) {
    const step = work.next()
    if (step.done) return step.value
  }
}
