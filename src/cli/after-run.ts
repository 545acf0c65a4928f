/** What remains to be done after a run: a note of what it used, and the recordings that it no longer asks for. */
import type { Platform } from '../platform.js'
import type { Tidied } from '../recordings/index.js'
import type { EventLog } from './event-log.js'
import { pluralize, printable } from './output.js'
import { listedFiles } from './receipt.js'

interface EndedRun {
  readonly platform: Platform
  readonly log: EventLog
  readonly exitCode: number
  readonly isWhole: boolean
  readonly isPruning: boolean
  readonly isSure: boolean
}

/** Says which recordings were removed, and which ones nobody asked for, and returns both. Rejects with the error of the file system. */
export async function endRun({ platform, log, ...ended }: EndedRun): Promise<Pick<Tidied, 'removed' | 'notAsked'>> {
  const tidied = await platform.endRun(ended)
  const { notAsked = [], ofNoTest = 0, goneTests = [], objection } = tidied ?? {}
  const removed = [...(platform.sharedRun?.removed() ?? []), ...(tidied?.removed ?? [])]
  if (ended.isWhole && ended.isPruning && goneTests.length > 0) await forgetPrompts(platform, goneTests)
  logTidied(log, { removed, notAsked, goneTests, objection, advice: adviceOn(ended, ofNoTest) })
  return { removed, notAsked }
}

interface LoggedTidied extends Pick<Tidied, 'removed' | 'notAsked' | 'goneTests' | 'objection'> {
  /** On what was not asked for. */
  readonly advice: string
}

/** Says what became of the recordings that nobody asked for. */
export function logTidied(log: EventLog, { removed, notAsked, goneTests, objection, advice }: LoggedTidied): void {
  const listed = (event: string, title: string, files: readonly string[]) => {
    if (files.length > 0) log.event({ event, files }, () => [title, ...listedFiles(files)].map(printable).join('\n'))
  }
  if (objection !== undefined) log.problem({ event: 'not-pruned', files: notAsked, objection }, () => objection)
  listed(
    'pruned',
    `Removed, because these tests no longer ask for them: ${pluralize(removed.length, 'recording')}`,
    removed,
  )
  listed('not-asked', `Not asked for in this run${advice}: ${pluralize(notAsked.length, 'recording')}`, notAsked)
  listed('gone-tests', `Tests that have recordings, and did not run: ${goneTests.length}`, goneTests)
  log.flush()
}

function adviceOn({ isPruning, isWhole }: Pick<EndedRun, 'isPruning' | 'isWhole'>, ofNoTest: number): string {
  if (ofNoTest > 0 && !isWhole) return ' (if all tests ran, --whole --prune removes them)'
  return isPruning ? '' : ' (--prune removes them)'
}

async function forgetPrompts({ loaded }: Platform, gone: readonly string[]): Promise<void> {
  const { forgetTests } = await import('./recordings.js')
  await forgetTests(loaded, gone)
}
