/** Places in a text. */

/** The offset of a line and a column, both counted from 1; the nearest existing place if there is none. */
export function offsetOf(text: string, line: number, column: number): number {
  const lines = text.split('\n')
  const above = lines.slice(0, line - 1).reduce((sum, { length }) => sum + length + 1, 0)
  const length = lines[line - 1]?.length ?? 0
  return Math.min(text.length, above + Math.min(column - 1, length))
}
