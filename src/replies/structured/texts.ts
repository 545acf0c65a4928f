/** Generates texts: by format, by pattern or by name, and of the required length. */
import { UnfitSchema } from '../../check/json-schema-form.js'
import type { Faker } from '../fake.js'
import { textNamed } from './field-names.js'
import { lengthened, makersOf } from './formats.js'
import { forRandexp, type Lengths, textLike } from './patterns.js'
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
  const patterns = [
    ...each(layers, ({ pattern }) => pattern).map(pattern => new RegExp(pattern, 'u')),
    ...each(layers, ({ loosePattern }) => loosePattern).map(pattern => new RegExp(pattern)),
  ]
  for (const text of candidates(layers, patterns, lengths, place, faker)) {
    const length = lengthOf(text)
    if (length < lengths.least || length > lengths.most) continue
    if (patterns.every(pattern => pattern.test(text)) && fits(text)) return { value: text }
  }
  return undefined
}

/** As validators count: an emoji is one character. */
const lengthOf = (text: string) => [...text].length

/** Candidates, the best first. */
function* candidates(
  layers: Layers,
  patterns: readonly RegExp[],
  lengths: Lengths,
  place: SchemaPlace,
  faker: Faker,
): Generator<string> {
  const formats = each(layers, ({ format, contentEncoding }) => format ?? contentEncoding)
  const makers = formats.flatMap(format =>
    makersOf(format).map(make => () => lengthened(format, make(faker, place), lengths.least)),
  )
  for (const make of makers) yield make()
  const named = textNamed(faker, place)
  yield patterns.length > 0 ? named : ofLength(named, lengths, faker)
  if (patterns.length > 0) {
    yield* fromPatterns(patterns, lengths, faker, rest => [...makers.map(make => make()), ofLength(named, rest, faker)])
  }
  yield* manyKinds
  for (const text of manyKinds) yield ofLength(text, lengths, faker)
}

/** Texts like each pattern, and texts with a piece like each of them. `others` are the texts to put the pieces into. */
function* fromPatterns(
  patterns: readonly RegExp[],
  lengths: Lengths,
  faker: Faker,
  others: (rest: Lengths) => readonly string[],
): Generator<string> {
  const forms = patterns.map(pattern => ({
    starts: pattern.source.startsWith('^'),
    ends: /(?<!\\)\$$/.test(pattern.source),
    pattern: forRandexp(pattern),
  }))
  for (let attempt = 0; attempt < PATTERN_TRIES; attempt++) {
    const pieces = forms.flatMap(({ pattern, ...form }) => {
      const text = textLike(pattern, lengths, attempt, faker)
      return text === undefined ? [] : [{ ...form, text }]
    })
    for (const { text } of pieces) yield text
    const parts = pieces.filter(({ starts, ends }) => !(starts && ends))
    if (parts.length === 0) continue
    const wholes = pieces.flatMap(piece => (parts.includes(piece) ? [] : [piece.text]))
    const taken = parts.reduce((sum, { text }) => sum + text.length, 0)
    const rest = { least: Math.max(0, lengths.least - taken), most: Math.max(0, lengths.most - taken) }
    for (const text of ['', ...others(rest), ...wholes]) yield* joined(text, parts)
  }
}

/** A text that matches a pattern, and whether the pattern asks for it at the beginning or the end. */
interface Piece {
  readonly text: string
  readonly starts: boolean
  readonly ends: boolean
}

/** All ways to give `text` these pieces. */
function joined(text: string, pieces: readonly Piece[]): readonly string[] {
  const inside = pieces.filter(({ starts, ends }) => !starts && !ends)
  const [first, last] = [pieces.filter(({ starts }) => starts), pieces.filter(({ ends }) => ends)]
  const withStarts = first.reduce((texts, piece) => texts.flatMap(one => startingWith(piece.text, one)), [text])
  const withMiddles = withStarts.map(one => [one, ...inside.map(piece => piece.text)].join(''))
  return last.reduce((texts, piece) => texts.flatMap(one => endingWith(piece.text, one)), withMiddles)
}

/** The maximum number of places where a piece is tried in place of a part of a text. */
const MOST_CUTS = 8

const placesOf = (character: string | undefined, text: string) =>
  text
    .split('')
    .flatMap((one, i) => (one === character ? [i] : []))
    .slice(0, MOST_CUTS)

/** `2024-` and `2025-06-15` are `2024-06-15`, too. */
const startingWith = (piece: string, text: string): readonly string[] => [
  ...placesOf(piece.at(-1), text)
    .map(i => piece + text.slice(i + 1))
    .toReversed(),
  piece + text,
]

/** `@acme.com` and `ada@example.com` are `ada@acme.com`, too. */
const endingWith = (piece: string, text: string): readonly string[] => [
  text + piece,
  ...placesOf(piece[0], text).map(i => text.slice(0, i) + piece),
]

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
