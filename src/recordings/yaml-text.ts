/** Writes values as YAML that reads well in a review: block style, long texts literal, nothing folded. */

/**
 * The text of a value, after a key or as a document of its own. All lines but the first are indented by at least
 * `margin`. This is ten times as fast as the library, which also offers no control over what is literal, quoted or on
 * one line.
 */
export function yamlText(value: unknown, margin = ''): string {
  if (Array.isArray(value) && value.length > 0) return listText(value, margin)
  if (typeof value !== 'object' || value === null || Object.keys(value).length === 0) return scalarText(value, margin)
  return Object.entries(value)
    .map(([key, item]) => fieldText(key, item, margin))
    .join(`\n${margin}`)
}

/** Numbers go on one line, since vectors have thousands of them. */
function listText(list: readonly unknown[], margin: string): string {
  if (list.every(item => typeof item === 'number')) return `[${list.map(item => scalarText(item, margin)).join(', ')}]`
  return list.map(item => `- ${yamlText(item, `${margin}  `)}`).join(`\n${margin}`)
}

function fieldText(key: string, value: unknown, margin: string): string {
  const name = isPlain(key) ? key : quoted(key)
  // YAML looks for the colon of a key within 1,024 characters only.
  const keyText = name.length > 1000 ? `? ${name}\n${margin}:` : `${name}:`
  if (!isBlock(value)) return `${keyText} ${yamlText(value, margin)}`
  return `${keyText}\n${margin}  ${yamlText(value, `${margin}  `)}`
}

/** Whether the value begins on a new line. */
const isBlock = (value: unknown) =>
  Array.isArray(value)
    ? value.some(item => typeof item !== 'number')
    : typeof value === 'object' && value !== null && Object.keys(value).length > 0

function scalarText(value: unknown, margin: string): string {
  switch (typeof value) {
    case 'string':
      return stringText(value, `${margin}  `)
    case 'number':
      if (Number.isFinite(value)) return String(value)
      return value > 0 ? '.inf' : '-.inf'
    case 'bigint':
      return String(value)
    default:
      return JSON.stringify(value)
  }
}

const LONGEST_QUOTED = 60

function stringText(text: string, margin: string): string {
  if (isPlain(text)) return text
  if ((text.includes('\n') || text.length > LONGEST_QUOTED) && isLiteral(text)) return literal(text, margin)
  return quotedLines(text, margin)
}

/**
 * Whether it begins with a letter, so that it is not a number, has only single spaces, and is not a word that a YAML
 * version reads as another type.
 */
const isPlain = (text: string) =>
  /^[\p{L}_/][^\p{C}\p{Z}]*(?: [^\p{C}\p{Z}#][^\p{C}\p{Z}]*)*$/u.test(text) &&
  !/:(?: |$)/.test(text) &&
  !/^(?:null|true|false|yes|no|on|off|y|n)$/i.test(text)

/** Whether it contains nothing that YAML changes, editors strip, or readers cannot see. */
const isLiteral = (text: string) =>
  !/^\s*$|^\n*[ \t]|[ \t](?:\n|$)|[^\n\t\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\u{10000}-\u{10ffff}]/u.test(
    text,
  )

function literal(text: string, margin: string): string {
  const indicator = text.endsWith('\n\n') ? '|+' : text.endsWith('\n') ? '|' : '|-'
  const lines = text.endsWith('\n') ? text.slice(0, -1) : text
  return `${indicator}\n${margin}${lines.replace(/\n(?=[^\n])/g, `\n${margin}`)}`
}

/** Each line of the text on its own line. */
const quotedLines = (text: string, margin: string) =>
  `"${text
    .split(/(?<=\n)(?=.)/s)
    .map((line, i) => (i > 0 && line.startsWith(' ') ? `\\x20${escaped(line.slice(1))}` : escaped(line)))
    .join(`\\\n${margin}`)}"`

const quoted = (text: string) => `"${escaped(text)}"`

/** JSON's escapes, and those for characters that JSON keeps but YAML does not allow. */
const escaped = (text: string) =>
  JSON.stringify(text)
    .slice(1, -1)
    .replace(
      /[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/g,
      character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
    )
