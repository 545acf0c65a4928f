/** Writes to the terminal: lines of one turn in one go, colours only where somebody sees them. */
import pc from 'picocolors'

export interface Output {
  line(text: string): void
  /** Writes what is waiting, at once. */
  flush(): void
}

/** Collects lines until the event loop has a moment: writing each by itself would cost more than answering the request. */
export function createOutput(stream: NodeJS.WriteStream): Output {
  let waiting = ''
  const flush = () => {
    if (waiting === '') return
    stream.write(waiting)
    waiting = ''
  }
  return {
    flush,
    line(text) {
      if (waiting === '') setImmediate(flush)
      waiting += `${text}\n`
    },
  }
}

/** Colours for a stream: none when it is no terminal or NO_COLOR asks for none. */
export const colorsFor = (stream: NodeJS.WriteStream) => pc.createColors(pc.isColorSupported && stream.isTTY === true)

export type Colors = ReturnType<typeof colorsFor>

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const control = /[\u0000-\u001f\u007f-\u009f]/g

/** Text of somebody else's, without what could steer a terminal. */
export const harmless = (text: string) =>
  text.replace(control, character => `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`)
