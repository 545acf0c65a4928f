/** Takes values from code for JSON, and refuses what JSON would leave out or change without a word. */
import { types } from 'node:util'
import { type Path, spoken } from './check.js'
import { ProblemsError } from './problem.js'

export interface Origin {
  /** Names the call or the option in the error. */
  readonly origin: string
  /** Rules may have regular expressions, which get their form in files, and BigInts, which are long whole numbers. */
  readonly isRule?: boolean
}

/** Returns the value as JSON has it. Throws a ProblemsError that names the first field which JSON cannot have. */
export function plainJson(value: unknown, from: Origin, path: Path = [], above: readonly unknown[] = []): unknown {
  const what = strangeness(value, from, path)
  if (what !== undefined) throw notJson(from, path, `is ${what}, which JSON does not have.`)
  if (from.isRule && types.isRegExp(value)) return String(value)
  if (typeof value !== 'object' || value === null) return value
  if (above.includes(value)) throw notJson(from, path, 'contains itself, which JSON cannot.')
  const inside = (part: unknown, step: string | number) => plainJson(part, from, [...path, step], [...above, value])
  if (Array.isArray(value)) return Array.from(value, inside)
  if (!isPlain(value)) return value
  const said = Object.entries(value).filter(([, part]) => part !== undefined)
  return Object.fromEntries(said.map(([key, part]) => [key, inside(part, key)]))
}

const notJson = ({ origin }: Origin, path: Path, predicate: string) =>
  new ProblemsError([{ origin, sentence: `${spoken(path) || 'what it is given'} ${predicate}` }])

/** What a value is that JSON would leave out, or write as null or `{}`. */
function strangeness(value: unknown, { isRule = false }: Origin, path: Path): string | undefined {
  switch (typeof value) {
    case 'function':
    case 'symbol':
      return `a ${typeof value}`
    case 'bigint':
      return isRule ? undefined : 'a BigInt'
    case 'number':
      return Number.isFinite(value) ? undefined : String(value)
    case 'undefined':
      // A field that is undefined is one that is not there.
      return typeof path.at(-1) === 'number' ? 'undefined' : undefined
    case 'object':
      return value === null || (isRule && types.isRegExp(value)) ? undefined : emptied(value)
    default:
      return undefined
  }
}

/** The name of a class such as Map or Promise, whose objects JSON writes as `{}`. */
const emptied = (value: object) =>
  Array.isArray(value) || isPlain(value) || 'toJSON' in value || Object.keys(value).length > 0
    ? undefined
    : `a ${value.constructor.name}`

/** Also for objects of another realm, such as those that `structuredClone` makes in jest. */
function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}
