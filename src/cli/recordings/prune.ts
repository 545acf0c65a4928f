/** `standin recordings prune`: removes recordings that are no longer needed, and only the kinds that flags name. */
import { ProblemsError, UsageError } from '../../check/problem.js'
import { ageMsOf } from '../../config/recording-options.js'
import { type Folder, leftoversIn, overviewIn, type Recording } from '../../recordings/index.js'
import { type CommandLine, command, text, yes } from '../command.js'
import { counted } from '../format.js'
import { groupedBy, openRecordings, readAll, removeEmptyFolders } from './folder.js'

interface Prunable {
  readonly file: string
  readonly why: 'incomplete' | 'old' | 'broken' | 'leftover'
}

const flags = {
  incomplete: yes('Remove recordings of answers that broke off'),
  'older-than': text('AGE', 'Remove older recordings: 30d, 12h, 15m'),
  broken: yes('Remove recordings that cannot be read'),
  'dry-run': yes('Only print what would be done'),
}

export const commands = {
  'recordings prune': command({
    flags,
    async run(line) {
      const { config, folder } = openRecordings(line)
      const { 'older-than': olderThan, 'dry-run': isDry } = line.flags
      const age = olderThan ?? config.recordings.maxAge
      const maxAgeMs = ageIn(age)
      const wanted = wantedIn(line.flags)
      // Only --broken requires reading every recording in full.
      const isBrief = wanted.size > 0 && !wanted.has('broken')
      const { read } = await readAll(folder, line.flags, async file => ({
        found: await prunable(folder, file, { isBrief, maxAgeMs }),
      }))
      const leftovers = await leftoversIn(folder.dir)
      const all = [
        ...read.flatMap(({ found }) => found),
        ...leftovers.map(file => ({ file, why: 'leftover' }) as const),
      ]
      if (wanted.size === 0) {
        return { data: { dryRun: true, candidates: candidatesIn(all), removed: [] }, words: advice(all, age) }
      }
      // Leftovers are never needed, so they are always removed.
      const chosen = all.filter(({ why }) => why === 'leftover' || wanted.has(why))
      const reasons = groupedBy(chosen, ({ file }) => file)
      if (!isDry) {
        for (const file of reasons.keys()) await folder.remove(file)
        await removeEmptyFolders(folder.dir, [...reasons.keys()])
      }
      const removed = [...reasons].map(([file, reasons]) => ({ file, reasons: reasons.map(({ why }) => why) }))
      return { data: { dryRun: isDry, removed }, words: report(removed, isDry ? 'would be removed' : 'removed') }
    },
  }),
}

const wantedIn = (given: CommandLine<typeof flags>['flags']): ReadonlySet<Prunable['why']> =>
  new Set([
    ...(given.incomplete ? (['incomplete'] as const) : []),
    ...(given['older-than'] === undefined ? [] : (['old'] as const)),
    ...(given.broken ? (['broken'] as const) : []),
  ])

const candidatesIn = (all: readonly Prunable[]) =>
  Object.fromEntries([...groupedBy(all, ({ why }) => why)].map(([why, { length }]) => [why, length]))

function ageIn(written: string): number {
  if (/^([1-9]\d{0,5}[mhd])?$/.test(written)) return ageMsOf(written)
  throw new UsageError(`--older-than must be a number followed by m, h or d, not "${written}".`)
}

interface Reading {
  readonly isBrief: boolean
  readonly maxAgeMs: number
}

async function prunable({ text, read }: Folder, file: string, { isBrief, maxAgeMs }: Reading): Promise<Prunable[]> {
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

function advice(all: readonly Prunable[], age: string): string {
  const count = (why: Prunable['why']) => counted(all.filter(one => one.why === why).length, 'recording')
  const lines = [
    `--incomplete       ${count('incomplete')}`,
    age === ''
      ? '--older-than AGE   such as 30d; recordings.maxAge sets none'
      : `--older-than ${age.padEnd(5)} ${count('old')}`,
    `--broken           ${count('broken')}`,
  ]
  const leftovers = all.filter(({ why }) => why === 'leftover').length
  const more = leftovers > 0 ? [`Each of them also removes ${counted(leftovers, 'leftover')} of killed processes.`] : []
  return `${['Nothing was removed. Choose what to remove:', ...lines.map(line => `  ${line}`), ...more].join('\n')}\n`
}

function report(removed: readonly { readonly file: string; readonly reasons: readonly string[] }[], what: string) {
  const lines = removed.map(({ file, reasons }) => `${file}: ${reasons.join(', ')}`)
  return `${[...lines, `${counted(removed.length, 'file')} ${what}.`].join('\n')}\n`
}
