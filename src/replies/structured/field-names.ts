/** Typical values for fields by their names. */

import type { TypeName } from '../../check/json-schema-form.js'
import type { Faker } from '../fake.js'

/** The person that the fields of one object are about, so that its name and its address belong together. */
export const drawPerson = (faker: Faker) => ({ first: faker.person.firstName(), last: faker.person.lastName() })

export interface FieldContext {
  /** The name of the field in lower case, with spaces between its words. */
  readonly name: string
  /** The name of the surrounding object, and those of its fields. */
  readonly around: string
  readonly person: () => ReturnType<typeof drawPerson>
}

export type MakeText = (faker: Faker, field: FieldContext) => string

/** `firstName`, `first_name` and `First name` are all `first name`. */
export const wordsOf = (key: string) =>
  key
    .slice(0, 100)
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .replace(/[^\p{L}\d]+/gu, ' ')
    .trim()
    .toLowerCase()

/** The singular of a name: `postal address` for `postal addresses`. */
export function singular(words: string): string {
  if (/(ss|us|is|news|address)$/.test(words)) return words
  return /(ss|x|ch|sh)es$/.test(words) ? words.slice(0, -2) : words.replace(/ies$/, 'y').replace(/s$/, '')
}

const sentence: MakeText = faker => {
  const text = faker.hacker.phrase()
  return text.charAt(0).toUpperCase() + text.slice(1)
}
const headline: MakeText = faker => faker.company.catchPhrase()
const companyName: MakeText = faker => faker.company.name()
const productName: MakeText = faker => faker.commerce.productName()
const fullName: MakeText = (_, { person }) => `${person().first} ${person().last}`
const username: MakeText = (_, { person }) => `${person().first}.${person().last}`.toLowerCase().replace(/[^a-z.]/g, '')
/** RFC 2606 reserves the domain for examples, so these addresses are never real. */
export const emailOf: MakeText = (faker, field) => `${username(faker, field)}@example.com`
export const isoMoment: MakeText = (faker, { name }) => momentOf(faker, name).toISOString().replace('.000', '')
export const isoDate: MakeText = (faker, field) => isoMoment(faker, field).slice(0, 10)
const anyOf =
  (...texts: readonly string[]): MakeText =>
  faker =>
    faker.helpers.arrayElement(texts)

// The first match wins, so specific rows come before general ones.
const textRows: readonly (readonly [name: RegExp, make: MakeText])[] = [
  [/\be ?mail( address)?$/, emailOf],
  [/\b(first|given) name$|^firstname$/, (_, { person }) => person().first],
  [/\b(last|family|sur) ?name$/, (_, { person }) => person().last],
  [/\b(user ?name|login|handle|nick ?name)$/, username],
  [/\b(company|organi[sz]ation|employer|business|brand|vendor|publisher)( name)?$/, companyName],
  [/\b(product|item)( name)?$/, productName],
  [/\b(city|town)( name)?$/, faker => faker.location.city()],
  [/\b(country|nationality)( name)?$/, anyOf('Germany', 'France', 'Japan', 'Brazil', 'Canada', 'Kenya', 'India')],
  [/\b(province|region)( name)?$/, faker => faker.location.state()],
  [/\b(zip|postal|post) ?code$|^zip$/, faker => faker.location.zipCode('#####')],
  [/\b(street|address)( line)?( \d)?$/, faker => faker.location.streetAddress()],
  [
    /\b(location|place|destination|origin|venue)$/,
    faker => `${faker.location.city()}, ${faker.location.state({ abbreviated: true })}`,
  ],
  [/\b(lang|locale)$/, anyOf('en-US', 'de-DE', 'fr-FR', 'es-ES')],
  [/\blanguage$/, anyOf('English', 'German', 'French', 'Spanish', 'Japanese')],
  [/\bcurrency( code)?$/, anyOf('EUR', 'USD', 'GBP', 'JPY')],
  [/\b(phone|mobile|telephone)( number)?$/, faker => `+1 555 01${faker.string.numeric(2)}`],
  [
    /\b(avatar|image|photo|picture|thumbnail|logo|icon)( url| uri)?$/,
    faker => `https://www.example.com/images/${faker.lorem.slug(2)}.png`,
  ],
  [/\b(url|uri|link|href|website|homepage)$/, faker => `https://www.example.com/${faker.lorem.slug(2)}`],
  [/\b(uuid|guid)$/, faker => faker.string.uuid()],
  [/\b(time ?stamp|date ?time|\w+ at)$/, isoMoment],
  [/\b(date|deadline|due|day|expires|since|until|birth ?(day|date)|date of birth|dob)$|^date\b/, isoDate],
  [/\btime$/, (faker, field) => isoMoment(faker, field).slice(11, 16)],
  [/\b(weather|conditions?)$/, anyOf('sunny', 'partly cloudy', 'light rain', 'clear sky')],
  [/\b(job|position|occupation|profession|role)( title)?$/, faker => faker.person.jobTitle()],
  [/\bsentiment$/, anyOf('positive', 'neutral', 'negative')],
  [/\b(status|state)$/, anyOf('active', 'pending', 'completed')],
  [/\b(priority|severity|urgency|difficulty)$/, anyOf('low', 'medium', 'high')],
  [/\b(category|genre|topic|industry|kind|type)$/, anyOf('general', 'technology', 'science', 'travel', 'food')],
  [/\b(tag|keyword|label|skill)$/, faker => faker.hacker.noun()],
  [
    /\b(author|person|participant|attendee|user|customer|client|owner|assignee|sender|recipient|contact|member|student|employee|manager|guest|candidate)( name)?$/,
    fullName,
  ],
  [/\bname$/, (faker, field) => nameOfThing(field.around)(faker, field)],
  [/\b(title|headline|subject|heading|caption)$/, headline],
  [/\b(query|search( term| query)?|question|prompt)$/, faker => `${faker.hacker.verb()} the ${faker.hacker.noun()}`],
  [/\b(id|identifier|code|key|token|hash)$/, faker => faker.string.alphanumeric({ length: 10, casing: 'lower' })],
  [
    /\b(abstract|body|content|bio|article|description|answer|reply|response|message|text|summary|explanation|reason|reasoning|thought|comment|notes?|feedback|review|instructions?|step|details?|analysis|conclusion|output|result|recommendation|quote|task|action|goal|fact|point|idea)$/,
    sentence,
  ],
]

/** A typical text for this field. */
export function textNamed(faker: Faker, field: FieldContext): string {
  const row = textRows.find(([pattern]) => pattern.test(field.name))
  if (row) return row[1](faker, field)
  const { least, most, decimals, isGuess } = quantityOf(field.name, false)
  if (!isGuess) return faker.number.float({ min: least, max: most, fractionDigits: decimals }).toFixed(decimals)
  return `${faker.word.adjective({ length: { min: 4, max: 8 }, strategy: 'any-length' })} ${faker.hacker.noun()}`
}

/** `name` may be that of a person or a thing. The fields around it decide. */
function nameOfThing(around: string): MakeText {
  if (/\b(email|first name|age|birth|birthday|phone|user|person|gender)\b/.test(around)) return fullName
  if (/\b(product|item|sku|price|stock|inventory)\b/.test(around)) return productName
  if (/\b(company|organi[sz]ation|employer|vendor|industry)\b/.test(around)) return companyName
  if (/\b(event|meeting|attendees|project|task|campaign|course|steps)\b/.test(around)) return headline
  return fullName
}

/**
 * A time that suits the name, in full minutes. It never depends on the current date: the same request gets the same
 * answer tomorrow.
 */
function momentOf(faker: Faker, name: string): Date {
  const isPast = /\b(created|updated|modified|published|joined|last|past|order|issued)\b/.test(name)
  const [year, years] = /\b(birth|born|dob)/.test(name) ? [1960, 45] : isPast ? [2024, 2] : [2026, 1]
  const day = Date.UTC(year, 0, 1 + faker.number.int(years * 365))
  return new Date(day + faker.number.int({ min: 8 * 60, max: 18 * 60 }) * 60_000)
}

/** The typical numbers for a name, and whether the name is unknown. */
interface Quantity {
  readonly least: number
  readonly most: number
  readonly decimals: number
  readonly isGuess: boolean
}

// The first match wins.
const numberRows: readonly (readonly [name: RegExp, least: number, most: number, decimals?: number])[] = [
  [/\b(confidence|probability|likelihood|similarity|relevance|ratio|fraction|weight)\b/, 0.05, 0.99, 2],
  [/\b(lat|latitude)$/, -60, 70, 4],
  [/\b(lng|lon|long|longitude)$/, -170, 170, 4],
  [/\bage\b/, 18, 80],
  [/\b(temp|temperature)\b/, -5, 32, 1],
  [/\b(percent|percentage|progress|humidity)\b/, 1, 99],
  [/\b(rating|stars?)\b/, 1, 5, 1],
  [/\byear\b/, 1990, 2026],
  [/\bmonth\b/, 1, 12],
  [/\bday\b/, 1, 28],
  [/\b(minutes?|seconds?)\b/, 1, 59],
  [/\b(timestamp|epoch|unix time)\b/, 1_735_689_600, 1_767_225_600],
  [/\b(price|cost|fee|subtotal|amount|total|balance|payment|revenue|discount|tax|tip)\b/, 5, 500, 2],
  [/\b(quantity|qty|servings?|guests|people|adults|rooms|seats)\b/, 1, 10],
  [/\b(count|number of|num)\b/, 1, 50],
  [/\b(score|points|grade)\b/, 1, 100],
]

/** The typical range for `name`. */
export function quantityOf(name: string, whole: boolean): Quantity {
  const row = numberRows.find(([pattern]) => pattern.test(name))
  if (!row) return { least: whole ? 1 : 0, most: /\bid$/.test(name) ? 10_000 : 100, decimals: 2, isGuess: true }
  const [, least, most, decimals = 0] = row
  return { least, most, decimals, isGuess: false }
}

const likely = /\b(active|available|enabled|valid|success|successful|ok|verified|in stock|complete|completed)$/
const unlikely = /\b(flagged|deleted|error|failed|blocked|banned|expired|spam|toxic|canceled|disabled|urgent|empty)$/

/** How often a field of this name is typically true. */
export const chanceOfYes = (name: string) => (likely.test(name) ? 0.9 : unlikely.test(name) ? 0.1 : 0.5)

/** The typical type if the schema has none. */
export function typeNamed(name: string): TypeName {
  if (/^(is|has|can|should|was|did|needs|allows?|requires|include)\b/.test(name)) return 'boolean'
  if (likely.test(name) || unlikely.test(name)) return 'boolean'
  const { isGuess, decimals } = quantityOf(name, false)
  return isGuess ? 'string' : decimals > 0 ? 'number' : 'integer'
}
