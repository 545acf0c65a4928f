/** Places in a text. */

/** Where in a text a line and a column are, both counted from 1; the nearest place where there is none. */
export function offsetOf(text: string, line: number, column: number): number {
  const lines = text.split('\n')
  const above = lines.slice(0, line - 1).reduce((sum, { length }) => sum + length + 1, 0)
  const length = lines[line - 1]?.length ?? 0
  return Math.min(text.length, above + Math.min(column - 1, length))
}
