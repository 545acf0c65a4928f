/** Makes a value for a schema: draws candidates until one validates. */
import type { Faker } from '../fake.js'
import { readDocument, type SchemaDocument } from './document.js'
import { type Budget, createMake } from './make.js'
import { drawPerson, type Place, wordsOf } from './place.js'
import type { Json } from './schema.js'
import { UnfitSchema } from './unfit.js'

/** So many candidates are drawn. */
const CANDIDATES = 40

/** So many places are tried for one candidate, and for all of them. */
const CANDIDATE_STEPS = 60_000
const ALL_STEPS = 120_000

interface Chance {
  readonly faker: Faker
  readonly seed: number
  /** What the value as a whole is. */
  readonly name: string
}

/** A value of `schema`. Throws an UnfitSchema where none was found. */
export function sampleOf(schema: unknown, chance: Chance): Json {
  const document = readDocument(schema)
  if (document.height(document.root) === Number.POSITIVE_INFINITY) throw nothingFits()
  return firstFit(document, chance)
}

const nothingFits = () => new UnfitSchema('no value fits the schema')

function firstFit(document: SchemaDocument, { faker, seed, name }: Chance): Json {
  let left = ALL_STEPS
  for (let candidate = 0; candidate < CANDIDATES && left > 0; candidate++) {
    // Knuth's multiplier: neighbours of a seed must not share their candidates.
    faker.seed((seed + Math.imul(candidate, 2_654_435_761)) | 0)
    const budget = createBudget(Math.min(left, CANDIDATE_STEPS))
    const make = createMake(document, faker, budget)
    const title = typeof document.root === 'object' ? document.root.title : undefined
    const place = topPlace(wordsOf(name || (title ?? '')), faker, candidate % 4 === 3 || budget.total < CANDIDATE_STEPS)
    const made = make([document.root], place)
    if (made && document.fits(made.value, [document.root])) return made.value
    left -= budget.spent()
  }
  throw left > 0 ? nothingFits() : new UnfitSchema('no value that fits the schema was found within reach')
}

const topPlace = (name: string, faker: Faker, shallow: boolean): Place => ({
  name,
  around: '',
  person: () => drawPerson(faker),
  depth: 0,
  again: 0,
  shallow,
})

function createBudget(total: number): Budget {
  let spent = 0
  return { total, spend: () => ++spent <= total, spent: () => spent }
}
