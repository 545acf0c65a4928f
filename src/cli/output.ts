/** Text for the terminal: lines in batches, colours only on a terminal, untrusted text escaped, amounts and columns. */
import path from 'node:path'
import { styleText } from 'node:util'
import truncatedWidth from 'fast-string-truncated-width'
import { wrapAnsi } from 'fast-wrap-ansi'
import prettyBytes from 'pretty-bytes'
import prettyMs from 'pretty-ms'
import { quoted } from '../journal/curl.js'

export type TerminalOutput = ReturnType<typeof createOutput>

/** Collects the lines of one turn of the event loop: writing each one costs more than answering the request. */
export function createOutput(stream: NodeJS.WriteStream) {
  let buffer = ''
  const flush = () => {
    if (buffer === '') return
    stream.write(buffer)
    buffer = ''
  }
  const write = (text: string) => {
    if (buffer === '') setImmediate(flush)
    buffer += text
  }
  return { flush, write, line: (text: string) => write(`${text}\n`) }
}

const styles = ['bold', 'dim', 'red', 'green', 'yellow', 'cyan'] as const

export type Colors = Readonly<Record<(typeof styles)[number], (text: string) => string>>

export function createColors(isColored: boolean): Colors {
  const painters = styles.map(style => {
    const paint = (text: string) => (isColored ? styleText(style, text, { validateStream: false }) : text)
    return [style, paint] as const
  })
  return Object.fromEntries(painters) as Colors
}

/** Colours for a stream: none if it is not a terminal or a dumb one, or if NO_COLOR is set. */
export const colorsFor = (stream: NodeJS.WriteStream): Colors =>
  createColors(stream.isTTY === true && !process.env.NO_COLOR && process.env.TERM !== 'dumb')

/** The width of a terminal; `undefined` for a stream that is not one. */
export const columnsOf = ({ isTTY, columns }: NodeJS.WriteStream) => (isTTY === true ? columns || 80 : undefined)

/** Whether text that was written can be overwritten, which takes more than a dumb terminal. */
export const canOverwrite = ({ isTTY }: { readonly isTTY?: boolean }) => isTTY === true && process.env.TERM !== 'dumb'

/** For text that goes to a file. */
export const noColors = createColors(false)

/** Control characters, and those that change the direction of text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: this regex looks for them
const control = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

/** Escapes untrusted text, so that it cannot control the terminal. */
export const printable = (text: string) =>
  text.replace(control, character => {
    const code = character.charCodeAt(0).toString(16)
    return code.length > 2 ? `\\u${code.padStart(4, '0')}` : `\\x${code.padStart(2, '0')}`
  })

/** JSON on one line, safe for terminals: JSON.stringify itself leaves some control characters unescaped. */
export const jsonLine = (value: unknown): string =>
  JSON.stringify(value).replace(control, character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** A word as it is typed: one with spaces or characters of the shell is quoted. */
export const inShell = (word: string) => (/^[\w@%+=:,./-]+$/.test(word) ? word : quoted(word))

/** The line end of a text: that of Windows if it has one. */
export const lineEndOf = (text: string) => (text.includes('\r\n') ? '\r\n' : '\n')

/** A path relative to the current folder. */
export const relativePath = (place: string) => path.relative(process.cwd(), place) || place

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

/** `512 B`, `1.2 kB`, `34 MB`. */
export const formatBytes = (bytes: number) => prettyBytes(bytes, { maximumFractionDigits: 1 })

/** `3.2ms`, `320ms`, `1.8s`, `2m 5s`. */
export const formatDuration = (ms: number) => prettyMs(ms, { millisecondsDecimalDigits: ms < 100 ? 1 : 0 })

/** `1 recording`, `2,000 recordings`. Not by `toLocaleString`: its first call takes 7 MB of memory. */
export const pluralize = (count: number, noun: string) =>
  `${String(count).replace(/\B(?=(?:\d{3}){1,7}$)/g, ',')} ${count === 1 ? noun : `${noun}s`}`
