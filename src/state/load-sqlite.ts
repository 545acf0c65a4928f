/** Loads Node's SQLite without the warning that comes with it. A separate file: its test needs it alone. */

/**
 * Loads `node:sqlite`. Node 22 then warns that it is experimental, which does not help whoever runs Standin, so the
 * listeners, one of which prints warnings, do not hear of it. They hear of every other warning.
 */
export function loadSqlite() {
  const listeners = process.rawListeners('warning')
  const passOn = (warning: Error) => {
    if (!warning.message.startsWith('SQLite is an experimental feature'))
      for (const listener of listeners) listener.call(process, warning)
  }
  process.removeAllListeners('warning').on('warning', passOn)
  const loaded = process.getBuiltinModule('node:sqlite')
  // The warning is emitted in the next tick, before this.
  process.nextTick(() => {
    process.off('warning', passOn)
    for (const listener of listeners) process.on('warning', listener as (warning: Error) => void)
  })
  return loaded
}
