/** Values shared by all parts of the page, and what is announced to screen readers. */
import { useEffect, useReducer, useRef } from 'preact/hooks'

export function createShared<Value>(first: Value) {
  let value = first
  const listeners = new Set<() => void>()

  /** A part of the value, kept up to date in a component, which is rendered again only when that part changes. */
  function useSelected<Part>(select: (value: Value) => Part): Part {
    const [, render] = useReducer((count: number) => count + 1, 0)
    const part = select(value)
    const latest = useRef({ select, part })
    latest.current = { select, part }
    useEffect(() => {
      const listen = () => {
        const { select, part } = latest.current
        if (!Object.is(select(value), part)) render(undefined as never)
      }
      // It may have changed since the component was rendered.
      listen()
      listeners.add(listen)
      return () => void listeners.delete(listen)
    }, [])
    return part
  }

  return {
    get: () => value,
    set(next: Value) {
      value = next
      for (const listener of listeners) listener()
    },
    use: () => useSelected(value => value),
    useSelected,
  }
}

/** What was announced to screen readers last. */
export const announced = createShared('')

/** Announces a change on the page to screen readers. */
export const announce = announced.set
