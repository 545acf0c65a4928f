/** Requests that no recording or, with `strict`, no rule matched. */
import { missText } from '../check/miss-text.js'
import type { Exchange } from '../core/exchange.js'
import type { Platform } from '../platform.js'
import type { Miss } from '../recordings/index.js'

export type TestMisses = ReturnType<typeof createTestMisses>

const MOST_UNMATCHED = 100

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

  return {
    misses,
    /** Throws an Error that lists these requests, each with the closest recording or rule. */
    expectNone(scope?: string): void {
      // With another `onMiss`, misses are answered as configured, so they do not count.
      const missed = platform.loaded.config.recordings.onMiss === 'fail' ? misses(scope).toReversed() : []
      const current = unmatched.filter(one => !platform.journal.isPast(one))
      requireNone([
        ...current.filter(isInScope(scope)).map(({ sentence }) => sentence),
        ...missed.map(miss => missText(miss)),
      ])
    },
  }
}

/** Throws an Error with these sentences, one per request. */
export function requireNone(sentences: readonly string[]): void {
  if (sentences.length === 0) return
  const title =
    sentences.length === 1
      ? 'A request had no prepared answer.'
      : `${sentences.length} requests had no prepared answer.`
  throw new Error([title, ...sentences].join('\n\n'))
}

/** The last message of a chat request. */
function lastMessageOf({ chat }: Exchange): string {
  const content = chat?.messages.at(-1)?.content
  return typeof content === 'string' ? `, ${JSON.stringify(content.slice(0, 200))}` : ''
}
