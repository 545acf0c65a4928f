/** The functions of faker as names in templates: `faker.person.fullName`. */
import { didYouMean } from '../../core/suggest.js'
import type { Faker } from './facts.js'
import { type Named, Refusal } from './names.js'

/** A function that a template names. */
export interface FakerFunction {
  readonly module: string
  readonly name: string
}

type Modules = Readonly<Record<string, Readonly<Record<string, () => unknown>>>>

/** The modules that make data. `helpers` works on arguments, which templates do not give. */
function modulesOf(faker: Faker): Modules {
  const all = Object.entries(faker).filter(([, part]) => typeof part === 'object' && part !== null)
  return Object.fromEntries(all.filter(([name]) => name !== 'fakerCore' && name !== 'helpers')) as unknown as Modules
}

const functionsOf = (module: Modules[string]) => Object.keys(module).filter(key => typeof module[key] === 'function')

/** Which function is named. Throws a Refusal when there is none, or none without arguments. */
export function fakerFunction({ steps: [module, name], token }: Named, faker: Faker): FakerFunction {
  const modules = modulesOf(faker)
  if (typeof module !== 'string' || typeof name !== 'string') {
    throw new Refusal('faker is named with a module and a function, such as faker.person.fullName.', token)
  }
  if (!Object.hasOwn(modules, module)) {
    const names = Object.keys(modules).map(known => `faker.${known}`)
    const written = `faker.${module}`
    throw new Refusal(`${written} is not known in templates.${didYouMean(written, names, 'faker.')}`, token)
  }
  const functions = functionsOf(modules[module] ?? {})
  const written = `faker.${module}.${name}`
  if (!functions.includes(name)) {
    const prefix = `faker.${module}.`
    const names = functions.map(known => prefix + known)
    throw new Refusal(`${written} is not known in templates.${didYouMean(written, names, prefix)}`, token)
  }
  try {
    modules[module]?.[name]?.()
  } catch {
    throw new Refusal(`${written} needs arguments, and templates give none.`, token)
  }
  return { module, name }
}

/** What a template sees of faker: the functions that it names and no others, each making something new when it is read. */
export function fakerFact(faker: Faker, functions: readonly FakerFunction[]): object {
  const modules = modulesOf(faker)
  const fact: Record<string, Record<string, () => unknown>> = {}
  for (const { module, name } of functions) {
    fact[module] = { ...fact[module], [name]: () => plain(modules[module]?.[name]?.()) }
  }
  return fact
}

/** As it would stand in JSON. */
function plain(made: unknown): unknown {
  if (made instanceof Date) return made.toISOString()
  return typeof made === 'bigint' ? String(made) : made
}
