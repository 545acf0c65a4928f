/** The functions of faker as names in templates, without arguments: `faker.person.fullName`. */
import type { Token } from 'liquidjs'
import { didYouMean } from '../../check/suggest.js'
import type { Faker } from '../templates.js'
import { TemplateMistake, type TemplateValue } from './names.js'

export interface FakerFunction {
  readonly module: string
  readonly name: string
}

type Module = Readonly<Record<string, () => unknown>>

/** Its modules. Those of `helpers` work on arguments. */
function modulesOf(faker: Faker): Readonly<Record<string, Module>> {
  const all = Object.entries(faker).filter(([, part]) => typeof part === 'object' && part !== null)
  return Object.fromEntries(all.filter(([name]) => name !== 'fakerCore' && name !== 'helpers')) as Record<
    string,
    Module
  >
}

/**
 * Finds the function by name. Throws a TemplateMistake if there is none, or if it needs arguments.
 */
export function fakerFunction({ steps: [module, name], token }: TemplateValue, faker: Faker): FakerFunction {
  const modules = modulesOf(faker)
  if (typeof module !== 'string' || typeof name !== 'string') {
    throw new TemplateMistake('faker needs a module and a function, such as faker.person.fullName.', token)
  }
  requireKnown(module, modules, 'faker.', token)
  requireKnown(name, modules[module] ?? {}, `faker.${module}.`, token)
  try {
    callFaker(faker, module, name)
  } catch {
    throw new TemplateMistake(`faker.${module}.${name} needs arguments, which templates cannot give.`, token)
  }
  return { module, name }
}

/** Throws a TemplateMistake if `known` has no such name. */
function requireKnown(name: string, known: object, prefix: string, token: Token): void {
  if (Object.hasOwn(known, name)) return
  const names = Object.keys(known).map(one => prefix + one)
  const written = prefix + name
  throw new TemplateMistake(`${written} is not known in templates.${didYouMean(written, names, prefix)}`, token)
}

/** The faker that a template sees: only the functions that it uses. Each returns a new value whenever it is read. */
export function fakerFact(faker: Faker, functions: readonly FakerFunction[]): object {
  const fact: Record<string, Record<string, () => unknown>> = {}
  for (const { module, name } of functions)
    fact[module] = { ...fact[module], [name]: () => callFaker(faker, module, name) }
  return fact
}

/** The result of a function, as in JSON. Throws an Error if it needs arguments. */
function callFaker(faker: Faker, module: string, name: string): unknown {
  const value = modulesOf(faker)[module]?.[name]?.()
  if (value instanceof Date) return value.toISOString()
  if (typeof value === 'bigint') return String(value)
  return typeof value === 'string' ? atExample(value) : value
}

/** URLs of pictures lead to real servers. */
const atExample = (text: string) =>
  text.replace(/^(https?:\/\/)(?![^/?#]*\bexample\.(?:com|net|org)(?:[/:?#]|$))[^/?#]+/, '$1www.example.com')
