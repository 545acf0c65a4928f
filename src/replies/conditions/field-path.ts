/** Paths to fields of a request, as in rules: `metadata.unit`, `messages[0].name`, `tools[-1].function.name`. */

type FieldPath = readonly (string | number)[]

const step = /(?:^|\.)([^.[\]]+)|\[(-?\d+)\]/gy

/** Parses a path into steps; `undefined` if it is invalid. */
export function fieldPath(written: string): FieldPath | undefined {
  const steps: (string | number)[] = []
  step.lastIndex = 0
  let read = 0
  while (read < written.length) {
    const found = step.exec(written)
    if (!found) return undefined
    const [, name, index] = found
    steps.push(name ?? Number(index))
    read = step.lastIndex
  }
  return steps.length > 0 ? steps : undefined
}

/** The value at `path`. Only own fields are read; a negative index counts from the end of a list. */
export function fieldAt(from: unknown, path: FieldPath): unknown {
  let value = from
  for (const key of path) {
    if (Array.isArray(value) && typeof key === 'number') value = value.at(key)
    else if (typeof value === 'object' && value !== null && Object.hasOwn(value, key))
      value = (value as Record<string, unknown>)[key]
    else return undefined
  }
  return value
}
