/** Generates texts: by format, by pattern or by name, and of the required length. */
import randexp, { type RandRegExp } from 'randexp'
import { UnfitSchema } from '../../check/json-schema-form.js'
import type { Faker } from '../fake.js'
import { textNamed } from './field-names.js'
import { lengthened, makersOf } from './formats.js'
import { each, type GeneratedValue, greatest, type Layers, type SchemaPlace, smallest } from './place.js'

/** Texts that must be longer than this are not generated. */
const LONGEST = 100_000

/** How often a text is drawn from a pattern before others are tried. */
const PATTERN_TRIES = 24

/** Generates a text for these layers that `fits`; `undefined` if none was found. */
export function makeText(
  layers: Layers,
  place: SchemaPlace,
  faker: Faker,
  fits: (text: string) => boolean,
): GeneratedValue | undefined {
  const lengths = {
    least: greatest(layers, ({ minLength }) => minLength, 0),
    most: smallest(layers, ({ maxLength }) => maxLength, Number.POSITIVE_INFINITY),
  }
  if (lengths.least > LONGEST)
    throw new UnfitSchema(`no value fits the schema: a text would need ${lengths.least} characters`)
  if (lengths.least > lengths.most) return undefined
  const loose = each(layers, ({ loosePattern }) => loosePattern).map(pattern => new RegExp(pattern))
  for (const text of candidates(layers, lengths, place, faker)) {
    const length = lengthOf(text)
    if (length < lengths.least || length > lengths.most) continue
    if (loose.every(pattern => pattern.test(text)) && fits(text)) return { value: text }
  }
  return undefined
}

/** As validators count: an emoji is one character. */
const lengthOf = (text: string) => [...text].length

/** Candidates, the best first. */
function* candidates(layers: Layers, lengths: Lengths, place: SchemaPlace, faker: Faker): Generator<string> {
  const formats = each(layers, ({ format, contentEncoding }) => format ?? contentEncoding)
  const patterns = each(layers, layer => layer.pattern ?? layer.loosePattern)
  for (const format of formats) {
    for (const make of makersOf(format)) yield lengthened(format, make(faker, place), lengths.least)
  }
  const named = textNamed(faker, place)
  yield patterns.length > 0 ? named : ofLength(named, lengths, faker)
  for (let attempt = 0; attempt < PATTERN_TRIES; attempt++) {
    for (const pattern of patterns) {
      const text = textLike(pattern, lengths, attempt, faker)
      if (text !== undefined) yield text
    }
  }
  yield* manyKinds
  for (const text of manyKinds) yield ofLength(text, lengths, faker)
}

/** Cuts the text between words, or adds words, so that it has the right length. */
function ofLength(text: string, { least, most }: Lengths, faker: Faker): string {
  if (text.length >= least && text.length <= most) return text
  let longer = text
  while (longer.length < least) longer += ` ${faker.hacker.phrase()}`
  if (longer.length <= most) return longer
  const cut = longer.slice(0, most)
  const words = cut.replace(/[\s,.-]+\S*$/, '')
  return words.length >= Math.max(1, least) ? words : cut
}

// The package exports the class itself, but its types say otherwise.
const RandExp = randexp as unknown as new (pattern: string) => Pick<RandRegExp, 'max' | 'randInt' | 'gen'>

/** Means "unlimited" when randexp asks for the number of repetitions. */
const ENDLESS = 1_000_003

/** The maximum number of repetitions in total. Patterns that require more are not supported. */
const MOST_REPEATED = 1_000_000

/** More than there are characters to choose from, so only repetitions have such a range. */
const LARGEST_SET = 100

interface Lengths {
  readonly least: number
  readonly most: number
}

/**
 * Generates a text from `pattern`; `undefined` if it cannot be parsed. The text may not match, because lookaheads and
 * lookbehinds are ignored. `attempt` counts texts that did not match or had the wrong length.
 */
function textLike(pattern: string, { least, most }: Lengths, attempt: number, faker: Faker): string | undefined {
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
      // A few at first; in later attempts as many as needed if this is the only part that repeats.
      const few = { min: from, max: Math.min(to, from + Math.min(8, most)) }
      const enough = { min: Math.max(from, Math.min(to, least)), max: Math.max(from, Math.min(to, most, least + 8)) }
      return counted(faker.number.int(attempt % 3 === 2 && enough.min <= enough.max ? enough : few))
    }
    return maker.gen()
  } catch {
    return undefined
  }
}

/** Texts of many kinds, one of which may match an unsupported pattern. */
const manyKinds: readonly string[] = [
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
