/** Fits text into the columns of a terminal, where wide characters take two and combining marks none. */
import truncatedWidth from 'fast-string-truncated-width'
import { wrapAnsi } from 'fast-wrap-ansi'

/** How many columns a text takes. */
export const widthOf = (text: string) => truncatedWidth(text).width

/** The text, cut to the width with a mark where something is missing. */
export function cutTo(text: string, width: number): string {
  const { index, truncated } = truncatedWidth(text, { limit: width, ellipsis: '…', ellipsisWidth: 1 })
  return truncated ? `${text.slice(0, index)}…` : text
}

export const paddedTo = (text: string, width: number) => text + ' '.repeat(Math.max(0, width - widthOf(text)))

/** Wraps text into lines, between words where possible. */
export const wrapped = (text: string, width: number): readonly string[] =>
  wrapAnsi(text, width, { hard: true }).split('\n')

/** Rows as lines with their cells below one another. */
export function table(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_cell, i) => Math.max(...rows.map(row => widthOf(row[i] ?? ''))))
  return rows.map(row => `  ${row.map((cell, i) => paddedTo(cell, widths[i] ?? 0)).join('  ')}`.trimEnd())
}
