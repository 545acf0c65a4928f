/** Writes to the terminal: lines in batches, colours only on a terminal, and untrusted text escaped. */
import path from 'node:path'
import { styleText } from 'node:util'

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

/** A path relative to the current folder. */
export const relativePath = (place: string) => path.relative(process.cwd(), place) || place
