/** Converts values from code to JSON values, and refuses those that JSON would silently drop or change. */
import { types } from 'node:util'
import { type Path, pathInWords } from './check.js'
import { ProblemsError } from './problem.js'

export interface Origin {
  /** Names the call or the option in the error. */
  readonly origin: string
  /** Rules may contain regular expressions, which become text as in files, and BigInts, which are long whole numbers. */
  readonly isRule?: boolean
}

/** Returns the value as JSON represents it. Throws a ProblemsError that names the first field that JSON cannot represent. */
export function plainJson(value: unknown, origin: Origin, path: Path = [], above: readonly unknown[] = []): unknown {
  const what = unsupportedKind(value, origin, path)
  if (what !== undefined) throw notJson(origin, path, `is ${what}, which JSON cannot represent.`)
  if (origin.isRule && types.isRegExp(value)) return String(value)
  if (typeof value !== 'object' || value === null) return value
  if (above.includes(value)) throw notJson(origin, path, 'contains itself, which JSON does not allow.')
  const inside = (part: unknown, step: string | number) => plainJson(part, origin, [...path, step], [...above, value])
  if (Array.isArray(value)) return Array.from(value, inside)
  if (!isPlain(value)) return value
  const definedEntries = Object.entries(value).filter(([, part]) => part !== undefined)
  return Object.fromEntries(definedEntries.map(([key, part]) => [key, inside(part, key)]))
}

const notJson = ({ origin }: Origin, path: Path, predicate: string) =>
  new ProblemsError([{ origin, sentence: `${pathInWords(path) || 'the value'} ${predicate}` }])

/** Names a value that JSON would leave out, or write as null or `{}`; `undefined` for any other. */
function unsupportedKind(value: unknown, { isRule = false }: Origin, path: Path): string | undefined {
  switch (typeof value) {
    case 'function':
    case 'symbol':
      return `a ${typeof value}`
    case 'bigint':
      return isRule ? undefined : 'a BigInt'
    case 'number':
      return Number.isFinite(value) ? undefined : String(value)
    case 'undefined':
      // An undefined field counts as missing.
      return typeof path.at(-1) === 'number' ? 'undefined' : undefined
    case 'object':
      return value === null || (isRule && types.isRegExp(value)) ? undefined : unsupportedClass(value)
    default:
      return undefined
  }
}

/** The name of a class such as Map or Promise, whose objects JSON writes as `{}`. */
const unsupportedClass = (value: object) =>
  Array.isArray(value) || isPlain(value) || 'toJSON' in value || Object.keys(value).length > 0
    ? undefined
    : `a ${value.constructor.name}`

/** Also true for objects of another realm, such as those from `structuredClone` in jest. */
function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}
