/** Patterns of names in which `*` stands for anything, slashes included, and `?` for any one character. */

export interface Pattern {
  test(name: string): boolean
}

/** What matches the whole of `written`, in time that grows with the length of a name and not with the number of stars. */
export function glob(written: string): Pattern {
  const [first = '', ...rest] = written.split(/\*+/)
  const last = rest.pop()
  if (last === undefined) return new RegExp(`^${inExpression(first)}$`, 's')
  const around = new RegExp(`^${inExpression(first)}.*${inExpression(last)}$`, 's')
  if (rest.length === 0) return around
  const between = rest.map(part => new RegExp(inExpression(part), 'gs'))
  return {
    test(name) {
      if (!around.test(name)) return false
      let place = first.length
      // Each is taken where it comes first: if the rest does not fit behind that, it fits nowhere.
      for (const part of between) {
        part.lastIndex = place
        if (!part.test(name)) return false
        place = part.lastIndex
      }
      return place <= name.length - last.length
    },
  }
}

const inExpression = (part: string) => part.replace(/[.+^${}()|[\]\\]/g, '\\$&').replaceAll('?', '.')
