/** Generates numbers within their bounds and steps, of a size that suits their name. */
import type { Faker } from '../fake.js'
import { each, type GeneratedValue, greatest, type Layers, smallest } from './place.js'

interface Range {
  readonly least: number
  readonly most: number
}

/** Generates a number for these layers; `undefined` if none was found. */
export function makeNumber(
  declared: Layers,
  name: string,
  type: 'integer' | 'number',
  faker: Faker,
): GeneratedValue | undefined {
  const format = each(declared, layer => layer.format).find(format => /^u?int(8|16|32|64)$/.test(format))
  const whole = type === 'integer' || format !== undefined
  const layers = format === 'int32' ? [...declared, { minimum: -(2 ** 31), maximum: 2 ** 31 - 1 }] : declared
  const bounds = boundsOf(layers)
  if (bounds.least > bounds.most) return undefined
  const steps = each(layers, ({ multipleOf }) => multipleOf)
  const usual = quantityOf(name, whole)
  const range = preferred(bounds, usual)
  const step = commonStep(whole ? [...steps, 1] : steps)
  if (step === undefined) return decimal(range, bounds.within, usual.decimals, faker)
  return multiple(range, step, bounds, steps, faker) ?? multiple(nearest(bounds, step), step, bounds, steps, faker)
}

interface Bounds extends Range {
  readonly within: (value: number) => boolean
}

function boundsOf(layers: Layers): Bounds {
  const above = greatest(layers, l => l.exclusiveMinimum, Number.NEGATIVE_INFINITY)
  const below = smallest(layers, l => l.exclusiveMaximum, Number.POSITIVE_INFINITY)
  const least = greatest(layers, l => l.minimum, Math.max(above, -Number.MAX_VALUE))
  const most = smallest(layers, l => l.maximum, Math.min(below, Number.MAX_VALUE))
  return { least, most, within: value => value >= least && value <= most && value > above && value < below }
}

/** Bounds that are further apart do not indicate typical numbers: zod sets some for every integer. */
const WIDE = 1_000_000

/** The typical part of the allowed range. */
function preferred({ least, most, within }: Bounds, usual: Quantity): Range {
  const common = { least: Math.max(least, usual.least), most: Math.min(most, usual.most) }
  const narrow = most - least <= WIDE
  // 1 to 100 is only a guess. Narrow bounds in the schema are better.
  if (usual.isGuess && narrow) return { least, most }
  if (common.least < common.most) return common
  if (narrow) return { least, most }
  if (common.least === common.most && within(common.least)) return common
  const near = Math.abs(least) < Math.abs(most) ? least : most
  const width = Math.max(100, Math.abs(near))
  return near === least
    ? { least, most: Math.min(most, least + width) }
    : { least: Math.max(least, most > 0 ? 0 : most - width), most }
}

/** Some steps from the bound that is nearer to 0, if no step falls into the typical range. */
function nearest({ least, most }: Range, step: number): Range {
  if (least <= 0 && most >= 0) return { least: Math.max(least, -step), most: Math.min(most, 10 * step) }
  return least > 0
    ? { least, most: Math.min(most, least + 10 * step) }
    : { least: Math.max(least, most - 10 * step), most }
}

function decimal(
  { least, most }: Range,
  within: Bounds['within'],
  decimals: number,
  faker: Faker,
): GeneratedValue | undefined {
  const drawn = least + faker.number.float() * (most - least)
  // The fewest digits that stay within narrow bounds.
  const rounded = [decimals, 2, 3, 4, 6, 9, 12, 15].map(digits => Number(drawn.toFixed(digits)))
  const value = [...rounded, drawn, least / 2 + most / 2, least, most].find(
    value => Number.isFinite(value) && within(value),
  )
  return value === undefined ? undefined : { value: value + 0 }
}

const TRIES = 60

function multiple(
  range: Range,
  step: number,
  { within }: Bounds,
  steps: readonly number[],
  faker: Faker,
): GeneratedValue | undefined {
  const [first, last] = [Math.ceil(range.least / step), Math.floor(range.most / step)]
  if (!(first <= last)) return undefined
  const isMultiple = (value: number) =>
    // Validators divide, and for a step such as 0.1 not every multiple divides evenly.
    Number.isInteger(value / step) && steps.every(one => Number.isInteger(value / one))
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const count = attempt < TRIES / 2 ? between(first, last, faker) : first + attempt - TRIES / 2
    const value = Number((count * step).toPrecision(15)) + 0
    if (within(value) && isMultiple(value)) return { value }
  }
  return undefined
}

const between = (first: number, last: number, faker: Faker) =>
  Math.min(last, first + Math.floor(faker.number.float() * (last - first + 1)))

/** The smallest number that is a multiple of all steps; `undefined` if there are none. */
function commonStep(steps: readonly number[]): number | undefined {
  const [first, ...rest] = [...new Set(steps)]
  if (first === undefined || rest.length === 0) return first
  const scale = 10 ** Math.max(...[first, ...rest].map(decimalsOf))
  const whole = [first, ...rest].map(step => Math.round(step * scale))
  return whole.reduce((a, b) => (a / greatestDivisor(a, b)) * b) / scale
}

const decimalsOf = (step: number) => {
  const [digits = '', exponent = '0'] = String(step).split('e')
  return Math.min(15, Math.max(0, (digits.split('.')[1]?.length ?? 0) - Number(exponent)))
}

const greatestDivisor = (a: number, b: number): number => (b === 0 ? a : greatestDivisor(b, a % b))

/** All whole numbers of these layers from the smallest one, to find one of a few that is not used yet. */
export function* wholeNumbers(layers: Layers, most: number): Generator<number> {
  const { least, most: last, within } = boundsOf(layers)
  const first = least === -Number.MAX_VALUE ? Math.min(0, Math.floor(last)) : Math.ceil(least)
  for (let count = 0; count < most && first + count <= last; count++) if (within(first + count)) yield first + count
}

/** The typical numbers for a name. */
interface Quantity extends Range {
  readonly decimals: number
  /** Whether the name is unknown. */
  readonly isGuess: boolean
}

type Row = readonly [name: RegExp, least: number, most: number, decimals?: number]

// The first match wins. A name is in lower case with a space between its words.
const rows: readonly Row[] = [
  [/\b(confidence|probability|likelihood|certainty|similarity|relevance|ratio|fraction|weight)\b/, 0.05, 0.99, 2],
  [/\b(lat|latitude)$/, -60, 70, 4],
  [/\b(lng|lon|long|longitude)$/, -170, 170, 4],
  [/\bage\b/, 18, 80],
  [/\b(temp|temperature)\b/, -5, 32, 1],
  [/\bhumidity\b/, 20, 95],
  [/\bpressure\b/, 980, 1040],
  [/\bwind\b/, 0, 60, 1],
  [/\b(percent|percentage|pct|progress)\b/, 1, 99],
  [/\b(rating|stars?)\b/, 1, 5, 1],
  [/\byears? (of )?experience\b/, 1, 30],
  [/\byear\b/, 1990, 2026],
  [/\bmonth\b/, 1, 12],
  [/\bday\b/, 1, 28],
  [/\bhours?\b/, 1, 23],
  [/\bminutes?\b/, 1, 59],
  [/\bseconds?\b/, 1, 59],
  [/\b(ms|millis|milliseconds|latency)\b/, 20, 2000],
  [/\b(timestamp|epoch|unix time)\b/, 1_735_689_600, 1_767_225_600],
  [/\b(price|cost|fee|subtotal|amount|total|balance|payment|revenue|discount|tax|tip)\b/, 5, 500, 2],
  [/\b(salary|income|budget)\b/, 30_000, 120_000],
  [/\b(quantity|qty)\b/, 1, 10],
  [/\b(count|number of|num)\b/, 1, 50],
  [/\bport\b/, 1024, 49_151],
  [/\b(status code|http status)\b/, 200, 200],
  [/\b(width|height|depth|length)\b/, 10, 1000],
  [/\b(population)\b/, 10_000, 5_000_000],
  [/\b(distance|km|miles|kilometers)\b/, 1, 500, 1],
  [/\b(calories|kcal)\b/, 80, 900],
  [/\b(servings?|guests|people|adults|rooms|seats)\b/, 1, 8],
  [/\b(page)\b/, 1, 20],
  [/\b(limit|top k|max results|page size|per page)\b/, 5, 50],
  [/\b(offset|index|position)\b/, 0, 20],
  [/\b(priority|severity|level|rank|step|order)\b/, 1, 5],
  [/\b(score|points|grade)\b/, 1, 100],
  [/\bid$/, 1, 10_000],
]

/** The typical range for `name`. */
export function quantityOf(name: string, whole: boolean): Quantity {
  const row = rowOf(name)
  if (!row) return { least: whole ? 1 : 0, most: 100, decimals: 2, isGuess: true }
  const [, least, most, decimals = 0] = row
  return { least, most, decimals, isGuess: false }
}

/** Whether a field with this name is typically a number. */
export const isQuantity = (name: string) => rowOf(name) !== undefined && !/\bid$/.test(name)

const rowOf = (name: string) => rows.find(([pattern]) => pattern.test(name))
