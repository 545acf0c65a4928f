/** The time that has passed, which goes on also where a test has put a clock of its own in place of the real one. */

/** In milliseconds, since the process has begun. */
export const passedMs: () => number = performance.now.bind(performance)
