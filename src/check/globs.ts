/** Globs of addresses, as Supabase Auth reads them. */

/** Whether a position of a text can be reached, for each position from its beginning to its end. */
type Reached = readonly boolean[]

/** One element of a glob. Takes the positions where it may begin, and returns those where it may end. */
type Element = (from: Reached, text: string) => Reached

/**
 * Returns a function that tells whether a text matches a glob: `*` matches anything but `.` and `/`, `**` anything, `?`
 * one character, `[!a-z]` a character that is not listed, `{a,b}` either. Its time does not depend on where the stars
 * may end. Throws a SyntaxError for a range such as `[z-a]`, which contains nothing.
 */
export function globTest(glob: string): (text: string) => boolean {
  const elements = elementsOf(glob)
  return text => {
    const start = Array.from({ length: text.length + 1 }, (_, i) => i === 0)
    return through(elements, start, text).at(-1) === true
  }
}

/** Whether the ranges of a glob contain something. */
export function isGlob(text: string): boolean {
  try {
    globTest(text)
    return true
  } catch {
    return false
  }
}

const through = (elements: readonly Element[], from: Reached, text: string): Reached =>
  elements.reduce((reached, element) => element(reached, text), from)

const elementsOf = (glob: string): readonly Element[] =>
  Array.from(glob.matchAll(/\\.|\*\*|\[!?[^\]]+\]|\{[^{}]*\}|./gs), ([part]) => elementOf(part))

function elementOf(part: string): Element {
  const inside = part.slice(1, -1)
  if (part === '**') return several(/./s)
  if (part === '*') return several(/[^./]/)
  if (part === '?') return one(/[^./]/)
  if (part.length === 1) return one(new RegExp(literal(part)))
  if (part.startsWith('{')) return either(inside.split(',').map(elementsOf))
  if (part.startsWith('[!')) return one(new RegExp(`[^${literal(inside.slice(1))}]`))
  return one(new RegExp(part.startsWith('[') ? `[${literal(inside)}]` : literal(part.slice(1))))
}

const one =
  (character: RegExp): Element =>
  (from, text) =>
    from.map((_, i) => i > 0 && from[i - 1] === true && character.test(text.charAt(i - 1)))

const several =
  (character: RegExp): Element =>
  (from, text) => {
    let isInside = false
    return from.map((isStart, i) => {
      isInside = isStart || (isInside && character.test(text.charAt(i - 1)))
      return isInside
    })
  }

const either =
  (forms: readonly (readonly Element[])[]): Element =>
  (from, text) => {
    const ends = forms.map(form => through(form, from, text))
    return from.map((_, i) => ends.some(reached => reached[i] === true))
  }

const literal = (text: string) => text.replace(/[.+*?^${}()|[\]\\/]/g, '\\$&')
