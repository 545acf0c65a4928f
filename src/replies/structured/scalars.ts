/** Proposes texts and numbers for a schema, the best first; the caller takes the first that validates. */
import randexp, { type RandRegExp } from 'randexp'
import { matchInTime } from '../../check/endless.js'
import { compiled, isUsable } from '../../check/expressions.js'
import { UnfitSchema } from '../../check/unfit-schema.js'
import type { Faker } from '../fake.js'
import { each, greatest, type Layers, type SchemaPlace, smallest } from './schemas.js'

/** Texts that must be longer than this are not generated. */
const LONGEST_TEXT = 100_000

/** How often a text is drawn from a pattern before others are tried. */
const PATTERN_TRIES = 24

interface Lengths {
  readonly least: number
  readonly most: number
}

/** Proposes texts: by format, by name, by pattern, and some of many kinds. */
export function* textCandidates(layers: Layers, { name }: SchemaPlace, faker: Faker): Generator<string> {
  const least = greatest(layers, ({ minLength }) => minLength, 0)
  const most = smallest(layers, ({ maxLength }) => maxLength, Number.POSITIVE_INFINITY)
  if (least > LONGEST_TEXT) throw new UnfitSchema(`no value fits the schema: a text would need ${least} characters`)
  if (least > most) return
  const lengths = { least, most }
  const loose = each(layers, ({ loosePattern }) => loosePattern).map(one => compiled(one, isUsable(one) ? '' : 'u'))
  const strict = each(layers, ({ pattern }) => pattern).map(pattern => compiled(pattern, 'u'))
  // In this order, texts that several patterns ask for can be joined.
  const patterns = [...strict, ...loose].toSorted((a, b) => positionOf(a) - positionOf(b))
  const ofFormat = each(layers, ({ format, contentEncoding }) => format ?? contentEncoding).flatMap(format =>
    textsOfFormat(format, least, faker),
  )
  const named = (names.find(([pattern]) => pattern.test(name))?.[1] ?? sentence)(faker)
  const all = function* () {
    yield* ofFormat
    yield patterns.length > 0 ? named : ofLength(named, lengths, faker)
    for (let attempt = 0; patterns.length > 0 && attempt < PATTERN_TRIES; attempt++) {
      const texts = patterns.map(pattern => textLike(pattern, lengths, attempt, faker))
      yield* [...texts, texts.join('')]
    }
    for (const text of plainTexts) yield* [text, ofLength(text, lengths, faker)]
  }
  for (const text of all()) {
    const isLongEnough = text.length >= least && [...text].length <= most
    if (isLongEnough && loose.every(pattern => matchInTime(pattern, text) !== false)) yield text
  }
}

// The package exports the class itself, but its types say otherwise.
const RandExp = randexp as unknown as new (pattern: string) => Pick<RandRegExp, 'max' | 'randInt' | 'gen'>

/** Patterns that need more repetitions than this are refused. */
const MOST_REPEATED = 1_000_000

/** Where a pattern wants its text: at the beginning, somewhere, or at the end. */
const positionOf = ({ source }: RegExp) => (source.startsWith('^') ? 0 : source.endsWith('$') ? 2 : 1)

/** A text that `pattern` probably matches; empty if none can be drawn. `attempt` counts those that did not fit. */
function textLike({ source }: RegExp, { least, most }: Lengths, attempt: number, faker: Faker): string {
  let repeated = 0
  try {
    const maker = new RandExp(forRandexp(source))
    // What may repeat without end does so a few times, and sometimes as often as the length asks for.
    maker.max = attempt % 3 === 2 ? Math.max(8, least) : 8
    maker.randInt = (min, max) => {
      const count = faker.number.int({ min, max: Math.max(min, Math.min(max, min + most)) })
      repeated += count
      if (repeated <= MOST_REPEATED) return count
      throw new UnfitSchema('no value fits the schema: a text would need too many characters')
    }
    return maker.gen()
  } catch (error) {
    // The first attempt repeats as little as possible.
    if (error instanceof UnfitSchema && attempt === 0) throw error
    return ''
  }
}

/** Rewrites Unicode classes and named groups, which randexp does not know, as those of ASCII. */
const forRandexp = (source: string) =>
  source
    .replace(/\(\?<\w+>/g, '(')
    .replace(/\[(?:\\.|[^\]\\])*(?:\]|$)/g, all => all.replace(/\\p\{(.*?)\}/g, (_, kind: string) => rangeOf(kind)))
    .replace(/\\p\{(.*?)\}/g, (_, kind: string) => `[${rangeOf(kind)}]`)

const rangeOf = (kind: string) =>
  /^(Lu|Uppercase)/.test(kind) ? 'A-Z' : /^(Ll|Lowercase)/.test(kind) ? 'a-z' : /^N/.test(kind) ? '0-9' : 'A-Za-z'

/** Cuts the text between words, or adds words, so that it has the right length. */
function ofLength(text: string, { least, most }: Lengths, faker: Faker): string {
  let longer = text
  while (longer.length < least) longer += ` ${faker.hacker.phrase()}`
  if (longer.length <= most) return longer
  const cut = longer.slice(0, most)
  const words = cut.replace(/(?<![\s,.-])[\s,.-]{1,20}[^\s,.-]{0,100}$/, '')
  return words.length >= Math.max(1, least) ? words : cut
}

/** Texts of many kinds, one of which may match an unsupported pattern or a narrow length. */
const plainTexts: readonly string[] = (
  'standin Standin STANDIN stand-in stand_in Str0ng!Passw0rd A1b2C3d4! 12345 7 3.14 -1 2025-06-15 2025-06-15T10:30:00Z ' +
  '10:30:00 a@b.co http://a.co a:b a.co ::1 P1D /a 0 example.com +15550100 #1e90ff # AB ab a Ä 日本 🙂'
)
  .split(' ')
  .concat('one two three', ' ', '')

type MakeText = (faker: Faker) => string

/** `firstName`, `first_name` and `First name` are all `first name`. */
export const wordsOf = (key: string) =>
  key
    .slice(0, 100)
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .replace(/[^\p{L}\d]+/gu, ' ')
    .trim()
    .toLowerCase()

/** RFC 2606 reserves the domain for examples, so these addresses are never real. */
const email: MakeText = faker =>
  `${faker.person
    .firstName()
    .toLowerCase()
    .replace(/[^a-z]/g, '')}@example.com`
const address: MakeText = faker => `https://www.example.com/${faker.lorem.slug(2)}`
const sentence: MakeText = faker => faker.hacker.phrase().replace(/^./, letter => letter.toUpperCase())
/** A time in full minutes. It never depends on the current date: the same request gets the same answer tomorrow. */
const moment: MakeText = faker =>
  new Date(Date.UTC(2025, 0, 1) + faker.number.int(730 * 24 * 60) * 60_000).toISOString().replace('.000', '')
const date: MakeText = faker => moment(faker).slice(0, 10)

/** The commonest names of fields that are texts. The first match counts. */
const names: readonly (readonly [name: RegExp, make: MakeText])[] = [
  [/\be ?mails?$/, email],
  [/\b(first|given) ?name$/, faker => faker.person.firstName()],
  [/\b(last|family) ?name$|\bsurname$/, faker => faker.person.lastName()],
  [/\b(name|author|user|customer)s?$/, faker => faker.person.fullName()],
  [/\b(title|subject|headline)$/, faker => faker.company.catchPhrase()],
  [/\b(city|location)$/, faker => faker.location.city()],
  [/\bphone( number)?$/, faker => `+1 555 01${faker.string.numeric(2)}`],
  [/\b(url|link|website)s?$/, address],
  [/\b(\w+ at|time ?stamp)$/, moment],
  [/\b(date|day)$/, date],
  [/\b(id|code|key)s?$/, faker => faker.string.alphanumeric({ length: 10, casing: 'lower' })],
]

const encoded: MakeText = faker => Buffer.from(faker.hacker.noun().repeat(3).slice(0, 12)).toString('base64url')
const digits: MakeText = faker => faker.string.numeric({ length: 4, allowLeadingZeros: false })

/** The usual formats of JSON Schema and OpenAPI. Most of zod's come with a pattern. */
const formats: Readonly<Record<string, MakeText>> = {
  'date-time': moment,
  date,
  time: faker => moment(faker).slice(11),
  duration: faker => faker.helpers.arrayElement(['PT15M', 'PT30M', 'PT1H', 'PT1H30M', 'P1D', 'P1W']),
  email,
  hostname: faker => `${faker.internet.domainWord()}.example.com`,
  ipv4: faker => `192.0.2.${faker.number.int({ min: 1, max: 254 })}`,
  ipv6: faker => `2001:db8::${faker.string.hexadecimal({ length: 4, prefix: '', casing: 'lower' })}`,
  uri: address,
  url: address,
  'uri-reference': address,
  uuid: faker => faker.string.uuid(),
  byte: encoded,
  base64: encoded,
  base64url: encoded,
  int32: digits,
  int64: digits,
}

/** A text of a format, and one that is long enough; none if the format is unknown. */
function textsOfFormat(format: string, least: number, faker: Faker): readonly string[] {
  if (!Object.hasOwn(formats, format)) return []
  const text = formats[format]?.(faker) ?? ''
  return [text, /email/.test(format) ? text.padStart(least, 'a') : `${text}/`.padEnd(least, 'a')]
}

/** Bounds that are further apart do not indicate typical numbers: zod sets some for every integer. */
const WIDE = 1_000_000
const NUMBER_TRIES = 40

/** Proposes numbers within the bounds, and on the steps. */
export function numberCandidates(layers: Layers, isInteger: boolean, faker: Faker): readonly number[] {
  const format = each(layers, ({ format }) => format).find(format => /^u?int(8|16|32|64)$/.test(format))
  const largest = format === 'int32' ? 2 ** 31 - 1 : Number.MAX_VALUE
  const least = greatest(layers, l => Math.max(l.minimum ?? -largest, l.exclusiveMinimum ?? -largest), -largest)
  const most = smallest(layers, l => Math.min(l.maximum ?? largest, l.exclusiveMaximum ?? largest), largest)
  const steps = each(layers, ({ multipleOf }) => multipleOf)
  const step = Math.max(isInteger || format !== undefined ? 1 : 0, ...steps)
  // Within narrow bounds, or else from 1 to about 100, or as near to that as the bounds allow.
  const width = Math.max(100, 10 * step)
  const isNarrow = most - least <= WIDE
  const from = isNarrow ? least : Math.max(least, Math.min(1, most - width))
  const to = isNarrow ? most : Math.min(most, from + width)
  const drawn = Array.from({ length: NUMBER_TRIES }, () => faker.number.float() * (to - from) + from)
  if (step === 0) {
    // The fewest digits that stay within narrow bounds.
    const rounded = drawn.flatMap(value => [2, 4, 6, 9, 12, 15].map(digits => Number(value.toFixed(digits))))
    return [...rounded, least / 2 + most / 2, least, most].map(value => value + 0)
  }
  const first = Math.ceil(from / step)
  const counts = [...drawn.map(value => Math.round(value / step)), ...drawn.map((_, i) => first + i)]
  const values = counts.map(count => Number((count * step).toPrecision(15)) + 0)
  // Validators divide, and for a step such as 0.1 not every multiple divides evenly.
  return values.filter(value => [step, ...steps].every(one => Number.isInteger(value / one)))
}
