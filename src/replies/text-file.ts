/** Reads the files that authors write: rules, and the texts that rules say. */
import { readFile, stat } from 'node:fs/promises'

/** Whether the text of a file that a rule says is a template. */
export const isTemplateFile = (name: string) => name.endsWith('.liquid')

/** The text of a file, without a byte order mark. Rejects where no file could be read. */
export async function readTextFile(file: string): Promise<string> {
  const stats = await stat(file)
  // A pipe or a device may never end. What a folder is says readFile.
  if (!stats.isFile() && !stats.isDirectory()) throw new Error('it is no file')
  return new TextDecoder('utf-8', { fatal: true }).decode(await readFile(file))
}
