/** Does slow work once for each key that it is asked for, and remembers the last of them. */
export function remembered<T>(work: (key: string) => Promise<T>, most = 100): (key: string) => Promise<T> {
  const done = new Map<string, Promise<T>>()
  return key => {
    const known = done.get(key)
    if (known) return known
    const made = work(key)
    made.catch(() => done.delete(key))
    if (done.size >= most) done.delete(done.keys().next().value ?? '')
    done.set(key, made)
    return made
  }
}
