/** What Go's JSON reader says of a text that is no JSON, told from what V8's says. */

const END = 'unexpected end of JSON input'

/** How Go goes on after naming the character, by how V8 begins. */
const places: readonly (readonly [RegExp, string])[] = [
  [/^Expected (property name|double-quoted)/, 'looking for beginning of object key string'],
  [/^Expected ':'/, 'after object key'],
  [/^Expected .* after property value/, 'after object key:value pair'],
  [/^Expected .* after array element/, 'after array element'],
  [/^Unexpected non-whitespace/, 'after top-level value'],
  [/^Unexpected number/, 'after object key:value pair'],
  [/^Bad control/, 'in string literal'],
  [/^Bad escaped/, 'in string escape code'],
  [/^Bad Unicode/, 'in \\u hexadecimal character escape'],
  [/^No number/, 'in numeric literal'],
  [/^Unterminated fractional/, 'after decimal point in numeric literal'],
  [/^Exponent/, 'in exponent of numeric literal'],
]

/** The sentence of Go for `text`, over which JSON.parse has thrown an error with this message. */
export function mistakeIn(text: string, message: string): string {
  const [, token] = /^Unexpected token '(.)'/su.exec(message) ?? []
  if (token !== undefined) return `invalid character ${quoted(token)} looking for beginning of value`
  const [, position] = /at position (\d+)/.exec(message) ?? []
  const [character] = text.slice(Number(position ?? text.length))
  if (character === undefined || /^Unterminated string/.test(message)) return END
  const [, place = 'looking for beginning of value'] = places.find(([beginning]) => beginning.test(message)) ?? []
  return `invalid character ${quoted(character)} ${place}`
}

/** The character as Go writes it. */
function quoted(character: string): string {
  if (character === "'") return "'\\''"
  if (character === '"') return `'"'`
  return `'${JSON.stringify(character).slice(1, -1)}'`
}
