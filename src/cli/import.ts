/** `standin import`: makes recordings of the exchanges in a HAR file. */
import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { ProblemsError, unreadable, wordProblem } from '../check/problem.js'
import { type Folder, fileOf, type Imported, importHar, type Kept, type Recording } from '../recordings/index.js'
import { createRedact } from '../redact/index.js'
import { counted } from './amounts.js'
import type { CommandLine } from './arguments.js'
import { groupedBy } from './grouped.js'
import { baseIn, fileIn } from './har-arguments.js'
import { harmless } from './output.js'
import { fileProgress, type Progress } from './progress.js'
import { openRecordings } from './recordings-folder.js'

/** Throws a ProblemsError for a file that is no HAR. */
export async function importRecordings(commandLine: CommandLine): Promise<string> {
  const file = fileIn(commandLine)
  const { config, folder, ignore, rules } = openRecordings(commandLine)
  const base = baseIn(commandLine, config.upstream.baseUrl)
  const origin = file === '-' ? 'standard input' : file
  const imported = importHar(await textOf(file), origin, { base, ignore, redact: createRedact(rules) })
  for (const problem of imported.problems) console.error(harmless(wordProblem(problem)))
  if (imported.problems.length > 0) console.error('What is wrong there is left out.')
  const progress = fileProgress(imported.byKey.size, commandLine)
  const { written, there } = await keep(folder, imported, { overwrite: commandLine.given.has('overwrite'), progress })
  if (commandLine.quiet && !commandLine.json) return ''
  if (commandLine.json) return `${JSON.stringify(inJson(imported, written, there), null, 2)}\n`
  return `${inWords(imported, written, there, base).join('\n')}\n`
}

async function textOf(file: string): Promise<string> {
  if (file === '-') return text(process.stdin)
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    throw new ProblemsError([unreadable(file, error)])
  }
}

interface Keeping {
  readonly overwrite: boolean
  readonly progress: Progress
}

/** Which files were written, and how many exchanges were recorded before. */
async function keep(folder: Folder, { byKey }: Imported, { overwrite, progress }: Keeping) {
  const known = groupedBy(await folder.list(), ({ key }) => key)
  const written: string[] = []
  let there = 0
  try {
    for (const [key, recordings] of byKey) {
      const old = known.get(key) ?? []
      if (old.length > 0 && !overwrite) there += recordings.length
      else written.push(...(await replace(folder, key, recordings, old)))
      progress.step()
    }
  } finally {
    progress.end()
  }
  return { written, there }
}

async function replace(folder: Folder, key: string, recordings: readonly Recording[], old: readonly Kept[]) {
  const files: string[] = []
  for (const [i, recording] of recordings.entries()) {
    const nth = i + 1
    // A name that somebody has given it stays.
    const file = old.find(kept => kept.nth === nth)?.file ?? fileOf(recording.request, key, nth)
    await folder.write(file, recording, key)
    files.push(file)
  }
  for (const { file } of old) if (!files.includes(file)) await folder.remove(file)
  return files
}

const inJson = ({ passedOver, remarks, problems }: Imported, written: readonly string[], there: number) => ({
  imported: written,
  passedOver: { ...Object.fromEntries(passedOver), ...(there > 0 && { 'recorded already': there }) },
  remarks,
  ...(problems.length > 0 && { leftOut: problems.map(({ sentence }) => sentence) }),
})

function inWords(imported: Imported, written: readonly string[], there: number, base: string | undefined) {
  const reasons = Object.entries(inJson(imported, written, there).passedOver)
  return [
    ...written,
    `${counted(written.length, 'exchange')} imported${base === undefined ? ', whatever server they went to (no upstream.baseUrl, no --base)' : ''}.`,
    ...(reasons.length > 0 ? ['Passed over:', ...reasons.map(([reason, count]) => `  ${count} ${reason}`)] : []),
    ...(there > 0 ? ['With --overwrite, those that are recorded already are replaced.'] : []),
    ...imported.remarks,
  ]
}
