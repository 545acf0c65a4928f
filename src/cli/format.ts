/** Formats amounts for people, and fits text into terminal columns. */
import truncatedWidth from 'fast-string-truncated-width'

/** The number of columns that a text takes: wide characters take two, combining marks none. */
export const widthOf = (text: string) => truncatedWidth(text).width

export function cutTo(text: string, width: number): string {
  const { index, truncated } = truncatedWidth(text, { limit: width, ellipsis: '…', ellipsisWidth: 1 })
  return truncated ? `${text.slice(0, index)}…` : text
}

export const padTo = (text: string, width: number) => text + ' '.repeat(Math.max(0, width - widthOf(text)))

/** Wraps text into lines, between words where possible. */
export function wrap(text: string, width: number): readonly string[] {
  const { index, truncated } = truncatedWidth(text, { limit: width })
  if (!truncated) return [text]
  const space = text.lastIndexOf(' ', index)
  if (space > 0) return [text.slice(0, space), ...wrap(text.slice(space + 1), width)]
  const end = Math.max(index, String.fromCodePoint(text.codePointAt(0) ?? 0).length)
  return [text.slice(0, end), ...wrap(text.slice(end), width)]
}

export function table(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_cell, i) => Math.max(...rows.map(row => widthOf(row[i] ?? ''))))
  return rows.map(row => `  ${row.map((cell, i) => padTo(cell, widths[i] ?? 0)).join('  ')}`.trimEnd())
}

const byteUnits = ['B', 'kB', 'MB', 'GB'] as const

/** `512 B`, `1.2 kB`, `34 MB`. `bytes` is a whole number. */
export function formatBytes(bytes: number): string {
  const thousands = Math.min(Math.floor((String(bytes).length - 1) / 3), byteUnits.length - 1)
  return `${Math.floor((bytes / 1000 ** thousands) * 10) / 10} ${byteUnits[thousands]}`
}

/** `3.2ms`, `320ms`, `1.8s`, `2m 5s`. */
export function formatDuration(ms: number): string {
  if (ms < 100) return `${ms.toFixed(1)}ms`
  if (ms < 1000) return `${Math.floor(ms)}ms`
  const seconds = Math.floor(ms / 100) / 10
  if (seconds < 60) return `${seconds}s`
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60]
  return `${hours > 0 ? `${hours}h ` : ''}${minutes}m ${Math.floor(seconds) % 60}s`
}

/** `1 recording`, `2,000 recordings`. Not by `toLocaleString`: its first call takes 7 MB of memory. */
export const pluralize = (count: number, noun: string) =>
  `${String(count).replace(/\B(?=(\d{3})+$)/g, ',')} ${count === 1 ? noun : `${noun}s`}`
