/** Waits for an SQLite file that another process is writing to. */
import { setTimeout as pause } from 'node:timers/promises'

/** Tries until the file is free; after `patienceMs` it rejects with what SQLite says. */
export async function whenFree<T>(attempt: () => T, patienceMs: number): Promise<T> {
  const givesUpAt = performance.now() + patienceMs
  for (;;) {
    try {
      return attempt()
    } catch (error) {
      if (!isBusy(error) || performance.now() > givesUpAt) throw error
    }
    // SQLite's own waiting would stop the whole process, and with it whoever in it is to free the file. By chance, so that
    // processes that wait do not keep meeting.
    await pause(1 + Math.random() * 9)
  }
}

export const isBusy = (error: unknown): boolean => String((error as { code?: unknown }).code).startsWith('SQLITE_BUSY')
