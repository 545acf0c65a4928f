/** Requests that had no prepared answer, as tests report them. */
import { unpainted } from '../check/finding.js'
import { changesText, createMissGroups, missGroupText, repeatText } from '../check/miss-groups.js'
import type { Exchange } from '../core/exchange.js'
import { jsonOf } from '../core/json.js'
import type { Platform } from '../platform.js'
import type { Miss } from '../recordings/index.js'

export type TestMisses = ReturnType<typeof createTestMisses>

const MOST_UNMATCHED = 100

/** The requests without a prepared answer, in their order. */
export interface Unprepared {
  /** For requests that no rule matched, a sentence each. */
  readonly unmatched: readonly string[]
  readonly missed: readonly Miss[]
}

export function createTestMisses(platform: Platform) {
  /** Requests that no rule matched, with `strict`. */
  let unmatched: readonly (Pick<Exchange, 'scope' | 'startedMs'> & { readonly sentence: string })[] = []
  platform.journal.followErrors(exchange => {
    const { outcome, method, path, scope, startedMs } = exchange
    if (outcome?.code !== 'no_rule_matches') return
    const sentence = `${method} ${path}${lastMessageOf(exchange)}: ${outcome.error}`
    unmatched = [...unmatched.slice(1 - MOST_UNMATCHED), { scope, startedMs, sentence }]
  })

  const isInScope = (scope: string | undefined) => (one: { readonly scope: string }) =>
    (scope ?? one.scope) === one.scope
  const misses = (scope?: string): readonly Miss[] => platform.misses().filter(isInScope(scope))

  function unprepared(scope?: string): Unprepared {
    const current = unmatched.filter(one => !platform.journal.isPast(one))
    return {
      unmatched: current.filter(isInScope(scope)).map(({ sentence }) => sentence),
      missed: failing.has(platform.loaded.config.recordings.onMiss) ? misses(scope).toReversed() : [],
    }
  }

  return {
    misses,
    unprepared,
    /** Throws an Error that lists these requests, each difference once, with the closest recording or rule. */
    expectNone: (scope?: string) => requireNone(unprepared(scope)),
  }
}

/** With another `onMiss`, misses are answered as configured, so they do not count. */
const failing: ReadonlySet<string> = new Set(['fail', 'nearest', 'any'])

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

/** The last message of a chat request that no rule matched. The journal has dropped what was parsed. */
function lastMessageOf({ chat, body }: Exchange): string {
  const { messages } = (chat ?? (body && jsonOf(body)) ?? {}) as Partial<NonNullable<Exchange['chat']>>
  const content = messages?.at(-1)?.content
  return typeof content === 'string' ? `, ${JSON.stringify(content.slice(0, 200))}` : ''
}
