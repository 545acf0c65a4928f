/** Values shared by all parts of the page. */
import { useEffect, useState } from 'preact/hooks'

export function createShared<Value>(first: Value) {
  let value = first
  const listeners = new Set<() => void>()
  return {
    get: () => value,
    set(next: Value) {
      value = next
      for (const listener of listeners) listener()
    },
    /** The value, kept up to date in a component. */
    use() {
      const [shown, setShown] = useState({ value })
      useEffect(() => {
        const listen = () => setShown(now => (Object.is(now.value, value) ? now : { value }))
        // It may have changed since the component was rendered.
        listen()
        listeners.add(listen)
        return () => void listeners.delete(listen)
      }, [])
      return shown.value
    },
  }
}
