/** What remains to be done after a run: a note of what a replay used, and the recordings that a recording run did not ask for. */
import path from 'node:path'
import type { Platform } from '../platform.js'
import { type Folder, openFolder, writeReplayNote } from '../recordings/index.js'
import type { EventLog } from './event-log.js'
import { pluralize } from './output.js'
import { listedFiles } from './receipt.js'
import { removeRecordings } from './recordings.js'

interface EndedRun {
  readonly platform: Platform
  readonly startedMs: number
  readonly exitCode: number
}

const folderOf = ({ loaded: { config, dir } }: Platform): Folder => openFolder(path.resolve(dir, config.recordings.dir))

/** Leaves a note for `recordings prune --unused`. Where nothing can be written, the command itself says that there is none. */
export function noteReplay({ platform, startedMs, exitCode }: EndedRun): void {
  const { served = 0, unused = [] } = platform.receipt() ?? {}
  if (served === 0) return
  try {
    writeReplayNote(folderOf(platform).dir, { startedMs, endedMs: Date.now(), exitCode, served, unused: [...unused] })
  } catch {
    // As in CI, where the folder may be read-only.
  }
}

/** Lists the recordings that the run did not ask for, and removes them if wanted. Rejects with the error of the file system. */
export async function endRecording(
  { platform, startedMs, exitCode }: EndedRun,
  log: EventLog,
  isPruning: boolean,
): Promise<void> {
  const folder = folderOf(platform)
  // Another run at the same time may have asked for them.
  const isOld = (file: string) => !folder.isChangedSince(file, startedMs)
  const files = (platform.receipt()?.notAsked ?? []).filter(isOld)
  if (files.length === 0) return
  if (exitCode !== 0) {
    const sentence = 'Nothing was pruned, because the run failed and may not have asked for everything.'
    if (isPruning) log.problem({ event: 'not-pruned', files }, () => sentence)
    return
  }
  if (isPruning) await removeRecordings(folder, files)
  const title = isPruning
    ? 'Removed, because this run did not ask for them'
    : 'Not asked for in this run (--prune removes them)'
  log.event({ event: isPruning ? 'pruned' : 'not-asked', files }, () =>
    [`${title}: ${pluralize(files.length, 'recording')}`, ...listedFiles(files)].join('\n'),
  )
  log.end()
}
