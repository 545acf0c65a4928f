/** `standin recordings prune`: removes recordings that are no longer needed, and only the kinds that are asked for. */
import { UsageError } from '../../check/problem.js'
import { ageMsOf } from '../../config/recording-options.js'
import { type Folder, leftoversIn, overviewIn } from '../../recordings/index.js'
import { counted } from '../amounts.js'
import type { CommandLine } from '../arguments.js'
import { fileProgress } from '../progress.js'
import { groupedBy, openRecordings, type Read, readEach, removeEmptyFolders } from './folder.js'

/** A file that can be removed, and why. */
interface Prunable {
  readonly file: string
  readonly why: 'incomplete' | 'old' | 'broken' | 'leftover'
}

/** Throws a UsageError for an invalid age. */
export async function pruneRecordings(commandLine: CommandLine): Promise<string> {
  const { given, json, quiet } = commandLine
  const { config, folder } = openRecordings(commandLine)
  const olderThan = given.get('older-than') ?? config.recordings.maxAge
  const maxAgeMs = ageIn(String(olderThan))
  const wanted = new Set([...flags].flatMap(([why, flag]) => (given.has(flag) ? [why] : [])))
  // Only --broken requires reading every recording in full.
  const isBrief = wanted.size > 0 && !wanted.has('broken')
  const kept = await folder.list()
  const read = await readEach(kept, file => fateOf(folder, file, isBrief), fileProgress(kept.length, commandLine))
  const leftovers = await leftoversIn(folder.dir)
  const all = [...read.flatMap(one => prunable(one, maxAgeMs)), ...leftovers.map(leftover)]

  if (wanted.size === 0) {
    if (json) return inJson([], { dryRun: true, candidates: candidatesIn(all) })
    return quiet ? '' : advice(all, String(olderThan))
  }
  // Leftovers are never needed, so they are always removed.
  const chosen = all.filter(({ why }) => why === 'leftover' || wanted.has(why))
  const isDry = given.has('dry-run')
  if (!isDry) {
    for (const { file } of chosen) await folder.remove(file)
    await removeEmptyFolders(
      folder.dir,
      chosen.map(({ file }) => file),
    )
  }
  if (json) return inJson(chosen, { dryRun: isDry })
  return quiet ? '' : report(chosen, isDry ? 'would be removed' : 'removed')
}

/** How many there are of each kind. */
const candidatesIn = (all: readonly Prunable[]) =>
  Object.fromEntries([...groupedBy(all, ({ why }) => why)].map(([why, { length }]) => [why, length]))

function inJson(chosen: readonly Prunable[], facts: object): string {
  const removed = [...groupedBy(chosen, ({ file }) => file)].map(([file, reasons]) => ({
    file,
    reasons: reasons.map(({ why }) => why),
  }))
  return `${JSON.stringify({ ...facts, removed }, null, 2)}\n`
}

/** The flag for each reason. */
const flags: ReadonlyMap<Prunable['why'], string> = new Map([
  ['incomplete', 'incomplete'],
  ['old', 'older-than'],
  ['broken', 'broken'],
])

function ageIn(written: string): number {
  if (/^([1-9]\d{0,5}[mhd])?$/.test(written)) return ageMsOf(written)
  throw new UsageError(`--older-than must be a number with m, h or d behind it, not "${written}".`)
}

/** The facts that decide whether a recording is kept. */
interface Fate {
  readonly recordedAt: string
  readonly complete: boolean
}

async function fateOf(folder: Folder, file: string, isBrief: boolean): Promise<Fate> {
  if (isBrief) return overviewIn(await folder.text(file), file)
  const { recordedAt, response } = await folder.read(file)
  return { recordedAt, complete: response.complete }
}

const leftover = (file: string): Prunable => ({ file, why: 'leftover' })

function prunable(one: Read<Fate>, maxAgeMs: number): readonly Prunable[] {
  const { file } = one.kept
  if (one.kind === 'broken') return [{ file, why: 'broken' }]
  const { recordedAt, complete } = one.value
  const isOld = maxAgeMs > 0 && Date.now() - Date.parse(recordedAt) > maxAgeMs
  return [
    ...(complete ? [] : [{ file, why: 'incomplete' } as const]),
    ...(isOld ? [{ file, why: 'old' } as const] : []),
  ]
}

/** Says what each flag would remove. */
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
  const more = leftovers > 0 ? [`Each removes ${counted(leftovers, 'leftover')} of killed processes as well.`] : []
  return `${['Nothing is removed. Say what is to be:', ...lines.map(line => `  ${line}`), ...more].join('\n')}\n`
}

function report(chosen: readonly Prunable[], what: string): string {
  const files = groupedBy(chosen, ({ file }) => file)
  const lines = [...files].map(([file, reasons]) => `${file}: ${reasons.map(({ why }) => why).join(', ')}`)
  return `${[...lines, `${counted(files.size, 'file')} ${what}.`].join('\n')}\n`
}
