/** The ways in which platforms write JSON: where a body is written in one of them, its value and the way are the same as its bytes. */

const layouts = {
  compact: (value: unknown) => JSON.stringify(value),
  indented: (value: unknown) => JSON.stringify(value, null, 2),
  // Python's. A line end can only be one that was put there: within texts they are escaped.
  spaced: (value: unknown) => JSON.stringify(value, null, 1).replace(/,\n */g, ', ').replace(/\n */g, ''),
}
type Layout = keyof typeof layouts

/** Beyond the layout: whether all is ASCII, as Python escapes it, and whether a line end comes last. */
const extras = ['', ', ascii', ', newline', ', ascii, newline'] as const

export type JsonStyle = `${Layout}${(typeof extras)[number]}`

const layoutNames = Object.keys(layouts) as readonly Layout[]
export const jsonStyles = layoutNames.flatMap(layout => extras.map((extra): JsonStyle => `${layout}${extra}`))

/** A value in a style. */
export function styled(value: unknown, style: JsonStyle): string {
  const [layout, ...more] = style.split(', ') as [Layout, ...string[]]
  const text = layouts[layout](value)
  return `${more.includes('ascii') ? escaped(text) : text}${more.includes('newline') ? '\n' : ''}`
}

const escaped = (text: string) =>
  text.replace(/[\x7f-\uffff]/g, character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** The value of a JSON object or list and its style; nothing where no style gives the same text again, or YAML would read it too slowly. */
export function styleOf(text: string): { readonly value: unknown; readonly style: JsonStyle } | undefined {
  if (!/^[{[]/.test(text) || text.length > LONGEST) return undefined
  try {
    const value: unknown = JSON.parse(text)
    const newline = text.endsWith('\n')
    const mayBe = jsonStyles.filter(
      style => style.includes('newline') === newline && (!style.includes('ascii') || text.includes('\\u')),
    )
    const style = isModest(value, DEEPEST) ? mayBe.find(style => styled(value, style) === text) : undefined
    return style && { value, style }
  } catch {
    return undefined
  }
}

/** Nobody reviews more; the indentation grows with the depth; the library compares each key of a map with all others. */
const LONGEST = 262_144
const DEEPEST = 100
const MOST_KEYS = 1000

function isModest(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true
  const inner = Object.values(value)
  return (
    depth > 0 && (Array.isArray(value) || inner.length <= MOST_KEYS) && inner.every(item => isModest(item, depth - 1))
  )
}
