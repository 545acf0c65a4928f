/** The order of recordings that count as the same request, although their names have different keys. */
import { compared } from './canonical.js'
import type { RecordingFile } from './names.js'

export interface DatedEntry {
  readonly entry: Pick<RecordingFile, 'key' | 'nth'>
  readonly recordedAt: string
}

/** Sorts by time. Recordings with one key keep the order of their numbers, because an update changes the time of one. */
export function inOrder<T extends DatedEntry>(all: readonly T[]): readonly T[] {
  const byNumber = all.toSorted((a, b) => byKey(a, b) || a.entry.nth - b.entry.nth)
  const times = all.toSorted((a, b) => byKey(a, b) || timeOf(a) - timeOf(b)).map(timeOf)
  return byNumber
    .map((one, i) => ({ one, time: times[i] as number }))
    .sort((a, b) => a.time - b.time)
    .map(({ one }) => one)
}

const byKey = (a: DatedEntry, b: DatedEntry) => compared(a.entry.key, b.entry.key)
const timeOf = ({ recordedAt }: DatedEntry) => Date.parse(recordedAt)
