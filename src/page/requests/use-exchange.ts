/** Loads one exchange with its curl command and, if no recording matched, the closest recording. */
import { useEffect, useState } from 'preact/hooks'
import type { JournalEntry } from '../../journal/operations.js'
import type { Miss } from '../../recordings/operations.js'
import type { Control } from '../api.js'
import { type Failure, failureOf } from '../failure.js'

export interface ExchangeState {
  readonly entry: JournalEntry
  readonly curl: string
  readonly miss: Miss | undefined
}

type LoadedExchange =
  | { readonly kind: 'loading' }
  | { readonly kind: 'ready'; readonly exchange: ExchangeState }
  /** The journal drops old exchanges, and skips some under heavy load. */
  | { readonly kind: 'gone' }
  | { readonly kind: 'failed'; readonly failure: Failure }

/** A finished exchange does not change, so it is loaded once. `again` retries after a failure. */
export function useExchange(id: string, control: Control) {
  const [loaded, setLoaded] = useState<LoadedExchange>({ kind: 'loading' })
  const [round, setRound] = useState(0)
  useEffect(() => {
    const leaving = new AbortController()
    load(id, control, leaving.signal).then(
      exchange => leaving.signal.aborted || setLoaded({ kind: 'ready', exchange }),
      thrown => leaving.signal.aborted || setLoaded(missing(failureOf(thrown))),
    )
    return () => leaving.abort()
  }, [id, control, round])
  return { loaded, again: () => setRound(round => round + 1) }
}

const missing = (failure: Failure): LoadedExchange =>
  failure.status === 404 ? { kind: 'gone' } : { kind: 'failed', failure }

async function load(id: string, control: Control, signal: AbortSignal): Promise<ExchangeState> {
  const [entry, curl] = await Promise.all([
    control('GET /journal/{id}', { id, signal }),
    control('GET /journal/{id}/curl', { id, signal }),
  ])
  const wasMissed = entry.mode === 'replay' && entry.error !== null
  const miss = wasMissed ? missOf(entry, (await control('GET /misses', { signal })).data) : undefined
  return { entry, curl, miss }
}

/** Misses have no ids, so this finds the one with the same request that is closest in time. */
function missOf({ request, error, at, durationMs }: JournalEntry, misses: readonly Miss[]): Miss | undefined {
  const endedMs = Date.parse(at) + durationMs
  const away = (miss: Miss) => Math.abs(Date.parse(miss.at) - endedMs)
  return misses
    .filter(({ method, path, reason }) => method === request.method && path === request.path && error?.includes(reason))
    .toSorted((a, b) => away(a) - away(b))[0]
}
