/** Lets a long command be stopped in the midst of it, so that it can still say what it has found. */

/** What shells say of a process that Ctrl-C has ended. */
export const EXIT_STOPPED = 130

/** Everything that is waited for listens to it. Under npm the same Ctrl-C comes twice; the second time says nothing new. */
export function stopOnSignals(): AbortSignal {
  const controller = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => controller.abort())
  return controller.signal
}
