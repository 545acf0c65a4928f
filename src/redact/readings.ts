/** Reads a text as what its escapes stand for, and knows where each character was written. */
import { isUtf8 } from 'node:buffer'
import { jsonOf } from '../core/json.js'

/** A text, and where it is written. */
export interface Reading {
  readonly text: string
  /** The index at which a character is written, of the text that the reading was made of. */
  at(index: number): number
}

export const plainReading = (text: string, start = 0): Reading => ({ text, at: index => start + index })

const inJson = /\\(?:u[\dA-Fa-f]{4}|[^u])/g
const inForm = /(?:%[\dA-Fa-f]{2})+/g
/** Also those of XML, HTML and programs. */
const anywhere =
  /(?:%[\dA-Fa-f]{2})+|\\(?:u[\dA-Fa-f]{4}|x[\dA-Fa-f]{2}|[^ux])|&(?:amp|lt|gt|quot|apos|#\d{1,6}|#x[\dA-Fa-f]{1,5});/g

const letters: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' }
const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

/** What an escape of one character stands for. */
function characterOf(code: string): string {
  const sign = code[1] ?? ''
  if (code[0] === '\\') return code.length > 2 ? codePoint(code.slice(2), 16) : (letters[sign] ?? sign)
  const name = code.slice(1, -1)
  if (sign !== '#') return entities[name] ?? code
  return name[1] === 'x' ? codePoint(name.slice(2), 16) : codePoint(name.slice(1), 10)
}

function codePoint(digits: string, radix: number): string {
  const code = Number.parseInt(digits, radix)
  return code <= 0x10ffff ? String.fromCodePoint(code) : '\ufffd'
}

/** What `%C3%A9%20` stands for, and how each character of it is encoded. What is not UTF-8 is read byte for byte. */
function percentDecoded(code: string) {
  const bytes = Buffer.from(code.replaceAll('%', ''), 'hex')
  const encoding = isUtf8(bytes) ? 'utf8' : 'latin1'
  return { text: bytes.toString(encoding), encoding } as const
}

/** What the text stands for; the same reading if it has no escapes. Places are looked up in a table that few texts need. */
function unescaped(source: Reading, escapes: RegExp, decoded = decodedText(source.text, escapes)): Reading {
  if (decoded === source.text) return source
  let places: ReturnType<typeof placesOf> | undefined
  return {
    text: decoded,
    at(index) {
      places ??= placesOf(source.text, escapes)
      const { ends, written } = places
      let [low, high] = [0, ends.length - 1]
      while (low < high) {
        const middle = (low + high + 1) >> 1
        if ((ends[middle] ?? 0) <= index) low = middle
        else high = middle - 1
      }
      return source.at((written[low] ?? 0) + index - (ends[low] ?? 0))
    },
  }
}

const decodedText = (text: string, escapes: RegExp) =>
  text.replace(escapes, code => (code[0] === '%' ? percentDecoded(code).text : characterOf(code)))

/** Where each escape ends: in what the text stands for, and in the text. */
function placesOf(text: string, escapes: RegExp) {
  const ends = [0]
  const written = [0]
  let length = 0
  let end = 0
  const add = (character: string, width: number) => {
    length += character.length
    end += width
    ends.push(length)
    written.push(end)
  }
  for (const { 0: code, index } of text.matchAll(escapes)) {
    length += index - end
    end = index
    if (code[0] !== '%') add(characterOf(code), code.length)
    else {
      const { text, encoding } = percentDecoded(code)
      for (const character of text) add(character, 3 * Buffer.byteLength(character, encoding))
    }
  }
  return { ends, written }
}

/** A string of JSON, without its quotes. */
export function stringReading(json: string, start: number): Reading {
  const written = plainReading(json, start)
  if (!json.includes('\\')) return written
  const text = jsonOf(`"${json}"`)
  return unescaped(written, inJson, typeof text === 'string' ? text : undefined)
}

/** A name or a value of a form. */
export const formReading = (encoded: string, start: number): Reading =>
  unescaped(plainReading(encoded.replaceAll('+', ' '), start), inForm)

/** JSON within JSON within an address. */
const MOST_LEVELS = 3

/** The text as it is, and as what its escapes stand for, up to three levels deep. */
export function readingsOf(text: string): readonly Reading[] {
  let reading = plainReading(text)
  const readings = [reading]
  while (readings.length <= MOST_LEVELS && /[\\%&]/.test(reading.text)) {
    const next = unescaped(reading, anywhere)
    if (next === reading) break
    readings.push(next)
    reading = next
  }
  return readings
}
