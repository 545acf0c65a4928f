/** Lets the user stop a long command, which can still report what it has found. */

/** The exit code after Ctrl-C, as in shells. */
export const EXIT_STOPPED = 130

/** Under npm, Ctrl-C arrives twice: from the terminal and from npm. The second one does not mean "kill now". */
export const ECHO_MS = 200

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Returns a signal that Ctrl-C aborts. If the command does not stop then, another Ctrl-C ends the process. */
export function stopOnSignals(): AbortSignal {
  const controller = new AbortController()
  const stop = () => {
    controller.abort()
    setTimeout(removeHandlers, ECHO_MS).unref()
  }
  // Restores the default behaviour instead of calling `exit`, which could block on a lost disk or an unread pipe.
  const removeHandlers = () => {
    for (const signal of signals) process.off(signal, stop)
  }
  for (const signal of signals) process.on(signal, stop)
  return controller.signal
}
