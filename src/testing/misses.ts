/** Requests that had no prepared answer, as tests report them. */

import { messagesIn } from '../chat/said.js'
import { unpainted } from '../check/finding.js'
import { changesText, createMissGroups, missGroupText, repeatText } from '../check/miss-groups.js'
import type { JournalEntry } from '../journal/index.js'
import type { Miss } from '../recordings/index.js'

/** The requests without a prepared answer, in their order. */
export interface Unprepared {
  /** For requests that no rule matched, a sentence each. */
  readonly unmatched: readonly string[]
  readonly missed: readonly Miss[]
}

/** Whether a request was refused because nothing was prepared for it. Over MCP, that is no error by its status. */
export const isUnprepared = ({ code }: { readonly code?: string | null | undefined }): boolean =>
  code === 'no_rule_matches' || code === 'no_recording'

/** `misses` are the latest first. Those that `recordings.onMiss` emulates or records do not count. */
export function unpreparedIn(misses: readonly Miss[], entries: readonly JournalEntry[]): Unprepared {
  const isFailing = entries.some(({ code }) => code === 'no_recording')
  const unmatched = entries.filter(({ code }) => code === 'no_rule_matches')
  return {
    unmatched: unmatched.map(({ request, error }) => {
      const { method, path, body } = request
      return `${method} ${path}${lastMessageIn(body)}: ${error}`
    }),
    missed: misses.filter(({ changed }) => changed || isFailing).toReversed(),
  }
}

/**
 * Throws an Error about these requests, if there are any. `reported` remembers differences that were already shown in
 * another test, which are then only named.
 */
export function requireNone({ unmatched, missed }: Unprepared, reported = new Set<string>()): void {
  requireUnchanged(missed)
  const groups = createMissGroups()
  const others = missed.filter(({ changed }) => !changed)
  for (const miss of others) groups.add(miss)
  const texts = groups.groups().map(group => {
    const isReported = reported.has(group.key)
    reported.add(group.key)
    return isReported ? repeatText(group) : missGroupText(group)
  })
  const count = unmatched.length + others.length
  if (count === 0) return
  const title = count === 1 ? 'A request had no prepared answer.' : `${count} requests had no prepared answer.`
  throw new Error([title, ...unmatched, ...texts].join('\n\n'))
}

/** Throws an Error about the changed requests that the nearest recordings answered, grouped by what differs. */
export function requireUnchanged(missed: readonly Miss[]): void {
  const groups = createMissGroups()
  for (const miss of missed) if (miss.changed) groups.add(miss)
  if (groups.groups().length > 0) throw new Error(changesText(groups, unpainted))
}

/** The last message of a chat request. */
function lastMessageIn(body: unknown): string {
  const { content } = messagesIn(body).at(-1) ?? {}
  return typeof content === 'string' ? `, ${JSON.stringify(content.slice(0, 200))}` : ''
}
