/** Replaces texts in a JSON value of any depth. */

/** An object or array that is being walked. */
interface Level {
  readonly from: object
  readonly left: Iterator<readonly [name: string | number, value: unknown]>
  readonly names: string[]
  readonly values: unknown[]
  isChanged: boolean
}

const levelOf = (from: object): Level => ({
  from,
  left: Array.isArray(from) ? from.entries() : Object.entries(from)[Symbol.iterator](),
  names: [],
  values: [],
  isChanged: false,
})

/** Calls `leaf` for everything but objects and arrays, and for field names. Returns the same value if nothing changes. */
export function withLeaves(root: unknown, leaf: (value: unknown) => unknown): unknown {
  const top = levelOf([root])
  const open = [top]
  // No recursion: the nesting may be of any depth.
  for (let level = open.at(-1); level; level = open.at(-1)) {
    const next = level.left.next()
    if (next.done) {
      open.pop()
      const above = open.at(-1)
      if (above) keep(above, level.from, level.isChanged ? built(level) : level.from)
      continue
    }
    const [name, value] = next.value
    if (typeof name === 'string') keepName(level, name, String(leaf(name)))
    if (typeof value === 'object' && value !== null) open.push(levelOf(value))
    else keep(level, value, leaf(value))
  }
  return top.values[0]
}

function keep(level: Level, was: unknown, is: unknown): void {
  level.values.push(is)
  if (is !== was) level.isChanged = true
}

function keepName(level: Level, was: string, is: string): void {
  level.names.push(is)
  if (is !== was) level.isChanged = true
}

const built = ({ from, names, values }: Level): object =>
  Array.isArray(from) ? values : Object.fromEntries(names.map((name, i) => [name, values[i]]))
