/** Which process left something behind, and whether it is still running, although another one may have its number by now; and where this one works. */
import { readFileSync } from 'node:fs'

/** A process by its number and, where the system tells it, by when it began after the start of the machine: `123.4567`. */
export function processName(pid = process.pid): string {
  // In ticks, from Linux's /proc; no change of the clock changes it. The name of the program is in parentheses, and may contain some itself.
  const stat = orElse(() => readFileSync(`/proc/${pid}/stat`, 'latin1'), '')
  const began = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
  return began === undefined ? String(pid) : `${pid}.${began}`
}

/** Whether the process of this name is still running. */
export function isLiving(name: string): boolean {
  const [pid] = name.split('.')
  return isRunning(Number(pid)) && processName(Number(pid)) === name
}

function isRunning(pid: number): boolean {
  try {
    // Signal 0 only checks whether the process exists.
    return pid > 0 && process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** Where this process works, which it may change; empty once that folder has been removed. */
export const workingFolder = () => orElse(() => process.cwd(), '')

/** What `ask` returns, or `otherwise` if the system has no answer. */
export function orElse<T>(ask: () => T, otherwise: T): T {
  try {
    return ask()
  } catch {
    return otherwise
  }
}
