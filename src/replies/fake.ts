/**
 * Generates a reply if no rule has one. The only file that imports `@faker-js/faker`, which is loaded by the first
 * call.
 */
import { hash } from 'node:crypto'
import type { Faker } from '@faker-js/faker'
import { type ChatRequest, textOf } from '../chat/request.js'
import { mulberry32 } from '../core/clock.js'
import { once } from '../core/work.js'

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
 * Generates a few sentences for each choice. They are the same for the same conversation, model, temperature and seed,
 * in whatever order they are requested.
 */
export async function fakeReplies(request: ChatRequest, seed: number, choices: number): Promise<readonly string[]> {
  const firstSeed = seedOf(request, seed)
  return withFaker(firstSeed, faker =>
    Array.from({ length: choices }, (_, i) => {
      faker.seed(variant(firstSeed, i))
      const sentences = faker.helpers.multiple(() => capitalized(faker.hacker.phrase()), { count: { min: 1, max: 3 } })
      return [faker.helpers.arrayElement(openings), ...sentences].join(' ')
    }),
  )
}

const capitalized = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

/** Returns the result of `use` with a faker set to `seed`. There is only one faker, so `use` cannot await anything. */
export async function withFaker<T>(seed: number, use: (faker: Faker) => T): Promise<T> {
  const faker = await loadFaker()
  faker.seed(seed)
  return use(faker)
}

/** A number that is the same for the same conversation, model, temperature and seed. */
export function seedOf({ model, messages, temperature, seed: requestSeed }: ChatRequest, seed: number): number {
  // Only fields that change the question. Whether the answer is streamed, for example, must not change it.
  return seedOfTexts([seed, requestSeed, model, temperature, messages.map(m => [m.role, textOf(m)])])
}

/** A number that is the same for the same values. */
export const seedOfTexts = (values: readonly unknown[]) =>
  Number.parseInt(hash('sha256', JSON.stringify(values), 'hex').slice(0, 8), 16)

/** Derives the seed of the nth variant; the first variant has the seed itself. */
export const variant = (seed: number, index: number) => (seed + Math.imul(index, 0x9e3779b1)) >>> 0

const loadFaker = once(async (): Promise<Faker> => {
  const { faker } = await import('@faker-js/faker/locale/en')
  // The class is taken from the instance, since the package's root would load all languages. We use our own instance,
  // so that other code does not change its state, with a generator that is cheap to seed.
  const { rawDefinitions } = faker
  const internet = { ...rawDefinitions.internet, free_email: [RESERVED], domain_suffix: [RESERVED] }
  const locale = { ...rawDefinitions, internet }
  return new (faker.constructor as typeof Faker)({ locale, randomizer: cheapToSeed() })
})

/** A domain that is reserved for examples (RFC 2606), since someone may write to, or call, generated addresses. */
const RESERVED = 'example.com'

/** Seeding faker's own generator takes about 20 µs. */
function cheapToSeed() {
  let next = mulberry32(0)
  return {
    seed(seed: number | number[]) {
      next = mulberry32(Number(seed))
    },
    next: () => next(),
  }
}
