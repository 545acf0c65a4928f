/** Loads one exchange with its curl command and, if no recording matched, the closest recording. */
import type { JournalEntry } from '../../journal/operations.js'
import type { Miss } from '../../recordings/operations.js'
import type { Control } from '../api.js'
import { useResource } from '../widgets/resource.js'

export interface ExchangeState {
  readonly entry: JournalEntry
  readonly curl: string
  readonly miss: Miss | undefined
}

export const useExchange = (id: string, control: Control) =>
  useResource(signal => load(id, control, signal), [id, control])

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
