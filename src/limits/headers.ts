/** The headers in which OpenAI's clients read how much is left. */

/** Of one limit. */
export interface LimitState {
  readonly name: 'requests' | 'tokens'
  /** 0 where there is none. */
  readonly limit: number
  readonly used: number
  /** Milliseconds until all of it is there again. */
  readonly resetMs: number
}

/** As node's flat array of names and values; none where there is no limit. */
export function standingHeaders({ name, limit, used, resetMs }: LimitState): readonly string[] {
  if (limit === 0) return []
  return [
    ...[`x-ratelimit-limit-${name}`, String(limit)],
    ...[`x-ratelimit-remaining-${name}`, String(Math.max(0, limit - used))],
    ...[`x-ratelimit-reset-${name}`, duration(resetMs)],
  ]
}

/** When to come again: in seconds for everybody, in milliseconds for OpenAI's clients, which read that first. */
export const retryHeaders = (afterMs: number): readonly string[] => [
  ...['retry-after', String(Math.max(1, Math.ceil(afterMs / 1000)))],
  ...['retry-after-ms', String(Math.max(1, Math.ceil(afterMs)))],
]

/** OpenAI's clients do not send a request again whose answer says this. */
export const neverRetry: readonly string[] = ['x-should-retry', 'false']

/** A time as OpenAI writes it, which is Go's way: `6ms`, `1.2s`, `1m0s`. */
export function duration(exactMs: number): string {
  const ms = Math.max(0, Math.ceil(exactMs))
  if (ms > 0 && ms < 1000) return `${ms}ms`
  const minutes = Math.floor(ms / 60_000)
  const seconds = `${(ms % 60_000) / 1000}s`
  return minutes === 0 ? seconds : `${minutes}m${seconds}`
}
