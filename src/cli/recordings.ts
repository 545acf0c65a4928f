/** `standin recordings prune`, `repair` and `scan`: removes recordings that are no longer needed, repairs damaged ones and the list of their prompts, and finds secrets in them. */
import { readdir, readFile, realpath, stat } from 'node:fs/promises'
import path from 'node:path'
import { tokenizerNamed } from '../chat/tokens/index.js'
import { type Problem, ProblemsError, problemInWords, StartError, UsageError, unreadable } from '../check/problem.js'
import { mapInParallel } from '../core/work.js'
import { type LoadedConfig, redactionRules } from '../platform/config/load.js'
import { hasPrompts, writePrompts } from '../prompts/index.js'
import {
  Folder,
  ignoreFrom,
  isProblem,
  type Prunable,
  type PruneReason,
  problemsIn,
  prunableIn,
  type Recording,
  repairFolder,
  secretsInRecording,
  tooMany,
} from '../recordings/index.js'
import { findSecrets, type RedactionRules, type SecretFinding } from '../redact/index.js'
import { command, folderFlags, textFlag, toggle } from './command.js'
import { loadedConfig } from './load.js'
import { pluralize, printable, relativePath } from './output.js'
import { listedFiles } from './receipt.js'

/** The configured folder of recordings, for the commands that work on it. */
export function openRecordings(line: Parameters<typeof loadedConfig>[0]) {
  const { config, dir } = loadedConfig(line)
  return {
    config,
    folder: new Folder(path.resolve(dir, config.recordings.dir)),
    ignore: ignoreFrom(config.recordings.ignore),
    rules: redactionRules(config),
  }
}

const prune = command({
  flags: {
    ...folderFlags,
    unused: toggle('Remove recordings that the tests of the last run did not use'),
    whole: toggle('With --unused: all tests ran, so that recordings of other tests are unused'),
    errors: toggle('Remove recordings of errors that pass: 408, 429 and 5xx'),
    incomplete: toggle('Remove recordings of answers that broke off'),
    'older-than': textFlag('AGE', 'Remove older recordings: 30d, 12h, 15m'),
    broken: toggle('Remove recordings that cannot be read'),
    yes: toggle('Also if that is more than half of the folder'),
    'dry-run': toggle('Only print what would be removed'),
  },
  async run(line) {
    const { unused, whole, errors, incomplete, 'older-than': age, broken, yes, 'dry-run': isDry } = line.flags
    const maxAgeMs = age === undefined ? Number.POSITIVE_INFINITY : ageMsOf(age)
    const { folder, config } = openRecordings(line)
    const { prunable, lastRun } = prunableIn(folder, maxAgeMs, whole)
    if (unused && lastRun.objection !== undefined)
      throw new ProblemsError([{ origin: relativePath(folder.dir), sentence: lastRun.objection }])
    if (!unused && !errors && !incomplete && age === undefined && !broken) {
      const data = { dryRun: true, candidates: countByReason(prunable), removed: [] }
      return { data, text: candidatesText(prunable, lastRun) }
    }
    const isChosen = { unused, error: errors, incomplete, old: true, broken, leftover: true }
    const chosen = prunable
      .map(({ file, reasons }) => ({ file, reasons: reasons.filter(reason => isChosen[reason]) }))
      .filter(({ reasons }) => reasons.length > 0)
    const recordings = chosen.filter(({ reasons }) => !reasons.includes('leftover'))
    const objection = yes || isDry ? undefined : tooMany(recordings.length, folder)
    if (objection !== undefined) throw new ProblemsError([{ origin: relativePath(folder.dir), sentence: objection }])
    if (!isDry) folder.remove(chosen.map(({ file }) => file))
    if (!isDry && unused && whole) await forgetTestsIn(folder, lastRun.goneTests, config)
    return { data: { dryRun: isDry, removed: chosen }, text: removedText(chosen, isDry) }
  },
})

/** Removes the entries of tests from the file of prompts, if there is one. */
export const forgetTests = ({ config, dir }: LoadedConfig, gone: readonly string[]) =>
  forgetTestsIn(new Folder(path.resolve(dir, config.recordings.dir)), gone, config)

async function forgetTestsIn(folder: Folder, gone: readonly string[], config: LoadedConfig['config']): Promise<void> {
  if (!hasPrompts(folder) || gone.length === 0) return
  const tokenizer = await tokenizerNamed(config.tokenizer)
  await writePrompts({ folder, ignore: ignoreFrom(config.recordings.ignore), tokenizer, tests: new Map(), gone })
}

const unitsMs: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Converts `30d`, `12h` or `15m` to milliseconds. Throws a UsageError for anything else. */
function ageMsOf(age: string): number {
  const [, count, unit = ''] = /^([1-9]\d{0,5})([mhd])$/.exec(age) ?? []
  if (count !== undefined) return Number(count) * (unitsMs[unit] ?? 0)
  throw new UsageError(`--older-than must be a number followed by m, h or d, not "${age}".`)
}

function countByReason(all: readonly Prunable[]) {
  const counts: Partial<Record<PruneReason, number>> = {}
  for (const reason of all.flatMap(({ reasons }) => reasons)) counts[reason] = (counts[reason] ?? 0) + 1
  return counts
}

function candidatesText(
  all: readonly Prunable[],
  { objection, summary }: ReturnType<typeof prunableIn>['lastRun'],
): string {
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
    const broken = problemsIn(folder)
    for (const problem of broken) console.error(printable(problemInWords(problem)))
    if (broken.length > 0) process.exitCode = 1
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
  const recording = recordingOf(path.relative(folder.dir, file), folder)
  const inRecording = recording ? secretsInRecording(recording, rules) : []
  return findSecrets(text, rules, inRecording).map(finding => ({ file, ...finding }))
}

/** `undefined` for another file, and for one that cannot be read. */
function recordingOf(file: string, folder: Folder): Recording | undefined {
  const name = file.replaceAll(path.sep, '/')
  const recording = folder.files().has(name) ? folder.read(name) : undefined
  return recording && !isProblem(recording) ? recording : undefined
}

const repair = command({
  flags: {
    ...folderFlags,
    prompts: toggle('Also begin prompts.yaml beside the folder, which each run then keeps up to date'),
    'dry-run': toggle('Only print what would be repaired'),
  },
  async run(line) {
    const { 'dry-run': isDry, prompts: isBegun } = line.flags
    const { config, folder, ignore } = openRecordings(line)
    const { repaired, problems } = repairFolder(folder, ignore, isDry)
    const prompts = isBegun || hasPrompts(folder) ? await promptsAnew({ folder, ignore, isDry }, config) : undefined
    const lines = repaired.map(
      ({ file, what, to }) => `${file}: ${what}${to === undefined || to === file ? '' : ` → ${to}`}`,
    )
    if (prompts?.hasChanged)
      lines.push(
        `${prompts.file}: ${prompts.isNew ? 'begun' : 'written anew'}, ${pluralize(prompts.definitions, 'definition')}`,
      )
    const count = repaired.length + (prompts?.hasChanged ? 1 : 0)
    const end = `${pluralize(count, 'file')} ${isDry ? 'would be repaired' : 'repaired'}.`
    for (const problem of problems) console.error(printable(problemInWords(problem)))
    if (problems.length > 0) process.exitCode = 1
    const data = { dryRun: isDry, repaired, problems, ...(prompts && { prompts }) }
    return { data, text: `${[...listedFiles(lines).map(text => text.trim()), end].map(printable).join('\n')}\n` }
  },
})

/** Writes the file of prompts from the recordings. */
async function promptsAnew(
  parts: Pick<Parameters<typeof writePrompts>[0], 'folder' | 'ignore' | 'isDry'>,
  config: LoadedConfig['config'],
) {
  const tokenizer = await tokenizerNamed(config.tokenizer)
  const written = writePrompts({ ...parts, tokenizer, tests: new Map(), isFromRecordings: true }).catch(error => {
    throw error instanceof ProblemsError
      ? error
      : new StartError(`prompts.yaml was not written (${error.code ?? error}).`)
  })
  const { file, prompts, hasChanged, isNew } = await written
  return { file, hasChanged, isNew, definitions: Object.keys(prompts.definitions).length }
}

export const recordingsCommands = {
  'recordings prune': prune,
  'recordings repair': repair,
  'recordings scan': scan,
}
