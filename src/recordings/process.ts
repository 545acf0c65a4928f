/** Which process left something behind, and whether it is still running, although another one may have its number by now. */
import { readFileSync } from 'node:fs'

/** A process by its number and, where the system tells it, by when it began after the start of the machine: `123.4567`. */
export function processName(pid = process.pid): string {
  const began = beganOf(pid)
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

/** In ticks, from Linux's /proc; no change of the clock changes it. */
function beganOf(pid: number): string | undefined {
  try {
    // The name of the program is in parentheses, and may contain some itself.
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
  } catch {
    return undefined
  }
}
