/** Makes texts that match a regular expression. The one door of the package `randexp`. */

import randexp from 'randexp'
import type { Faker } from '../fake.js'

// What the package exports is the class itself; its types say that it is beside it.
const RandExp = randexp as unknown as typeof randexp.default

/** Stands for "without end" where randexp asks how often something is repeated. */
const ENDLESS = 1_000_003

/** So often things are repeated in all; a pattern that asks for more is not followed. */
const MOST_REPEATED = 1_000_000

/** More than there are characters to choose from: only repetitions are asked with such a range. */
const LARGEST_SET = 100

export interface Lengths {
  readonly least: number
  readonly most: number
}

/**
 * A text made after `pattern`; nothing where it cannot be read. It may still not match, for what looks ahead or back is not
 * followed. `attempt` counts up when it did not match, or was of another length.
 */
export function textLike(pattern: string, { least, most }: Lengths, attempt: number, faker: Faker): string | undefined {
  let repeated = 0
  const counted = (count: number) => {
    repeated += count
    if (repeated > MOST_REPEATED) throw new RangeError('Too long.')
    return count
  }
  try {
    const maker = new RandExp(pattern)
    maker.max = ENDLESS
    maker.randInt = (from, to) => {
      const range = to - from
      if (range <= LARGEST_SET) return counted(faker.number.int({ min: from, max: Math.max(from, to) }))
      // A few at first; later on as many as it takes if this is the one part that repeats.
      const few = { min: from, max: Math.min(to, from + Math.min(8, most)) }
      const enough = { min: Math.max(from, Math.min(to, least)), max: Math.max(from, Math.min(to, most, least + 8)) }
      return counted(faker.number.int(attempt % 3 === 2 && enough.min <= enough.max ? enough : few))
    }
    return maker.gen()
  } catch {
    return undefined
  }
}

/** Texts of many kinds: one of them may match what cannot be followed. */
export const manyKinds: readonly string[] = [
  'standin',
  'Standin',
  'STANDIN',
  'stand-in',
  'stand_in',
  'Str0ng!Passw0rd',
  'A1b2C3d4!',
  '12345',
  '7',
  '3.14',
  '-1',
  '2025-06-15',
  '2025-06-15T10:30:00Z',
  '10:30:00',
  'ada@example.com',
  'https://example.com/path',
  'example.com',
  '+15550100',
  '0b9f2a4e-3c1d-4e8f-9a7b-5d6c7e8f9012',
  '#1e90ff',
  '#',
  'AB',
  'ab',
  'a',
  'Ä',
  '日本',
  '🙂',
  'one two three',
  ' ',
  '',
]
