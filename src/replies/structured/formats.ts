/** Generates texts in the formats of JSON Schema, OpenAPI and zod. */
import type { Faker } from '../fake.js'
import { emailOf, isoDate, isoMoment, type Make } from './field-names.js'

const hex = (faker: Faker, length: number) => faker.string.hexadecimal({ length, prefix: '', casing: 'lower' })
const crockford = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const lettersAndDigits = 'abcdefghijklmnopqrstuvwxyz0123456789'
const from = (faker: Faker, characters: string, length: number) =>
  faker.string.fromCharacters(characters, { min: length, max: length })
const base64 = (faker: Faker, encoding: 'base64' | 'base64url') =>
  Buffer.from(faker.hacker.noun().repeat(3).slice(0, 12)).toString(encoding)
const url: Make = faker => `https://${faker.internet.domainWord()}.example.com/${faker.lorem.slug(2)}`
const jwtPart = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')

/** The first maker is the typical one. The others are for narrow lengths and patterns. */
const formats: Readonly<Record<string, readonly Make[]>> = {
  'date-time': [
    isoMoment,
    (faker, place) => isoMoment(faker, place).replace('Z', '.000Z'),
    (faker, place) => isoMoment(faker, place).replace('Z', '+00:00'),
  ],
  'iso-date-time': [isoMoment],
  date: [isoDate],
  time: [
    (faker, place) => isoMoment(faker, place).slice(11),
    (faker, place) => `${isoMoment(faker, place).slice(11, 19)}.000Z`,
  ],
  'iso-time': [(faker, place) => isoMoment(faker, place).slice(11)],
  'local-time': [
    (faker, place) => isoMoment(faker, place).slice(11, 19),
    (faker, place) => isoMoment(faker, place).slice(11, 16),
  ],
  duration: [faker => faker.helpers.arrayElement(['PT15M', 'PT30M', 'PT1H', 'PT1H30M', 'P1D', 'P1W']), () => 'P1D'],
  email: [(faker, place) => emailOf(faker, place), () => 'a@b.co'],
  hostname: [faker => `${faker.internet.domainWord()}.example.com`, () => 'a.co', () => 'a'],
  ipv4: [faker => `192.0.2.${faker.number.int({ min: 1, max: 254 })}`, () => '1.1.1.1'],
  ipv6: [
    faker => `2001:db8::${hex(faker, 4)}`,
    faker => `2001:db8:${Array.from({ length: 6 }, () => hex(faker, 4)).join(':')}`,
    () => '::1',
  ],
  uri: [url, () => 'https://example.com', () => 'http://a.co', () => 'a:b'],
  'uri-reference': [faker => `/${faker.lorem.slug(2)}`, url, () => '/a', () => 'a'],
  'uri-template': [faker => `https://example.com/${faker.lorem.word()}/{id}`, () => '{a}'],
  url: [url, () => 'http://a.co'],
  uuid: [faker => faker.string.uuid(), faker => faker.string.uuid().toUpperCase()],
  'json-pointer': [faker => `/${faker.lorem.word()}/0`, () => '/a', () => ''],
  'json-pointer-uri-fragment': [faker => `#/${faker.lorem.word()}/0`, () => '#'],
  'relative-json-pointer': [faker => `1/${faker.lorem.word()}`, () => '0'],
  regex: [() => '^[a-z]+$', () => 'a'],
  byte: [faker => base64(faker, 'base64')],
  base64url: [faker => base64(faker, 'base64url')],
  password: [faker => `${faker.internet.password({ length: 12 })}!1`],
  e164: [faker => `+1555010${faker.string.numeric(4)}`],
  color: [faker => `#${hex(faker, 6)}`],
  cuid: [faker => `c${from(faker, lettersAndDigits, 24)}`],
  cuid2: [faker => `a${from(faker, lettersAndDigits, 23)}`],
  ulid: [faker => `01${from(faker, crockford, 24)}`],
  nanoid: [faker => faker.string.alphanumeric(21)],
  xid: [faker => from(faker, '0123456789abcdefghijklmnopqrstuv', 20)],
  ksuid: [faker => faker.string.alphanumeric(27)],
  cidrv4: [faker => `192.0.2.${faker.number.int({ min: 0, max: 15 }) * 16}/28`],
  cidrv6: [faker => `2001:db8:${hex(faker, 4)}::/48`, faker => `2001::db8:${hex(faker, 4)}/64`],
  emoji: [faker => faker.helpers.arrayElement(['🙂', '🎉', '🚀', '⭐'])],
  jwt: [
    faker =>
      `${jwtPart({ alg: 'HS256', typ: 'JWT' })}.${jwtPart({ sub: faker.string.numeric(8) })}.${faker.string.alphanumeric(43)}`,
  ],
  int32: [faker => faker.string.numeric({ length: 4, allowLeadingZeros: false })],
  decimal: [faker => `${faker.number.int(99)}.50`],
}

/** Aliases. */
const aliases: Readonly<Record<string, string>> = {
  'idn-email': 'email',
  'idn-hostname': 'hostname',
  iri: 'uri',
  'iri-reference': 'uri-reference',
  guid: 'uuid',
  uuid4: 'uuid',
  binary: 'byte',
  base64: 'byte',
  datetime: 'date-time',
  phone: 'e164',
  int64: 'int32',
  cidr: 'cidrv4',
  ip: 'ipv4',
}

/** The makers of this format, the typical one first; empty if the format is unknown. */
export function makersOf(format: string): readonly Make[] {
  const name = Object.hasOwn(aliases, format) ? (aliases[format] ?? format) : format
  return Object.hasOwn(formats, name) ? (formats[name] ?? []) : []
}

/** A text of a format with at least this length, if the format allows texts of any length. */
export function lengthened(format: string, text: string, least: number): string {
  const missing = least - text.length
  if (missing <= 0) return text
  if (/^(uri|url|iri|uri-reference|iri-reference|json-pointer)$/.test(format)) return `${text}/${'a'.repeat(missing)}`
  if (!/^(idn-)?email$/.test(format)) return text
  // 64 characters before the @, and 63 between two dots after it.
  const [local = '', host = ''] = text.split('@')
  const longer = local.padEnd(Math.min(64, local.length + missing), 'a')
  const labels = Math.ceil(Math.max(0, least - longer.length - 1 - host.length) / 61)
  return `${longer}@${`${'a'.repeat(60)}.`.repeat(labels)}${host}`
}
