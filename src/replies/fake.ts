/** Makes up a reply where no rule has one. The only entry point to the package `@faker-js/faker`, which is loaded by the first call. */
import { hash } from 'node:crypto'
import type { Faker } from '@faker-js/faker'
import { type ChatRequest, textOf } from '../completions/request.js'
import { mulberry32 } from '../core/random.js'
import { onceLoaded } from '../core/work.js'

export type { Faker } from '@faker-js/faker'

const openings = [
  'Good question.',
  'Let me put it this way.',
  'In short, yes.',
  'That depends on what you need.',
  'Here is how I would do it.',
  'There is more than one answer to that.',
]

/**
 * For each choice a few sentences, the same for the same conversation, model, temperature and seed, in whatever order they are asked for.
 */
export async function fakeReplies(request: ChatRequest, seed: number, choices: number): Promise<readonly string[]> {
  const own = seedOf(request, seed)
  return withFaker(own, faker =>
    Array.from({ length: choices }, (_, i) => {
      faker.seed(variant(own, i))
      const sentences = faker.helpers.multiple(() => capitalized(faker.hacker.phrase()), { count: { min: 1, max: 3 } })
      return [faker.helpers.arrayElement(openings), ...sentences].join(' ')
    }),
  )
}

const capitalized = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

/** What `use` makes with a faker that is set to `seed`. There is only one, so nothing can be awaited in between. */
export async function withFaker<T>(seed: number, use: (faker: Faker) => T): Promise<T> {
  const faker = await loadFaker()
  faker.seed(seed)
  return use(faker)
}

/** A number that is the same for the same conversation, model, temperature and seed. */
export function seedOf({ model, messages, temperature, seed: own }: ChatRequest, seed: number): number {
  // Only what makes another question: whether the answer is streamed, for one, must not change it.
  return seedOfTexts([seed, own, model, temperature, messages.map(m => [m.role, textOf(m)])])
}

/** A number that is the same for the same values. */
export const seedOfTexts = (values: readonly unknown[]) =>
  Number.parseInt(hash('sha256', JSON.stringify(values), 'hex').slice(0, 8), 16)

/** A seed of its own for each of several things that are made of one; the first is the seed itself. */
export const variant = (seed: number, index: number) => (seed + Math.imul(index, 0x9e3779b1)) >>> 0

const loadFaker = onceLoaded(async (): Promise<Faker> => {
  const { faker } = await import('@faker-js/faker/locale/en')
  // Its class comes from the instance: the package's root would load every language there is.
  // An instance of our own, so that other calls do not move its state; with a generator that is cheap to seed.
  const { rawDefinitions } = faker
  const internet = { ...rawDefinitions.internet, free_email: [RESERVED], domain_suffix: [RESERVED] }
  const locale = { ...rawDefinitions, internet }
  return new (faker.constructor as typeof Faker)({ locale, randomizer: cheapToSeed() })
})

/** A domain that is reserved for examples (RFC 2606), since made-up addresses may be written to, or called. */
const RESERVED = 'example.com'

/** Faker's own generator takes some 20 µs for each seeding. */
function cheapToSeed() {
  let next = mulberry32(0)
  return {
    seed(seed: number | number[]) {
      next = mulberry32(Number(seed))
    },
    next: () => next(),
  }
}
