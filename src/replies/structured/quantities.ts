/** The numbers that are usual under a name. */

export interface Quantity {
  readonly least: number
  readonly most: number
  readonly decimals: number
  /** Whether nothing is known of the name. */
  readonly isGuess: boolean
}

type Row = readonly [name: RegExp, least: number, most: number, decimals?: number]

// The first that matches. A name is in small letters, a space between its words.
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

/** The range that is usual under `name`. */
export function quantityOf(name: string, whole: boolean): Quantity {
  const row = rowOf(name)
  if (!row) return { least: whole ? 1 : 0, most: 100, decimals: 2, isGuess: true }
  const [, least, most, decimals = 0] = row
  return { least, most, decimals, isGuess: false }
}

/** Whether a number is what one expects under `name`. */
export const isQuantity = (name: string) => rowOf(name) !== undefined && !/\bid$/.test(name)

const rowOf = (name: string) => rows.find(([pattern]) => pattern.test(name))
