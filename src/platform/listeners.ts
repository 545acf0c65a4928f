/** At most this many values wait for the first listener. Without one, they must not fill the memory. */
const MOST_EARLY = 500

/** Functions that are called with each value that is told. The first one is also called with those told before it. */
export function createListeners<T = void>() {
  const listeners: ((value: T) => void)[] = []
  const early: T[] = []
  return {
    add(listener: (value: T) => void): void {
      listeners.push(listener)
      for (const value of early.splice(0)) listener(value)
    },
    tell(value: T): void {
      if (listeners.length === 0 && early.length < MOST_EARLY) early.push(value)
      for (const listener of listeners) listener(value)
    },
  }
}
