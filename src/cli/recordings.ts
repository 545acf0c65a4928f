/** `standin recordings prune`, `scan` and `prompts`: removes recordings that are no longer needed, finds secrets in them, and lists their prompts for review. */
import { readdir, readFile, realpath, rmdir, stat } from 'node:fs/promises'
import path from 'node:path'
import { tokenizerNamed } from '../chat/tokens/index.js'
import { type Problem, ProblemsError, StartError, UsageError, unreadable } from '../check/problem.js'
import { mapInParallel } from '../core/work.js'
import { redactionRules } from '../platform/config/load.js'
import {
  type Folder,
  ignoreFrom,
  isPassingStatus,
  leftoversIn,
  openFolder,
  type Recording,
  readReplayNotes,
  secretsInRecording,
  writePrompts,
} from '../recordings/index.js'
import { findSecrets, type RedactionRules, type SecretFinding } from '../redact/index.js'
import { command, folderFlags, textFlag, toggle } from './command.js'
import { loadedConfig } from './load.js'
import { pluralize, relativePath } from './output.js'

/** The configured folder of recordings, for the commands that work on it. */
export function openRecordings(line: Parameters<typeof loadedConfig>[0]) {
  const { config, dir } = loadedConfig(line)
  return {
    config,
    folder: openFolder(path.resolve(dir, config.recordings.dir)),
    ignore: ignoreFrom(config.recordings.ignore),
    rules: redactionRules(config),
  }
}

type Reason = 'unused' | 'error' | 'incomplete' | 'old' | 'broken' | 'leftover'

interface Prunable {
  readonly file: string
  readonly reasons: readonly Reason[]
}

const prune = command({
  flags: {
    ...folderFlags,
    unused: toggle('Remove recordings that the last complete replay did not use'),
    errors: toggle('Remove recordings of errors that pass: 408, 429 and 5xx'),
    incomplete: toggle('Remove recordings of answers that broke off'),
    'older-than': textFlag('AGE', 'Remove older recordings: 30d, 12h, 15m'),
    broken: toggle('Remove recordings that cannot be read'),
    'dry-run': toggle('Only print what would be removed'),
  },
  async run(line) {
    const { unused, errors, incomplete, 'older-than': age, broken, 'dry-run': isDry } = line.flags
    const maxAgeMs = age === undefined ? Number.POSITIVE_INFINITY : ageMsOf(age)
    const { folder } = openRecordings(line)
    const replay = lastReplay(folder)
    if (unused && replay.objection !== undefined)
      throw new ProblemsError([{ origin: relativePath(folder.dir), sentence: replay.objection }])
    const all = await prunableIn(folder, maxAgeMs, replay.unused)
    if (!unused && !errors && !incomplete && age === undefined && !broken) {
      return { data: { dryRun: true, candidates: countByReason(all), removed: [] }, text: candidatesText(all, replay) }
    }
    const isChosen = { unused, error: errors, incomplete, old: true, broken, leftover: true }
    const chosen = all
      .map(({ file, reasons }) => ({ file, reasons: reasons.filter(reason => isChosen[reason]) }))
      .filter(({ reasons }) => reasons.length > 0)
    const files = chosen.map(({ file }) => file)
    if (!isDry) await removeRecordings(folder, files)
    return { data: { dryRun: isDry, removed: chosen }, text: removedText(chosen, isDry) }
  },
})

const unitsMs: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Converts `30d`, `12h` or `15m` to milliseconds. Throws a UsageError for anything else. */
function ageMsOf(age: string): number {
  const [, count, unit = ''] = /^([1-9]\d{0,5})([mhd])$/.exec(age) ?? []
  if (count !== undefined) return Number(count) * (unitsMs[unit] ?? 0)
  throw new UsageError(`--older-than must be a number followed by m, h or d, not "${age}".`)
}

/** The recordings that could be removed, and the temporary files of killed processes, which are never needed. */
async function prunableIn(folder: Folder, maxAgeMs: number, unused: ReadonlySet<string>) {
  const files = (await folder.list()).map(({ file }) => file)
  const recordings = await mapInParallel(files, async (file): Promise<Prunable> => {
    const reasons = await reasonsToPrune(folder, file, maxAgeMs)
    return { file, reasons: unused.has(file) ? ['unused', ...reasons] : reasons }
  })
  const leftovers = (await leftoversIn(folder.dir)).map((file): Prunable => ({ file, reasons: ['leftover'] }))
  return [...recordings, ...leftovers]
}

async function reasonsToPrune({ read }: Folder, file: string, maxAgeMs: number): Promise<readonly Reason[]> {
  try {
    const { recordedAt, response } = await read(file)
    const isOld = Date.now() - Date.parse(recordedAt) > maxAgeMs
    return [
      ...(isPassingStatus(response.status) ? (['error'] as const) : []),
      ...(response.complete ? [] : (['incomplete'] as const)),
      ...(isOld ? (['old'] as const) : []),
    ]
  } catch (error) {
    if (error instanceof ProblemsError) return ['broken']
    throw error
  }
}

/** Which recordings the last replay did not use, or why that is not known. */
function lastReplay(folder: Folder) {
  const notes = readReplayNotes(folder.dir)
  const [first, ...others] = notes
  const failed = notes.find(({ exitCode }) => exitCode !== 0)
  const nothing = { unused: new Set<string>(), summary: '' }
  if (!first) return { ...nothing, objection: `No replay of it is noted. ${REPLAY_FIRST}` }
  if (failed) {
    const end = `The last replay ended with exit code ${failed.exitCode}, so it may not have used everything.`
    return { ...nothing, objection: `${end} ${REPLAY_FIRST}` }
  }
  // What several replays at once did not use, and what has not been recorded since.
  const endedMs = Math.min(...notes.map(note => note.endedMs))
  const unused = first.unused.filter(
    file => others.every(note => note.unused.includes(file)) && !folder.isChangedSince(file, endedMs),
  )
  const served = notes.reduce((sum, note) => sum + note.served, 0)
  const summary = `The last replay ended at ${new Date(endedMs).toISOString()} after ${pluralize(served, 'answer')}.`
  return { unused: new Set(unused), summary, objection: undefined }
}

const REPLAY_FIRST = 'Replay all tests first: standin exec --mode replay -- npm test.'

/** Removes recordings, and the folders that are empty then, but not the folder of recordings itself. Rejects with the error of the file system. */
export async function removeRecordings({ dir, remove }: Folder, files: readonly string[]): Promise<void> {
  for (const file of files) remove(file)
  for (const folder of new Set(files.map(file => path.posix.dirname(file)))) {
    try {
      for (let at = folder; at !== '.'; at = path.posix.dirname(at)) await rmdir(path.join(dir, at))
    } catch {
      // This folder is not empty, and neither are those above.
    }
  }
}

function countByReason(all: readonly Prunable[]) {
  const counts: Partial<Record<Reason, number>> = {}
  for (const reason of all.flatMap(({ reasons }) => reasons)) counts[reason] = (counts[reason] ?? 0) + 1
  return counts
}

function candidatesText(all: readonly Prunable[], { objection, summary }: ReturnType<typeof lastReplay>): string {
  const { unused = 0, error = 0, incomplete = 0, broken = 0, leftover = 0 } = countByReason(all)
  const lines = [
    'Nothing was removed. Choose what to remove:',
    `  --unused           ${objection ?? `${pluralize(unused, 'recording')}. ${summary}`}`,
    `  --errors           ${pluralize(error, 'recording')}`,
    `  --incomplete       ${pluralize(incomplete, 'recording')}`,
    '  --older-than AGE   such as 30d',
    `  --broken           ${pluralize(broken, 'recording')}`,
    ...(leftover > 0
      ? [`Each of these flags also removes ${pluralize(leftover, 'temporary file')} of processes that were killed.`]
      : []),
  ]
  return `${lines.join('\n')}\n`
}

function removedText(removed: readonly Prunable[], isDry: boolean): string {
  const lines = removed.map(({ file, reasons }) => `${file}: ${reasons.join(', ')}`)
  return `${[...lines, `${pluralize(removed.length, 'file')} ${isDry ? 'would be removed' : 'removed'}.`].join('\n')}\n`
}

interface FileFinding extends SecretFinding {
  readonly file: string
}

const scan = command({
  flags: folderFlags,
  async run(line) {
    const { folder, rules } = openRecordings(line)
    const recordingFiles = (await filesBelow(folder.dir)).map(file => path.join(folder.dir, file))
    const files = [...new Set([...recordingFiles, ...line.args.map(file => path.resolve(file))])].map(relativePath)
    const results = await mapInParallel(files, file => findingsIn(file, folder, rules))
    const problems = results.flatMap(result => (Array.isArray(result) ? [] : [result]))
    if (problems.length > 0) throw new ProblemsError(problems)
    const found = results.filter(Array.isArray).flat()
    if (found.length === 0) return { data: found, text: `No secrets in ${pluralize(files.length, 'file')}.\n` }
    process.exitCode = 1
    const words = found.map(({ file, line, column, kind }) => `${file}:${line}:${column}: ${kind}\n`).join('')
    // Text alone is also printed with --quiet, which must not hide problems.
    return line.flags.json ? { data: found, text: words } : words
  },
})

/** All files, including those behind links, since they would be committed with the recordings. Visits each folder once. */
async function filesBelow(dir: string): Promise<readonly string[]> {
  const seen = new Set<string>()
  const files: string[] = []
  async function visit(folder: string): Promise<void> {
    const realFolder = await realpath(folder)
    if (seen.has(realFolder)) return
    seen.add(realFolder)
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      // Notes of runs, which git ignores.
      if (entry.name === '.standin') continue
      const file = path.join(folder, entry.name)
      const kind = entry.isSymbolicLink() ? await stat(file).catch(ignoreBrokenLink) : entry
      if (kind?.isDirectory()) await visit(file)
      else if (kind?.isFile()) files.push(path.relative(dir, file))
    }
  }
  await visit(dir).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' && seen.size === 0) return
    // A folder that cannot be searched must not pass as free of secrets.
    throw new ProblemsError([unreadable(relativePath(error.path ?? dir), error)])
  })
  return files.sort()
}

/** For links that are broken or circular; throws other errors. */
function ignoreBrokenLink(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT' && error.code !== 'ELOOP') throw error
}

async function findingsIn(file: string, folder: Folder, rules: RedactionRules): Promise<FileFinding[] | Problem> {
  let bytes: Buffer
  try {
    bytes = await readFile(file)
  } catch (error) {
    return unreadable(file, error)
  }
  // Binary files are read as latin1, which keeps byte positions and the ASCII letters of secrets.
  const text = bytes.toString(bytes.includes(0) ? 'latin1' : 'utf8')
  const recording = await recordingOf(path.relative(folder.dir, file), folder)
  const inRecording = recording ? secretsInRecording(recording, rules) : []
  return findSecrets(text, rules, inRecording).map(finding => ({ file, ...finding }))
}

/** `undefined` for another file. Invalid recordings are reported by other commands. */
async function recordingOf(file: string, folder: Folder): Promise<Recording | undefined> {
  if (!file.endsWith('.yaml') || file.startsWith('..')) return undefined
  return folder.read(file).catch((error: unknown) => {
    if (error instanceof ProblemsError) return undefined
    throw error
  })
}

const prompts = command({
  flags: folderFlags,
  async run(line) {
    const { config, folder, ignore } = openRecordings(line)
    const { file, prompts, hasChanged } = await writePrompts({
      folder,
      ignore,
      tokenizer: await tokenizerNamed(config.tokenizer),
      tests: new Map(),
      definitions: [],
      isAboutRecordings: true,
      isComplete: true,
    }).catch(error => {
      throw error instanceof ProblemsError
        ? error
        : new StartError(`prompts.yaml was not written (${error.code ?? error}).`)
    })
    const count = pluralize(Object.keys(prompts.definitions).length, 'definition')
    return { data: { file, hasChanged, ...prompts }, text: `${file} has ${count}${hasChanged ? '' : ', as before'}.\n` }
  },
})

export const recordingsCommands = {
  'recordings prune': prune,
  'recordings scan': scan,
  'recordings prompts': prompts,
}
