/** The summary of a run as Markdown, for the page of a CI job. */
import { appendFileSync } from 'node:fs'
import { causeText, missGroupText } from '../check/miss-groups.js'
import type { EventLog } from './event-log.js'
import { noColors } from './output.js'
import { isJudged, receiptText, violatingAnswerText } from './receipt.js'
import type { RunResult } from './receipt-file.js'

const MOST_IN_SECTION = 20

/** Appends the summary to the file. Throws the system's error. */
export function appendSummary(
  file: string,
  { mode, requests, receipt, violations, elsewhere }: RunResult,
  { missed, changed }: Pick<EventLog, 'missed' | 'changed'>,
  exitCode: number,
): void {
  const sections = [
    `### Standin: mode ${mode}, exit code ${exitCode}`,
    requestsTable(requests),
    ...(receipt ? [receiptText(receipt, noColors, false)] : []),
    section('Misses', missed.groups().map(missGroupText)),
    section(
      'Changed requests that the nearest recordings answered',
      changed.causes().map(cause => causeText(cause)),
    ),
    section('Variables', elsewhere),
    section('Unused recordings', receipt && isJudged(receipt) ? receipt.unused : []),
    section('Not asked for in this run', receipt?.notAsked ?? []),
    section(
      'Findings',
      violations.map(one => violatingAnswerText(one, noColors)),
    ),
  ]
  appendFileSync(file, `${sections.filter(text => text !== '').join('\n\n')}\n`)
}

function requestsTable(requests: RunResult['requests']): string {
  const counts = Object.entries(requests)
  if (counts.length === 0) return 'No requests: was the base URL read before the run set it?'
  const rows = counts.sort(([, one], [, other]) => other.total - one.total).slice(0, MOST_IN_SECTION)
  const lines = rows.map(
    ([name, { total, failed }]) => `| ${inCode(name).replaceAll('|', '\\|')} | ${total} | ${failed} |`,
  )
  return ['| request | count | errors |', '| --- | --- | --- |', ...lines].join('\n')
}

/** A title with the number of items, and the items in a block. Empty if there are none. */
function section(title: string, items: readonly string[]): string {
  if (items.length === 0) return ''
  const shown = items.slice(0, MOST_IN_SECTION)
  const more = items.length > shown.length ? [`… and ${items.length - shown.length} more`] : []
  return `<details open><summary>${title}: ${items.length}</summary>\n\n${block([...shown, ...more].join('\n'))}\n\n</details>`
}

/** Text that Markdown shows as it is, whatever it contains. */
function block(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}text\n${text}\n${fence}`
}

const inCode = (text: string) => `\`${text.replace(/[`\n\r]/g, ' ').slice(0, 200)}\``
