/** Makes texts: by format, by pattern or by name, and of the length that is asked for. */
import type { Faker } from '../fake.js'
import { textNamed } from './field-names.js'
import { lengthened, makersOf } from './formats.js'
import { each, greatest, smallest } from './layers.js'
import { type Lengths, manyKinds, textLike } from './patterns.js'
import type { Layers, Made, Place } from './place.js'
import { UnfitSchema } from './unfit.js'

/** A text that has to be longer than this is not made. */
const LONGEST = 100_000

/** Texts are drawn after a pattern so often before others are tried. */
const PATTERN_TRIES = 24

/** A text of these layers that `fits`, or nothing where none was found. */
export function makeText(
  layers: Layers,
  place: Place,
  faker: Faker,
  fits: (text: string) => boolean,
): Made | undefined {
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

/** What a validator counts: an emoji is one character. */
const lengthOf = (text: string) => [...text].length

/** Texts, the best first. */
function* candidates(layers: Layers, lengths: Lengths, place: Place, faker: Faker): Generator<string> {
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

/** The text, cut between words or with more of them, so that it is of the right length. */
function ofLength(text: string, { least, most }: Lengths, faker: Faker): string {
  if (text.length >= least && text.length <= most) return text
  let longer = text
  while (longer.length < least) longer += ` ${faker.hacker.phrase()}`
  if (longer.length <= most) return longer
  const cut = longer.slice(0, most)
  const words = cut.replace(/[\s,.-]+\S*$/, '')
  return words.length >= Math.max(1, least) ? words : cut
}
