/** What remains to be done after a run: a note of what it used, and the recordings that it no longer asks for. */
import type { Platform } from '../platform.js'
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

/** Says which recordings were removed, and which ones nobody asked for. Rejects with the error of the file system. */
export async function endRun({ platform, log, ...ended }: EndedRun): Promise<void> {
  const tidied = await platform.endRun(ended)
  const { notAsked = [], ofNoTest = 0, goneTests = [], objection } = tidied ?? {}
  const removed = [...(platform.sharedRun?.removed() ?? []), ...(tidied?.removed ?? [])]
  if (ended.isWhole && ended.isPruning && goneTests.length > 0) await forgetPrompts(platform, goneTests)
  const listed = (event: string, title: string, files: readonly string[]) => {
    if (files.length > 0) log.event({ event, files }, () => [title, ...listedFiles(files)].map(printable).join('\n'))
  }
  if (objection !== undefined) log.problem({ event: 'not-pruned', files: notAsked, objection }, () => objection)
  listed(
    'pruned',
    `Removed, because these tests no longer ask for them: ${pluralize(removed.length, 'recording')}`,
    removed,
  )
  listed(
    'not-asked',
    `Not asked for in this run${adviceOn(ended, ofNoTest)}: ${pluralize(notAsked.length, 'recording')}`,
    notAsked,
  )
  listed('gone-tests', `Tests that have recordings, and did not run: ${goneTests.length}`, goneTests)
  log.end()
}

function adviceOn({ isPruning, isWhole }: Pick<EndedRun, 'isPruning' | 'isWhole'>, ofNoTest: number): string {
  if (ofNoTest > 0 && !isWhole) return ' (if all tests ran, --whole --prune removes them)'
  return isPruning ? '' : ' (--prune removes them)'
}

async function forgetPrompts({ loaded }: Platform, gone: readonly string[]): Promise<void> {
  if (!loaded.config.recordings.prompts) return
  const { forgetTests } = await import('./recordings.js')
  await forgetTests(loaded, gone)
}
