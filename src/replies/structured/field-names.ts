/** Typical values for fields by their names. */

import type { TypeName } from '../../check/json-schema-form.js'
import type { Faker } from '../fake.js'
import { isQuantity, quantityOf } from './numbers.js'
import type { SchemaPlace } from './place.js'

export type Make = (faker: Faker, place: SchemaPlace) => string

const sentence: Make = faker => {
  const text = faker.hacker.phrase()
  return text.charAt(0).toUpperCase() + text.slice(1)
}
const sentences: Make = (faker, place) => `${sentence(faker, place)} ${sentence(faker, place)}`
const headline: Make = faker => faker.company.catchPhrase()
const fullName: Make = (_, { person }) => `${person().first} ${person().last}`
const username: Make = (_, { person }) => `${person().first}.${person().last}`.toLowerCase().replace(/[^a-z.]/g, '')
export const isoDate: Make = (faker, { name }) => momentOf(faker, name).toISOString().slice(0, 10)
const isoTime: Make = (faker, { name }) => momentOf(faker, name).toISOString().slice(11, 16)
export const isoMoment: Make = (faker, { name }) => momentOf(faker, name).toISOString().replace('.000', '')
const oneOf =
  (...texts: readonly string[]): Make =>
  faker =>
    faker.helpers.arrayElement(texts)
const webAddress: Make = faker => `https://www.example.com/${faker.lorem.slug(2)}`

// The first match wins, so specific rows come before general ones.
const rows: readonly (readonly [name: RegExp, make: Make])[] = [
  [/\be ?mail( address)?$/, (faker, place) => emailOf(faker, place)],
  [/\b(first|given) name$|^firstname$/, (_, { person }) => person().first],
  [/\b(last|family|sur) ?name$/, (_, { person }) => person().last],
  [/\bmiddle name$/, faker => faker.person.middleName()],
  [/\b(user ?name|login|handle|screen name|nick ?name)$/, username],
  [/\bfile ?name$/, faker => faker.system.commonFileName()],
  [/\b(host|domain)( ?name)?$/, faker => `${faker.internet.domainWord()}.example.com`],
  [
    /\b(company|organi[sz]ation|employer|business|brand|vendor|manufacturer|publisher)( name)?$/,
    faker => faker.company.name(),
  ],
  [/\b(product|item)( name)?$/, faker => faker.commerce.productName()],
  [/\b(city|town)( name)?$/, faker => faker.location.city()],
  [/\bcountry code$/, faker => faker.location.countryCode()],
  [
    /\b(country|nationality)( name)?$/,
    oneOf('Germany', 'France', 'Japan', 'Brazil', 'Canada', 'Kenya', 'India', 'Spain'),
  ],
  [/\b(state|province|region)( name)?$/, faker => faker.location.state()],
  [/\bcontinent$/, faker => faker.location.continent()],
  [/\b(zip|postal|post) ?code$|^zip$/, faker => faker.location.zipCode('#####')],
  [/\bip( address)?$/, faker => `192.0.2.${faker.number.int({ min: 1, max: 254 })}`],
  [/\b(street|address)( line)?( \d)?$/, faker => faker.location.streetAddress()],
  [
    /\b(location|place|destination|origin|departure|arrival|venue)$/,
    faker => `${faker.location.city()}, ${faker.location.state({ abbreviated: true })}`,
  ],
  [/\btime ?zone$|^tz$/, oneOf('Europe/Berlin', 'America/New_York', 'Asia/Tokyo', 'UTC')],
  [/\b(lang|locale)$/, oneOf('en-US', 'de-DE', 'fr-FR', 'es-ES')],
  [/\blanguage$/, oneOf('English', 'German', 'French', 'Spanish', 'Japanese')],
  [/\bcurrency( code)?$/, oneOf('EUR', 'USD', 'GBP', 'JPY')],
  [/\b(phone|mobile|telephone|fax)( number)?$|^tel$/, faker => `+1 555 01${faker.string.numeric(2)}`],
  [
    /\b(avatar|image|photo|picture|thumbnail|logo|icon)( url| uri)?$/,
    faker => `https://www.example.com/images/${faker.lorem.slug(2)}.png`,
  ],
  [/\b(url|uri|link|href|website|homepage|web ?site)$/, webAddress],
  [/\b(path|file)$/, faker => `/home/${faker.lorem.word()}/${faker.system.commonFileName()}`],
  [/\b(uuid|guid)$/, faker => faker.string.uuid()],
  [/\b(slug|permalink)$/, faker => faker.lorem.slug(3)],
  [
    /\b(sku|order number|invoice number|reference|tracking number|confirmation( code| number)?|serial)$/,
    faker => `${faker.string.alpha({ length: 3, casing: 'upper' })}-${faker.string.numeric(5)}`,
  ],
  [
    /\b(token|secret|hash|checksum|digest|sha|signature)$/,
    faker => faker.string.hexadecimal({ length: 32, prefix: '', casing: 'lower' }),
  ],
  [/\bpassword$/, () => 'correct horse battery staple'],
  [/\bversion$/, faker => faker.system.semver()],
  [/\b(mime|media|content) type$/, oneOf('application/json', 'text/plain', 'image/png')],
  [/\b(time ?stamp|date ?time|\w+ at)$/, isoMoment],
  [/\b(birth ?day|date of birth|birth ?date|dob)$/, isoDate],
  [/\bweek ?day|day of( the)? week$|^day$/, oneOf('Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday')],
  [/\bmonth$/, oneOf('January', 'March', 'June', 'September', 'November')],
  [/\b(date|deadline|due|day|expiry|expires|since|until)$|^date\b/, isoDate],
  [/\btime$/, isoTime],
  [/\bduration$/, oneOf('15 minutes', '30 minutes', '1 hour', '2 hours')],
  [/\b(temp|temperature)$/, faker => `${faker.number.int({ min: -5, max: 32 })} °C`],
  [/\bunits?$/, oneOf('kg', 'm', 'l', 'pcs')],
  [/\b(weather|conditions?)$/, oneOf('sunny', 'partly cloudy', 'light rain', 'clear sky')],
  [/\b(job|position|occupation|profession|role)( title)?$/, faker => faker.person.jobTitle()],
  [/\bdepartment$/, faker => faker.commerce.department()],
  [/\bgender$/, oneOf('female', 'male', 'non-binary')],
  [/\bsentiment$/, oneOf('positive', 'neutral', 'negative')],
  [/\b(status|state)$/, oneOf('active', 'pending', 'completed')],
  [/\b(priority|severity|urgency|difficulty)$/, oneOf('low', 'medium', 'high')],
  [/\bcolou?r$/, faker => faker.color.human()],
  [/\bsize$/, oneOf('small', 'medium', 'large')],
  [
    /\b(category|genre|topic|subject area|industry|kind|type)$/,
    oneOf('general', 'technology', 'science', 'travel', 'food'),
  ],
  [/\b(tag|keyword|label|skill)$/, faker => faker.hacker.noun()],
  [/\b(code|key)$/, faker => faker.string.alphanumeric({ length: 6, casing: 'upper' })],
  [/\b(ingredient)$/, faker => faker.food.ingredient()],
  [/\b(dish|recipe|meal|food)( name)?$/, faker => faker.food.dish()],
  [/\b(book|movie|film)( title| name)?$/, faker => faker.book.title()],
  [/\b(song|track)( title| name)?$/, faker => faker.music.songName()],
  [/\bisbn$/, faker => faker.commerce.isbn()],
  [
    /\b(author|person|participant|attendee|user|customer|client|owner|assignee|sender|recipient|contact|speaker|member|student|teacher|doctor|patient|employee|manager|creator|artist|guest|passenger|candidate)( name)?$/,
    fullName,
  ],
  [/\b(full|display|real|contact|customer) name$/, fullName],
  [
    /\bname$/,
    (faker, place) => (namesByContext.find(([around]) => around.test(place.around))?.[1] ?? fullName)(faker, place),
  ],
  [/\b(title|headline|subject|heading|caption)$/, headline],
  [/\b(query|search( term| query)?|question|prompt|q)$/, faker => `${faker.hacker.verb()} the ${faker.hacker.noun()}`],
  [/\b(abstract|body|content|biography|bio|article|story|markdown|html|essay|letter)$/, sentences],
  [/\bdescription$/, faker => faker.commerce.productDescription()],
  [/\b(id|identifier)$/, faker => faker.string.alphanumeric({ length: 10, casing: 'lower' })],
  [/\bcode snippet$/, () => 'console.log("hello")'],
  [/\b(equation|expression|formula)$/, oneOf('8x + 7 = -23', '2x = 10', 'y = 3x + 1')],
  [
    /\b(answer|reply|response|message|text|summary|explanation|reason|reasoning|rationale|thought|comment|note|notes|feedback|review|instruction|instructions|step|details?|analysis|conclusion|output|result|finding|recommendation|sentence|quote|task|action|goal|fact|bullet|point|highlight|idea)$/,
    sentence,
  ],
]

/** A typical text for this field. */
export function textNamed(faker: Faker, place: SchemaPlace): string {
  const { name } = place
  const row = rows.find(([pattern]) => pattern.test(name))
  if (row) return row[1](faker, place)
  if (isQuantity(name)) return numberText(faker, name)
  return `${faker.word.adjective({ length: { min: 4, max: 8 }, strategy: 'any-length' })} ${faker.hacker.noun()}`
}

function numberText(faker: Faker, name: string): string {
  const { least, most, decimals } = quantityOf(name, false)
  return faker.number.float({ min: least, max: most, fractionDigits: decimals }).toFixed(decimals)
}

/** `name` may be that of a person or a thing. The fields around it decide. */
const namesByContext: readonly (readonly [around: RegExp, make: Make])[] = [
  [/\b(email|first name|age|birth|birthday|phone|user|person|gender)\b/, fullName],
  [/\b(product|item|sku|price|stock|inventory|catalog)\b/, faker => faker.commerce.productName()],
  [/\b(company|organi[sz]ation|employer|vendor|brand|industry)\b/, faker => faker.company.name()],
  [/\b(ingredients?|recipe|dish|meal|calories)\b/, faker => faker.food.dish()],
  [/\b(event|meeting|participants|attendees|project|task|campaign|course|steps)\b/, headline],
  [/\b(city|location|place|population)\b/, faker => faker.location.city()],
  [/\b(file|directory|folder)\b/, faker => faker.system.commonFileName()],
  [/\b(tool|function|attribute|attributes|column|variable|parameter|field)\b/, faker => faker.hacker.noun()],
]

/** RFC 2606 reserves the domain for examples, so these addresses are never real. */
export const emailOf = (faker: Faker, place: SchemaPlace) => `${username(faker, place)}@example.com`

const DAY_MS = 86_400_000

/**
 * A time that suits the name, in full minutes. It never depends on the current date: the same request gets the same
 * answer tomorrow.
 */
function momentOf(faker: Faker, name: string): Date {
  const [year, days] = /\b(birth|born|dob|birthday|birthdate)/.test(name)
    ? [1960, 45 * 365]
    : /\b(created|updated|modified|published|joined|last|past|purchase|order|invoice|issued|founded)\b/.test(name)
      ? [2024, 2 * 365]
      : [2026, 365]
  const day = Date.UTC(year, 0, 1) + faker.number.int(days) * DAY_MS
  return new Date(day + faker.number.int({ min: 8 * 60, max: 18 * 60 }) * 60_000)
}

const likely = /\b(active|available|enabled|valid|success|successful|ok|verified|in stock|complete|completed)$/
const unlikely =
  /\b(flagged|deleted|error|failed|blocked|banned|expired|spam|toxic|cancelled|canceled|disabled|urgent|empty)$/

/** How often a field of this name is typically true. */
export const chanceOfYes = (name: string) => (likely.test(name) ? 0.9 : unlikely.test(name) ? 0.1 : 0.5)

/** The typical type if the schema has none. */
export function typeNamed(name: string): TypeName {
  if (/^(is|has|can|should|was|did|needs|allow|allows|requires|include)\b/.test(name)) return 'boolean'
  if (likely.test(name) || unlikely.test(name)) return 'boolean'
  if (!isQuantity(name)) return 'string'
  return quantityOf(name, false).decimals > 0 ? 'number' : 'integer'
}
