/** Lets a long command be stopped in the midst of it, so that it can still say what it has found. */

/** What shells say of a process that Ctrl-C has ended. */
export const EXIT_STOPPED = 130

/** Ctrl-C reaches a process under npm twice, once from the terminal and once from npm; that is not impatience. */
export const ECHO_MS = 200

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Everything that is waited for listens to it. Where something does not, the next signal ends the process, as it does by itself. */
export function stopOnSignals(): AbortSignal {
  const controller = new AbortController()
  const stop = () => {
    controller.abort()
    setTimeout(leave, ECHO_MS).unref()
  }
  // Exiting would wait for the system, too: for a disk that is gone, or a pipe that nobody reads.
  const leave = () => {
    for (const signal of signals) process.off(signal, stop)
  }
  for (const signal of signals) process.on(signal, stop)
  return controller.signal
}
