/** Text for the terminal: lines in batches, colours only on a terminal, untrusted text escaped, and amounts. */
import path from 'node:path'
import { styleText } from 'node:util'
import prettyBytes from 'pretty-bytes'
import prettyMs from 'pretty-ms'
import { quoted } from '../journal/curl.js'

/** Collects the lines of one turn of the event loop: writing each one costs more than answering the request. */
export function createOutput(stream: NodeJS.WriteStream) {
  let buffer = ''
  const flush = () => {
    if (buffer === '') return
    stream.write(buffer)
    buffer = ''
  }
  return {
    flush,
    line(text: string): void {
      if (buffer === '') setImmediate(flush)
      buffer += `${text}\n`
    },
  }
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

/** `512 B`, `1.2 kB`, `34 MB`. */
export const formatBytes = (bytes: number) => prettyBytes(bytes, { maximumFractionDigits: 1 })

/** `3.2ms`, `320ms`, `1.8s`, `2m 5s`. */
export const formatDuration = (ms: number) => prettyMs(ms, { millisecondsDecimalDigits: ms < 100 ? 1 : 0 })

/** `1 recording`, `2,000 recordings`. Not by `toLocaleString`: its first call takes 7 MB of memory. */
export const pluralize = (count: number, noun: string) =>
  `${String(count).replace(/\B(?=(?:\d{3}){1,7}$)/g, ',')} ${count === 1 ? noun : `${noun}s`}`
