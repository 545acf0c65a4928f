/** `standin export`: writes the recordings as a HAR file. */
import { writeFile } from 'node:fs/promises'
import { ProblemsError } from '../check/problem.js'
import { harOf } from '../recordings/index.js'
import { version } from '../version.js'
import { counted } from './amounts.js'
import type { CommandLine } from './arguments.js'
import { baseIn, fileIn } from './har-arguments.js'
import { fileProgress } from './progress.js'
import { openRecordings, readEach, tellBroken } from './recordings-folder.js'

/** Writes to a file, or gives back what to print. Recordings that cannot be read are told and left out. */
export async function exportRecordings(commandLine: CommandLine): Promise<string> {
  const file = fileIn(commandLine)
  const { config, folder } = openRecordings(commandLine)
  const kept = await folder.list()
  const read = await readEach(kept, folder.read, fileProgress(kept.length, commandLine))
  tellBroken(read)
  const all = read.flatMap(one => (one.kind === 'read' ? [{ recording: one.value, nth: one.kept.nth }] : []))
  // HAR wants addresses, and without the live platform's any will do.
  const base = baseIn(commandLine, config.upstream.baseUrl) ?? 'http://localhost'
  const har = harOf(all, { base: base.replace(/\/+$/, ''), version })
  if (file === '-') return har
  await writeFile(file, har).catch(error => {
    throw new ProblemsError([{ origin: file, sentence: `cannot be written (${error.code ?? error.message}).` }])
  })
  return commandLine.quiet ? '' : `${counted(all.length, 'recording')} exported to ${file}.\n`
}
