/** Texts and values that YAML, JSON, UTF-8 or editors treat specially. */
import fc from 'fast-check'
import { anyCharacter } from '../characters.js'

const words = [
  'word',
  'two words',
  'a long line of words that goes on and on ',
  'a: b',
  'a #b',
  'ends ',
  ' begins',
  'response:',
]
const blanks = ['', ' ', '\t', '\n', '\n\n', '\n ', ' \n', '\r', '\r\n']
const yamlMarks = [
  '---',
  '...',
  '%YAML 1.2',
  '- ',
  '? ',
  ': ',
  '#',
  '&a',
  '*a',
  '!t',
  '|',
  '>',
  '@',
  '`',
  '{{x}}',
  '<<',
  '=',
  '~',
]
const jsonMarks = ['[', ']', '{', '}', ',', '"', "'", '\\', '\\n']
const values = ['yes', 'null', 'true', '.inf', '0x1f', '1e3', '012', '1_000', '2026-01-31', '12:30:45']
const invisible = [
  '\0',
  '\x07',
  '\x1b',
  '\x7f',
  '\x85',
  '\xa0',
  '\u2028',
  '\u2029',
  '\u202e',
  '\ufeff',
  '\ufffe',
  '\uffff',
]
const letters = ['é', 'e\u0301', '猫', '🦊', '👩‍👩‍👧', '\ud800', '\udc00']
const pieces = [words, blanks, yamlMarks, jsonMarks, values, invisible, letters].map(texts => fc.constantFrom(...texts))

const joined = (maxLength: number) => fc.array(fc.oneof(...pieces), { maxLength }).map(texts => texts.join(''))

export const oddText = fc.oneof(
  { weight: 3, arbitrary: joined(8) },
  { weight: 1, arbitrary: joined(60) },
  { weight: 1, arbitrary: fc.string({ unit: anyCharacter }) },
)

const oddName = fc.oneof(
  oddText,
  fc.constantFrom('__proto__', 'constructor', 'toString', '10', '2', '-1', 'a'.repeat(1100), 'ä: '.repeat(400)),
)

const oddNumber = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer(),
  fc.constantFrom(-0, 1e21, 1e-7, 5e-324, Number.MAX_VALUE, 2 ** 53, 2 ** 70),
)

export const oddJson: fc.Arbitrary<unknown> = fc.letrec(tie => ({
  value: fc.oneof(
    { depthSize: 'medium' },
    fc.constantFrom(null, true, false),
    oddNumber,
    oddText,
    fc.array(oddNumber, { maxLength: 6 }),
    fc.array(tie('value'), { maxLength: 6 }),
    fc.array(fc.tuple(oddName, tie('value')), { maxLength: 6 }).map(Object.fromEntries),
  ),
})).value

/** Bytes that may or may not be text. */
export const oddBytes = fc.oneof(
  oddText.map(text => Buffer.from(text)),
  fc.uint8Array({ maxLength: 200 }).map(bytes => Buffer.from(bytes)),
)

const asciiOf = (json: string) =>
  json.replace(/[\x7f-\uffff]/g, letter => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`)
const spacedOf = (value: unknown) => JSON.stringify(value, null, 1).replace(/,\n */g, ', ').replace(/\n */g, '')

/** JSON formats of platforms that a recording can name. */
export const knownFormats: readonly ((value: unknown) => string)[] = [
  value => JSON.stringify(value),
  value => JSON.stringify(value, null, 2),
  spacedOf,
  value => asciiOf(JSON.stringify(value)),
  value => asciiOf(spacedOf(value)),
  value => `${asciiOf(JSON.stringify(value, null, 2))}\n`,
]

/** JSON formats that it cannot. */
export const otherFormats: readonly ((value: unknown) => string)[] = [
  value => JSON.stringify(value, null, '\t'),
  value => `${JSON.stringify(value)}\r\n`,
  value => ` ${JSON.stringify(value)}`,
  value => `\ufeff${JSON.stringify(value)}`,
  value => `{"a":1.0,"b":${JSON.stringify(value)}}`,
  value => `[1e400,-0,12345678901234567891,${JSON.stringify(value)}]`,
  value => `{"a":1,"a":${JSON.stringify(value)}}`,
  value => `{"b":${JSON.stringify(value)},"1":0}`,
  value => asciiOf(JSON.stringify(value)).replace(/\\u[0-9a-f]{4}/g, code => code.toUpperCase().replace('U', 'u')),
  value => JSON.stringify(value).slice(0, -1),
]
