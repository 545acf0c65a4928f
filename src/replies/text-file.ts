/** Reads the files that authors write: rules, and the texts that rules say. */
import { isUtf8 } from 'node:buffer'
import { readFile, stat } from 'node:fs/promises'

/** What a file is that is a body: its text, or its bytes where it is none. Rejects where no file could be read. */
export async function readSaidFile(file: string): Promise<string | Buffer> {
  const bytes = await readBytes(file)
  return isUtf8(bytes) ? textIn(bytes) : bytes
}

/** Whether the text of a file that a rule says is a template. */
export const isTemplateFile = (name: string) => name.endsWith('.liquid')

/** The text of a file, without a byte order mark. Rejects where no file could be read. */
export const readTextFile = async (file: string): Promise<string> => textIn(await readBytes(file))

const textIn = (bytes: Buffer) => new TextDecoder('utf-8', { fatal: true }).decode(bytes)

async function readBytes(file: string): Promise<Buffer> {
  const stats = await stat(file)
  // A pipe or a device may never end. For a folder, readFile reports the error.
  if (!stats.isFile() && !stats.isDirectory()) throw new Error('it is no file')
  return readFile(file)
}
