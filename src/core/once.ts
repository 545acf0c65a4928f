/** Puts work off until it is first asked for, and does it once. Work that rejects is done again for the next one who asks. */
export function once<T>(work: () => T): () => T {
  let done: { readonly value: T } | undefined
  return () => {
    if (done) return done.value
    const value = work()
    const mine = { value }
    done = mine
    if (value instanceof Promise) {
      value.catch(() => {
        if (done === mine) done = undefined
      })
    }
    return value
  }
}
