/** Formats amounts for people, and fits text into terminal columns. */
import truncatedWidth from 'fast-string-truncated-width'
import { wrapAnsi } from 'fast-wrap-ansi'
import prettyBytes from 'pretty-bytes'
import prettyMs from 'pretty-ms'

/** The number of columns that a text takes: wide characters take two, combining marks none. */
export const widthOf = (text: string) => truncatedWidth(text).width

export function cutTo(text: string, width: number): string {
  const { index, truncated } = truncatedWidth(text, { limit: width, ellipsis: '…', ellipsisWidth: 1 })
  return truncated ? `${text.slice(0, index)}…` : text
}

export const padTo = (text: string, width: number) => text + ' '.repeat(Math.max(0, width - widthOf(text)))

/** Wraps text into lines, between words where possible. */
export const wrap = (text: string, width: number): readonly string[] =>
  wrapAnsi(text, width, { hard: true }).split('\n')

export function table(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_cell, i) => Math.max(...rows.map(row => widthOf(row[i] ?? ''))))
  return rows.map(row => `  ${row.map((cell, i) => padTo(cell, widths[i] ?? 0)).join('  ')}`.trimEnd())
}

/** `512 B`, `1.2 kB`, `34 MB`. */
export const formatBytes = (bytes: number) => prettyBytes(bytes, { maximumFractionDigits: 1 })

/** `3.2ms`, `320ms`, `1.8s`, `2m 5s`. */
export const formatDuration = (ms: number) => prettyMs(ms, { millisecondsDecimalDigits: ms < 100 ? 1 : 0 })

/** `1 recording`, `2,000 recordings`. Not by `toLocaleString`: its first call takes 7 MB of memory. */
export const pluralize = (count: number, noun: string) =>
  `${String(count).replace(/\B(?=(\d{3})+$)/g, ',')} ${count === 1 ? noun : `${noun}s`}`
