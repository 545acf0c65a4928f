/** The functions of faker as names in templates: `faker.person.fullName`, `faker.number.int | with: max: 5`. */
import type { Token } from 'liquidjs'
import { didYouMean } from '../../check/suggest.js'
import type { Faker } from '../templates.js'
import { type FilterArgs, TemplateMistake, type TemplateValue } from './names.js'

/** A function that a template uses. */
export interface FakerFunction {
  readonly module: string
  readonly name: string
  /** Whether it is called with arguments. */
  readonly isCalled: boolean
}

type Module = Readonly<Record<string, (...given: unknown[]) => unknown>>

/** The only allowed helpers that just work on their arguments. Others interpret texts as templates or expressions. */
const allowedHelpers = ['arrayElement', 'arrayElements'] as const

function modulesOf(faker: Faker): Readonly<Record<string, Module>> {
  const all = Object.entries(faker).filter(([, part]) => typeof part === 'object' && part !== null)
  const { helpers } = faker
  return {
    ...(Object.fromEntries(all.filter(([name]) => name !== 'fakerCore')) as Record<string, Module>),
    helpers: Object.fromEntries(allowedHelpers.map(name => [name, helpers[name]])) as unknown as Module,
  }
}

/**
 * Finds the function by name. Throws a TemplateMistake if there is none, or if it needs arguments and gets none.
 */
export function fakerFunction({ steps: [module, name], token, call }: TemplateValue, faker: Faker): FakerFunction {
  const modules = modulesOf(faker)
  if (typeof module !== 'string' || typeof name !== 'string') {
    throw new TemplateMistake('faker needs a module and a function, such as faker.person.fullName.', token)
  }
  requireKnown(module, modules, 'faker.', token)
  requireKnown(name, modules[module] ?? {}, `faker.${module}.`, token)
  try {
    if (!call) callFaker(faker, module, name, [])
  } catch {
    const written = `faker.${module}.${name}`
    throw new TemplateMistake(`${written} needs arguments: {{ ${written} | with: … }}.`, token)
  }
  return { module, name, isCalled: call !== undefined }
}

/** Throws a TemplateMistake if `known` has no such name. */
function requireKnown(name: string, known: object, prefix: string, token: Token): void {
  if (Object.hasOwn(known, name)) return
  const names = Object.keys(known).map(one => prefix + one)
  const written = prefix + name
  throw new TemplateMistake(`${written} is not known in templates.${didYouMean(written, names, prefix)}`, token)
}

/** Named arguments, which are pairs, become one map after the others, as faker expects. */
function argumentsOf(given: FilterArgs, values: readonly unknown[]): readonly unknown[] {
  const isNamed = (_: unknown, i: number) => Array.isArray(given[i])
  const named = values.filter(isNamed) as [string, unknown][]
  const others = values.filter((_, i) => !isNamed(_, i))
  return named.length > 0 ? [...others, Object.fromEntries(named) as object] : others
}

/** A function that waits for its arguments. */
export class FakerCall {
  constructor(private readonly call: (given: readonly unknown[]) => unknown) {}

  /** `values` are the arguments of the filter, including pairs of name and value. */
  make(given: FilterArgs, values: readonly unknown[]): unknown {
    return this.call(argumentsOf(given, values))
  }
}

/** The name, during rendering, of a function that is called with arguments. */
export const calledName = (name: string) => `${name} with`

/** The faker that a template sees: only the functions that it uses. Each returns a new value whenever it is read. */
export function fakerFact(faker: Faker, functions: readonly FakerFunction[]): object {
  const fact: Record<string, Record<string, () => unknown>> = {}
  for (const { module, name, isCalled } of functions) {
    const call = (given: readonly unknown[]) => callFaker(faker, module, name, given)
    fact[module] = {
      ...fact[module],
      ...(isCalled ? { [calledName(name)]: () => new FakerCall(call) } : { [name]: () => call([]) }),
    }
  }
  return fact
}

/** The maximum amount of anything: words, letters, elements. */
const MOST = 1000
/** In these functions, numbers are not amounts of work. */
const quantities = /^(number|image|location|commerce)\.|^finance\.amount$|^date\.(?!betweens$)/

/** The result of a function, as in JSON. Throws an Error if that is not possible or would be too much. */
function callFaker(faker: Faker, module: string, name: string, given: readonly unknown[]): unknown {
  if (!quantities.test(`${module}.${name}`)) requireFew(given)
  const value = withReadableErrors(() => modulesOf(faker)[module]?.[name]?.(...given))
  if (value instanceof Date) return value.toISOString()
  if (typeof value === 'bigint') return String(value)
  return typeof value === 'string' ? atExample(value) : value
}

/** Faker has sentences for most wrong arguments; the others fail somewhere inside. */
function withReadableErrors<T>(call: () => T): T {
  try {
    return call()
  } catch (error) {
    throw error instanceof TypeError ? new Error('the function takes other arguments') : error
  }
}

function requireFew(given: unknown): void {
  if (typeof given === 'number' && given > MOST) throw new Error(`it makes at most ${MOST}`)
  if (typeof given === 'object' && given !== null) for (const part of Object.values(given)) requireFew(part)
}

/** URLs of pictures lead to real servers. */
const atExample = (text: string) =>
  text.replace(/^(https?:\/\/)(?![^/?#]*\bexample\.(?:com|net|org)(?:[/:?#]|$))[^/?#]+/, '$1www.example.com')
