/** The configured folder of recordings, for the commands that work on it. */
import { rmdir } from 'node:fs/promises'
import path from 'node:path'
import { ProblemsError, problemInWords, UsageError } from '../../check/problem.js'
import { redactionRules } from '../../config/redaction.js'
import { mapInParallel } from '../../core/work.js'
import { type Folder, ignoreFrom, openFolder, type RecordingFile } from '../../recordings/index.js'
import { load } from '../load.js'
import { printable, relativePath } from '../output.js'
import { fileProgress, type OutputFlags, type Progress } from '../progress.js'

export function openRecordings(line: Parameters<typeof load>[0]) {
  const { config, dir } = load(line)
  return {
    config,
    folder: openFolder(path.resolve(dir, config.recordings.dir)),
    ignore: ignoreFrom(config.recordings.ignore),
    rules: redactionRules(config),
  }
}

/**
 * Reads all recordings of a folder with `read`. A broken one does not stop the others: it is reported on standard
 * error, and the exit code becomes 1.
 */
export async function readAll<T>({ list }: Folder, flags: OutputFlags, read: (file: string) => Promise<T>) {
  const all = await list()
  const progress = fileProgress(all.length, flags)
  const readOne = async (entry: RecordingFile) => {
    progress.at(printable(entry.file))
    try {
      return { read: [{ entry, ...(await read(entry.file)) }], broken: [] }
    } catch (error) {
      if (!(error instanceof ProblemsError)) throw error
      return { read: [], broken: [{ entry, problems: error.problems }] }
    }
  }
  const results = await eachWithProgress(all, readOne, progress)
  const broken = results.flatMap(result => result.broken)
  if (broken.length > 0) process.exitCode = 1
  for (const problem of broken.flatMap(({ problems }) => problems)) console.error(problemInWords(problem))
  return { read: results.flatMap(result => result.read), broken }
}

/** Runs `work` on all items, several at a time, and shows progress. */
export const eachWithProgress = <T, R>(
  items: readonly T[],
  work: (item: T) => Promise<R>,
  progress: Progress,
): Promise<readonly R[]> =>
  mapInParallel(items, async item => {
    const result = await work(item)
    progress.step()
    return result
  }).finally(progress.end)

/** At most this many candidates are listed. */
const CANDIDATES = 20

/** Finds one recording by its file, its key or a part of its name. Throws a UsageError if none or several match. */
export async function findOne({ dir, list }: Folder, word: string): Promise<RecordingFile> {
  const all = await list()
  const relative = path.relative(dir, path.resolve(word)).split(path.sep).join('/')
  const exact = all.filter(({ file }) => [word, `${word}.yaml`, relative].includes(file))
  const sameName = all.filter(({ file }) => path.posix.basename(file, '.yaml') === word.replace(/\.yaml$/, ''))
  const found = [exact, sameName, all.filter(({ file }) => file.includes(word))].find(({ length }) => length > 0) ?? []
  const [first] = found
  if (!first) throw new UsageError(`No recording in ${relativePath(dir)} has ${JSON.stringify(word)} in its name.`)
  if (found.length === 1) return first
  const more = found.length - CANDIDATES
  const lines = [...found.slice(0, CANDIDATES).map(({ file }) => file), ...(more > 0 ? [`… and ${more} more`] : [])]
  throw new UsageError(
    `${JSON.stringify(word)} matches ${found.length} recordings:\n  ${lines.join('\n  ')}\nUse more of the name.`,
  )
}

/** Removes the folders that are now empty, but not the folder of recordings itself. */
export async function removeEmptyFolders(dir: string, files: readonly string[]): Promise<void> {
  for (const folder of new Set(files.map(file => path.posix.dirname(file)))) {
    for (let at = folder; at !== '.'; at = path.posix.dirname(at)) {
      const isRemoved = await rmdir(path.join(dir, at)).then(
        () => true,
        () => false,
      )
      if (!isRemoved) break
    }
  }
}

/** Groups items and keeps their order (Map.groupBy, which Node 20 does not have). */
export function groupedBy<T>(items: Iterable<T>, by: (item: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const group = groups.get(by(item))
    if (group) group.push(item)
    else groups.set(by(item), [item])
  }
  return groups
}
