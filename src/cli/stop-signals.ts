/** Lets a long command be interrupted, so that it can still report what it has found. */

/** The exit code after Ctrl-C, as in shells. */
export const EXIT_STOPPED = 130

/** Under npm, Ctrl-C arrives twice: from the terminal and from npm. The second one does not mean "kill now". */
export const ECHO_MS = 200

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Every wait listens to this signal. If one does not, the next Ctrl-C ends the process, as it does by default. */
export function stopOnSignals(): AbortSignal {
  const controller = new AbortController()
  const stop = () => {
    controller.abort()
    setTimeout(leave, ECHO_MS).unref()
  }
  // Removes the handlers instead of exiting: `exit` could block on a lost disk or on a pipe that is not read.
  const leave = () => {
    for (const signal of signals) process.off(signal, stop)
  }
  for (const signal of signals) process.on(signal, stop)
  return controller.signal
}
