/** Remembers what was found out about texts: a conversation comes again with each of its turns. */

/** Beyond either bound the texts that were not asked for longest are forgotten. */
export interface Bounds {
  readonly characters: number
  readonly texts: number
}

/** `find`, which is asked once for each text as long as the text is remembered. A text too long to be kept is found anew. */
export function remembered<T>(find: (text: string) => T, { characters, texts }: Bounds): (text: string) => T {
  const known = new Map<string, T>()
  let kept = 0

  function forgetOldest() {
    const oldest = known.keys().next().value ?? ''
    known.delete(oldest)
    kept -= oldest.length
  }

  return text => {
    const there = known.get(text)
    if (there !== undefined) {
      known.delete(text)
      known.set(text, there)
      return there
    }
    const found = find(text)
    if (text.length > characters) return found
    while (known.size >= texts || kept + text.length > characters) forgetOldest()
    known.set(text, found)
    kept += text.length
    return found
  }
}
