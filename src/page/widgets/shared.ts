/** Values that all parts of the page share. */
import { useEffect, useState } from 'preact/hooks'

interface Shared<Value> {
  get(): Value
  set(value: Value): void
  /** The value, kept up to date in a component. */
  use(): Value
}

export function createShared<Value>(first: Value): Shared<Value> {
  let value = first
  const listeners = new Set<() => void>()
  return {
    get: () => value,
    set(next) {
      value = next
      for (const listener of listeners) listener()
    },
    use() {
      const [shown, setShown] = useState({ value })
      useEffect(() => {
        const listen = () => setShown(now => (Object.is(now.value, value) ? now : { value }))
        // It may have changed since the component was drawn.
        listen()
        listeners.add(listen)
        return () => void listeners.delete(listen)
      }, [])
      return shown.value
    },
  }
}
