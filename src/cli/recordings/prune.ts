/** `standin recordings prune`: removes recordings that are no longer needed, but only of the kinds that flags name. */
import { ProblemsError, UsageError } from '../../check/problem.js'
import { ageMsOf } from '../../config/recording-options.js'
import { type Folder, leftoversIn, overviewIn, type Recording } from '../../recordings/index.js'
import { type CommandLine, command, text, toggle } from '../command.js'
import { pluralize } from '../format.js'
import { groupedBy, openRecordings, readAll, removeEmptyFolders } from './folder.js'

interface Prunable {
  readonly file: string
  readonly why: 'incomplete' | 'old' | 'broken' | 'leftover'
}

const flags = {
  incomplete: toggle('Remove recordings of answers that broke off'),
  'older-than': text('AGE', 'Remove older recordings: 30d, 12h, 15m'),
  broken: toggle('Remove recordings that cannot be read'),
  'dry-run': toggle('Only print what would be removed'),
}

export const commands = {
  'recordings prune': command({
    flags,
    async run(line) {
      const { config, folder } = openRecordings(line)
      const { 'older-than': olderThan, 'dry-run': isDry } = line.flags
      const age = olderThan ?? config.recordings.maxAge
      const maxAgeMs = parseAge(age)
      const requested = requestedReasons(line)
      // Only --broken requires reading every recording in full.
      const isBrief = requested.size > 0 && !requested.has('broken')
      const { read } = await readAll(folder, line.flags, async file => ({
        found: await reasonsToPrune(folder, file, { isBrief, maxAgeMs }),
      }))
      const leftovers = await leftoversIn(folder.dir)
      const all = [
        ...read.flatMap(({ found }) => found),
        ...leftovers.map(file => ({ file, why: 'leftover' }) as const),
      ]
      if (requested.size === 0) {
        return { data: { dryRun: true, candidates: countByReason(all), removed: [] }, text: candidatesText(all, age) }
      }
      // Temporary files of killed processes are never needed, so they are always removed.
      const chosen = all.filter(({ why }) => why === 'leftover' || requested.has(why))
      const reasons = groupedBy(chosen, ({ file }) => file)
      if (!isDry) {
        for (const file of reasons.keys()) await folder.remove(file)
        await removeEmptyFolders(folder.dir, [...reasons.keys()])
      }
      const removed = [...reasons].map(([file, reasons]) => ({ file, reasons: reasons.map(({ why }) => why) }))
      return { data: { dryRun: isDry, removed }, text: removedText(removed, isDry ? 'would be removed' : 'removed') }
    },
  }),
}

function requestedReasons(line: CommandLine<typeof flags>): ReadonlySet<Prunable['why']> {
  const { incomplete, 'older-than': olderThan, broken } = line.flags
  return new Set([
    ...(incomplete ? (['incomplete'] as const) : []),
    ...(olderThan === undefined ? [] : (['old'] as const)),
    ...(broken ? (['broken'] as const) : []),
  ])
}

const countByReason = (all: readonly Prunable[]) =>
  Object.fromEntries([...groupedBy(all, ({ why }) => why)].map(([why, { length }]) => [why, length]))

function parseAge(input: string): number {
  if (/^([1-9]\d{0,5}[mhd])?$/.test(input)) return ageMsOf(input)
  throw new UsageError(`--older-than must be a number followed by m, h or d, not "${input}".`)
}

interface PruneOptions {
  readonly isBrief: boolean
  readonly maxAgeMs: number
}

async function reasonsToPrune(
  { text, read }: Folder,
  file: string,
  { isBrief, maxAgeMs }: PruneOptions,
): Promise<Prunable[]> {
  try {
    const { recordedAt, complete } = isBrief ? overviewIn(await text(file), file) : factsOf(await read(file))
    const isOld = maxAgeMs > 0 && Date.now() - Date.parse(recordedAt) > maxAgeMs
    return [
      ...(complete ? [] : [{ file, why: 'incomplete' as const }]),
      ...(isOld ? [{ file, why: 'old' as const }] : []),
    ]
  } catch (error) {
    if (error instanceof ProblemsError) return [{ file, why: 'broken' }]
    throw error
  }
}

const factsOf = ({ recordedAt, response: { complete } }: Recording) => ({ recordedAt, complete })

function candidatesText(all: readonly Prunable[], age: string): string {
  const count = (why: Prunable['why']) => pluralize(all.filter(one => one.why === why).length, 'recording')
  const lines = [
    `--incomplete       ${count('incomplete')}`,
    age === ''
      ? '--older-than AGE   such as 30d (recordings.maxAge is not set)'
      : `--older-than ${age.padEnd(5)} ${count('old')}`,
    `--broken           ${count('broken')}`,
  ]
  const leftovers = all.filter(({ why }) => why === 'leftover').length
  const more =
    leftovers > 0
      ? [`Each of these flags also removes ${pluralize(leftovers, 'temporary file')} of processes that were killed.`]
      : []
  return `${['Nothing was removed. Choose what to remove:', ...lines.map(line => `  ${line}`), ...more].join('\n')}\n`
}

function removedText(removed: readonly { readonly file: string; readonly reasons: readonly string[] }[], what: string) {
  const lines = removed.map(({ file, reasons }) => `${file}: ${reasons.join(', ')}`)
  return `${[...lines, `${pluralize(removed.length, 'file')} ${what}.`].join('\n')}\n`
}
