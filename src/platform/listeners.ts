/** At most this many values wait for the first listener, so that they do not fill the memory if there never is one. */
const MOST_PENDING = 500

/** Creates a list of listeners for values. The first listener also gets the values from before it was added. */
export function createListeners<T = void>() {
  const listeners: ((value: T) => void)[] = []
  const pending: T[] = []
  return {
    add(listener: (value: T) => void): void {
      listeners.push(listener)
      for (const value of pending.splice(0)) listener(value)
    },
    emit(value: T): void {
      if (listeners.length === 0 && pending.length < MOST_PENDING) pending.push(value)
      for (const listener of listeners) listener(value)
    },
  }
}
