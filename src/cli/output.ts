/** Writes to the terminal: batches the lines of one event loop turn, and uses colours only on a terminal. */
import path from 'node:path'
import pc from 'picocolors'

export type TerminalOutput = ReturnType<typeof createOutput>

/** Collects lines until the event loop is idle: writing each one separately would cost more than answering the request. */
export function createOutput(stream: NodeJS.WriteStream) {
  let waiting = ''
  const flush = () => {
    if (waiting === '') return
    stream.write(waiting)
    waiting = ''
  }
  const write = (text: string) => {
    if (waiting === '') setImmediate(flush)
    waiting += text
  }
  return { flush, write, line: (text: string) => write(`${text}\n`) }
}

/** Colours for a stream: none if it is not a terminal, or if NO_COLOR is set. */
export const colorsFor = (stream: NodeJS.WriteStream) => pc.createColors(pc.isColorSupported && stream.isTTY === true)

/** The size of a terminal; empty for a stream that is not one. */
export const sizeOf = ({ isTTY, columns, rows }: NodeJS.WriteStream) =>
  isTTY === true ? { columns: columns || 80, height: rows || 24 } : {}

/** Whether text can be overwritten. Dumb terminals cannot do that. */
export const isScreen = ({ isTTY }: Pick<NodeJS.WriteStream, 'isTTY'> | { readonly isTTY?: boolean }) =>
  isTTY === true && process.env.TERM !== 'dumb'

/** For text that goes to a file. */
export const noColors: Colors = pc.createColors(false)

export type Colors = ReturnType<typeof colorsFor>

/** Control characters, and those that change the direction of text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: this regex looks for them
const control = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

/** Escapes untrusted text, so that it cannot control the terminal. */
export const harmless = (text: string) =>
  text.replace(control, character => {
    const code = character.charCodeAt(0).toString(16)
    return code.length > 2 ? `\\u${code.padStart(4, '0')}` : `\\x${code.padStart(2, '0')}`
  })

/** JSON on one line, safe for terminals: JSON.stringify itself leaves some control characters unescaped. */
export const jsonLine = (value: unknown): string =>
  JSON.stringify(value).replace(control, character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)

export const near = (place: string) => path.relative(process.cwd(), place) || place
