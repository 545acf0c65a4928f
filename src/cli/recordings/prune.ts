/** `standin recordings prune`: removes recordings that are no longer needed, but only of the kinds that flags name. */
import { rmdir } from 'node:fs/promises'
import path from 'node:path'
import { ProblemsError, UsageError } from '../../check/problem.js'
import { type Folder, leftoversIn } from '../../recordings/index.js'
import { command, folderFlags, text, toggle } from '../command.js'
import { pluralize } from '../format.js'
import { eachFile, openRecordings } from './folder.js'

type Reason = 'incomplete' | 'old' | 'broken' | 'leftover'

interface Prunable {
  readonly file: string
  readonly reasons: readonly Reason[]
}

export const commands = {
  'recordings prune': command({
    flags: {
      ...folderFlags,
      incomplete: toggle('Remove recordings of answers that broke off'),
      'older-than': text('AGE', 'Remove older recordings: 30d, 12h, 15m'),
      broken: toggle('Remove recordings that cannot be read'),
      'dry-run': toggle('Only print what would be removed'),
    },
    async run(line) {
      const { incomplete, 'older-than': age, broken, 'dry-run': isDry } = line.flags
      const maxAgeMs = age === undefined ? Number.POSITIVE_INFINITY : ageMsOf(age)
      const { folder } = openRecordings(line)
      const all = await prunableIn(folder, maxAgeMs, line.flags)
      if (!incomplete && age === undefined && !broken) {
        return { data: { dryRun: true, candidates: countByReason(all), removed: [] }, text: candidatesText(all) }
      }
      const isChosen = { incomplete, old: true, broken, leftover: true }
      const chosen = all
        .map(({ file, reasons }) => ({ file, reasons: reasons.filter(reason => isChosen[reason]) }))
        .filter(({ reasons }) => reasons.length > 0)
      if (!isDry) {
        for (const { file } of chosen) folder.remove(file)
        await removeEmptyFolders(folder.dir, chosen)
      }
      return { data: { dryRun: isDry, removed: chosen }, text: removedText(chosen, isDry) }
    },
  }),
}

const unitsMs: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Converts `30d`, `12h` or `15m` to milliseconds. Throws a UsageError for anything else. */
function ageMsOf(age: string): number {
  const [, count, unit = ''] = /^([1-9]\d{0,5})([mhd])$/.exec(age) ?? []
  if (count !== undefined) return Number(count) * (unitsMs[unit] ?? 0)
  throw new UsageError(`--older-than must be a number followed by m, h or d, not "${age}".`)
}

/** The recordings that could be removed, and the temporary files of killed processes, which are never needed. */
async function prunableIn(folder: Folder, maxAgeMs: number, flags: Parameters<typeof eachFile>[1]) {
  const files = (await folder.list()).map(({ file }) => file)
  const recordings = await eachFile(files, flags, async (file): Promise<Prunable> => {
    return { file, reasons: await reasonsToPrune(folder, file, maxAgeMs) }
  })
  const leftovers = (await leftoversIn(folder.dir)).map((file): Prunable => ({ file, reasons: ['leftover'] }))
  return [...recordings, ...leftovers]
}

async function reasonsToPrune({ read }: Folder, file: string, maxAgeMs: number): Promise<readonly Reason[]> {
  try {
    const { recordedAt, response } = await read(file)
    const isOld = Date.now() - Date.parse(recordedAt) > maxAgeMs
    return [...(response.complete ? [] : (['incomplete'] as const)), ...(isOld ? (['old'] as const) : [])]
  } catch (error) {
    if (error instanceof ProblemsError) return ['broken']
    throw error
  }
}

/** Removes the folders that are now empty, but not the folder of recordings itself. */
async function removeEmptyFolders(dir: string, removed: readonly Prunable[]): Promise<void> {
  for (const folder of new Set(removed.map(({ file }) => path.posix.dirname(file)))) {
    for (let at = folder; at !== '.'; at = path.posix.dirname(at)) {
      const isRemoved = await rmdir(path.join(dir, at)).then(
        () => true,
        () => false,
      )
      if (!isRemoved) break
    }
  }
}

function countByReason(all: readonly Prunable[]) {
  const counts: Partial<Record<Reason, number>> = {}
  for (const reason of all.flatMap(({ reasons }) => reasons)) counts[reason] = (counts[reason] ?? 0) + 1
  return counts
}

function candidatesText(all: readonly Prunable[]): string {
  const { incomplete = 0, broken = 0, leftover = 0 } = countByReason(all)
  const lines = [
    'Nothing was removed. Choose what to remove:',
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
