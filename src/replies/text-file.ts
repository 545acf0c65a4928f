/** Reads files that authors write: rules, and the texts of replies. */
import { isUtf8 } from 'node:buffer'
import { readFile, stat } from 'node:fs/promises'

/** Reads a file that is the body of an answer: as text, or as bytes if it is not text. Rejects if it cannot be read. */
export async function readBodyFile(file: string): Promise<string | Buffer> {
  const bytes = await readBytes(file)
  return isUtf8(bytes) ? textIn(bytes) : bytes
}

/** Whether a file that a rule names contains a template. */
export const isTemplateFile = (name: string) => name.endsWith('.liquid')

/** Reads the text of a file, without a byte order mark. Rejects if it cannot be read. */
export const readTextFile = async (file: string): Promise<string> => textIn(await readBytes(file))

const textIn = (bytes: Buffer) => new TextDecoder('utf-8', { fatal: true }).decode(bytes)

async function readBytes(file: string): Promise<Buffer> {
  const stats = await stat(file)
  // A pipe or a device may never end. For a folder, readFile reports the error.
  if (!stats.isFile() && !stats.isDirectory()) throw new Error('it is not a file')
  return readFile(file)
}
