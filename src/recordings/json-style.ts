/** The styles in which platforms write JSON, so that a body whose value has changed keeps the look of the rest. */
import { stringifyExact } from '../core/json.js'

/** The layouts in which platforms write JSON. If a body has one of them, its value and the layout restore its bytes. */
const layouts = {
  compact: (value: unknown) => stringifyExact(value),
  indented: (value: unknown) => stringifyExact(value, 2),
  // Python's layout. All line breaks come from the indentation, since those within texts are escaped.
  spaced: (value: unknown) => stringifyExact(value, 1).replace(/,\n */g, ', ').replace(/\n */g, ''),
}
type Layout = keyof typeof layouts

/**
 * In addition to the layout: whether non-ASCII characters are escaped, as Python does, and whether there is a final
 * newline.
 */
const extras = ['', ', ascii', ', newline', ', ascii, newline'] as const

type JsonStyle = `${Layout}${(typeof extras)[number]}`

const layoutNames = Object.keys(layouts) as readonly Layout[]
export const jsonStyles = layoutNames.flatMap(layout => extras.map((extra): JsonStyle => `${layout}${extra}`))

/** Writes a value in a style. */
export function styled(value: unknown, style: JsonStyle): string {
  const [layout, ...flags] = style.split(', ') as [Layout, ...string[]]
  const text = layouts[layout](value)
  return `${flags.includes('ascii') ? asciiOnly(text) : text}${flags.includes('newline') ? '\n' : ''}`
}

const asciiOnly = (text: string) =>
  text.replace(/[\x7f-\uffff]/g, character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)

/**
 * Returns the value and style of a JSON object or list; `undefined` if no style restores the text, or if it exceeds the
 * limits for YAML.
 */
export function styleOf(text: string): { readonly value: unknown; readonly style: JsonStyle } | undefined {
  if (!/^[{[]/.test(text) || text.length > LONGEST_YAML) return undefined
  try {
    const value: unknown = JSON.parse(text)
    const newline = text.endsWith('\n')
    const candidates = jsonStyles.filter(
      style => style.includes('newline') === newline && (!style.includes('ascii') || text.includes('\\u')),
    )
    const style = isModest(value, DEEPEST_YAML) ? candidates.find(style => styled(value, style) === text) : undefined
    return style && { value, style }
  } catch {
    return undefined
  }
}

/**
 * Limits for YAML: larger bodies are not reviewed, indentation grows with depth, and the library compares each key of a
 * map with all others.
 */
const LONGEST_YAML = 262_144
const DEEPEST_YAML = 100
const MOST_KEYS = 1000

function isModest(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true
  const inner = Object.values(value)
  return (
    depth > 0 && (Array.isArray(value) || inner.length <= MOST_KEYS) && inner.every(item => isModest(item, depth - 1))
  )
}
