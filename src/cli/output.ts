/** Writes to the terminal: lines of one turn in one go, colours only where somebody sees them. */
import path from 'node:path'
import pc from 'picocolors'

export interface TerminalOutput {
  line(text: string): void
  /** As it is, without an end of line. */
  write(text: string): void
  /** Writes what is waiting, at once. */
  flush(): void
}

/** Collects lines until the event loop has a moment: writing each by itself would cost more than answering the request. */
export function createOutput(stream: NodeJS.WriteStream): TerminalOutput {
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
  return { flush, write, line: text => write(`${text}\n`) }
}

/** Colours for a stream: none when it is no terminal or NO_COLOR asks for none. */
export const colorsFor = (stream: NodeJS.WriteStream) => pc.createColors(pc.isColorSupported && stream.isTTY === true)

/** How large a terminal is, where it says so; nothing for a stream that is none. */
export const sizeOf = ({ isTTY, columns, rows }: NodeJS.WriteStream) =>
  isTTY === true ? { columns: columns || 80, height: rows || 24 } : {}

/** Whether what stands there can be written over: there are terminals that only go on. */
export const isScreen = ({ isTTY }: Pick<NodeJS.WriteStream, 'isTTY'> | { readonly isTTY?: boolean }) =>
  isTTY === true && process.env.TERM !== 'dumb'

/** For what is kept in a file. */
export const noColors: Colors = pc.createColors(false)

export type Colors = ReturnType<typeof colorsFor>

/** What a terminal obeys, and what has it show text in another order than it has. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const control = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

/** Text of somebody else's, without what could steer a terminal. */
export const harmless = (text: string) =>
  text.replace(control, character => {
    const code = character.charCodeAt(0).toString(16)
    return code.length > 2 ? `\\u${code.padStart(4, '0')}` : `\\x${code.padStart(2, '0')}`
  })

/** As JSON on one line, which steers no terminal either: JSON itself lets some of it pass. */
export const jsonLine = (value: unknown): string =>
  JSON.stringify(value).replace(control, character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** Names places as a person would from where the command was started. */
export const near = (place: string) => path.relative(process.cwd(), place) || place
