/** Compares what was recorded with what is said now, field by field. */
import type { Drift, Severity } from './drift.js'
import type { Field, Kind, Shape } from './shape.js'

/** The path of the whole value is empty. */
export function compareShapes(recorded: Shape, live: Shape, path = ''): readonly Drift[] {
  return [
    ...compareKinds(recorded, live, path),
    ...compareWords(recorded, live, path),
    ...compareFields(recorded, live, path),
    ...compareItems(recorded, live, path),
  ]
}

const drift = (severity: Severity, path: string, sentence: string): Drift => ({
  severity,
  path: path === '' ? 'body' : path,
  sentence,
})

function compareKinds({ kinds: recorded }: Shape, { kinds: live }: Shape, path: string): readonly Drift[] {
  const [gone, come] = [less(recorded, live), less(live, recorded)]
  if (gone.length === 0 && come.length === 0) return []
  const sentence = `recorded ${listed(recorded)}, live ${listed(live)}`
  return [drift(severityOfKinds({ gone, come, recorded, live }), path, sentence)]
}

interface Kinds {
  readonly gone: readonly Kind[]
  readonly come: readonly Kind[]
  readonly recorded: ReadonlySet<Kind>
  readonly live: ReadonlySet<Kind>
}

function severityOfKinds({ gone, come, recorded, live }: Kinds): Severity {
  const isOnlyNull = (kinds: ReadonlySet<Kind>) => kinds.size === 1 && kinds.has('null')
  if (isOnlyNull(recorded)) return 'warning'
  // With an object or an array everything inside it is gone; a single value that may be null is what most clients expect.
  if (isOnlyNull(live)) return gone.some(kind => kind === 'object' || kind === 'array') ? 'critical' : 'warning'
  if (come.some(kind => kind !== 'null')) return 'critical'
  if (gone.includes('null') || come.includes('null')) return 'warning'
  return 'info'
}

// The model's own choice, which is another one from time to time, like prose.
const endings = new Set(['stop', 'length'])

function compareWords({ words: recorded }: Shape, { words: live }: Shape, path: string): readonly Drift[] {
  if (recorded.size === 0 || live.size === 0) return []
  const [gone, come] = [less(recorded, live), less(live, recorded)]
  if (gone.length === 0 && come.length === 0) return []
  const isEnding = path.endsWith('finish_reason') && [...gone, ...come].every(word => endings.has(word))
  const severity = come.length === 0 || isEnding ? 'info' : 'critical'
  return [drift(severity, path, `recorded ${listed(recorded)}, live ${listed(live)}`)]
}

function compareFields(recorded: Shape, live: Shape, path: string): readonly Drift[] {
  // Where no object is left, that has been said already.
  if (!recorded.kinds.has('object') || !live.kinds.has('object')) return []
  const kept = [...recorded.fields].flatMap(([name, field]) =>
    compareField(field, live.fields.get(name), at(path, name)),
  )
  const fresh = [...live.fields].flatMap(([name, field]) =>
    recorded.fields.has(name) ? [] : [newField(name, field, at(path, name))],
  )
  return [...kept, ...fresh]
}

function compareField(recorded: Field, live: Field | undefined, path: string): readonly Drift[] {
  const was = listed(recorded.shape.kinds)
  if (!live) return [drift('critical', path, `recorded ${was}, live nothing`)]
  const inside = compareShapes(recorded.shape, live.shape, path)
  if (recorded.optional || !live.optional) return inside
  return [drift('info', path, 'recorded always there, live now and then'), ...inside]
}

/** An error where there was none is no addition. */
function newField(name: string, { shape }: Field, path: string): Drift {
  const isError = name === 'error' && !(shape.kinds.size === 1 && shape.kinds.has('null'))
  return drift(isError ? 'critical' : 'warning', path, `recorded nothing, live ${listed(shape.kinds)}`)
}

function compareItems(recorded: Shape, live: Shape, path: string): readonly Drift[] {
  if (!recorded.item || !live.kinds.has('array')) return []
  if (!live.item) return [drift('warning', `${path}[]`, 'recorded with items, live without')]
  return compareShapes(recorded.item, live.item, `${path}[]`)
}

const less = <T>(from: ReadonlySet<T>, these: ReadonlySet<T>): readonly T[] => [...from].filter(one => !these.has(one))

const listed = (words: Iterable<string>) => [...words].sort().join(' or ')

/** `choices[].message`, and `["odd name"]` where dots would mislead. */
function at(path: string, name: string): string {
  if (!/^[^\s.[\]"]+$/.test(name)) return `${path}[${JSON.stringify(name)}]`
  return path === '' ? name : `${path}.${name}`
}
