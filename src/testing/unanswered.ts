/** Requests for which nothing was prepared: no recording, or no rule with `strict`. */
import { missText } from '../check/miss-text.js'
import type { Exchange } from '../core/exchange.js'
import type { Platform } from '../platform.js'
import type { Miss } from '../recordings/index.js'

export type Unanswered = ReturnType<typeof createUnanswered>

const MOST = 100

export function createUnanswered(platform: Platform) {
  /** Requests that no rule matched, with `strict`. */
  let unmatched: readonly (Pick<Exchange, 'scope' | 'startedMs'> & { readonly sentence: string })[] = []
  platform.journal.followErrors(exchange => {
    const { outcome, method, path, scope, startedMs } = exchange
    if (outcome?.code !== 'no_rule_matches') return
    const sentence = `${method} ${path}${asking(exchange)}: ${outcome.error}`
    unmatched = [...unmatched.slice(1 - MOST), { scope, startedMs, sentence }]
  })

  const isOf = (scope: string | undefined) => (one: { readonly scope: string }) => (scope ?? one.scope) === one.scope
  const misses = (scope?: string): readonly Miss[] => platform.misses().filter(isOf(scope))

  return {
    misses,
    /** Throws an Error that lists each request with the closest match. */
    expectNone(scope?: string): void {
      // With another `onMiss`, misses are answered as configured, so they do not count.
      const missed = platform.loaded.config.recordings.onMiss === 'fail' ? misses(scope).toReversed() : []
      const current = unmatched.filter(one => !platform.journal.isPast(one))
      requireNone([
        ...current.filter(isOf(scope)).map(({ sentence }) => sentence),
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
function asking({ chat }: Exchange): string {
  const content = chat?.messages.at(-1)?.content
  return typeof content === 'string' ? `, ${JSON.stringify(content.slice(0, 200))}` : ''
}
