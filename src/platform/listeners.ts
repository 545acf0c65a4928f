/** Functions that are called with each value that is told. */
export function createListeners<T = void>() {
  const listeners: ((value: T) => void)[] = []
  return {
    add: (listener: (value: T) => void): void => void listeners.push(listener),
    tell(value: T): void {
      for (const listener of listeners) listener(value)
    },
  }
}
