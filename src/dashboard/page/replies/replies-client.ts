/** Rules in force as the control API has them. */
import { useMemo } from 'preact/hooks'
import type { ListJson, PageJson } from '../../wire.js'
import { askControl } from '../ask-control.js'
import { useServiceKey } from '../people/service-key.jsx'
import type { WrittenRule } from './in-short.js'

export interface RuleJson {
  /** Only one that was added at run time has an id. */
  readonly id: string | null
  readonly title: string
  /** The file and the line, or that it was added at run time. */
  readonly place: string
  readonly scope: string | null
  /** Nothing where nobody counts. */
  readonly answered: number | null
  readonly rule: WrittenRule
  /** As a file would have it. */
  readonly yaml: string
}

/** A chat request in the journal, as far as it is shown. */
export interface AskedJson {
  readonly id: string
  readonly at: string
  readonly status: number | null
  readonly source: string | null
  readonly request: { readonly body?: unknown }
}

export interface RepliesClient {
  list(query: string, signal: AbortSignal): Promise<PageJson<RuleJson>>
  remove(id: string): Promise<void>
  /** The last chat requests, the newest first. */
  asked(signal: AbortSignal): Promise<readonly AskedJson[]>
}

/** So many of the last requests are shown to choose from. */
const LAST = 20

export function useRepliesClient(): RepliesClient {
  const { serviceKey: bearer } = useServiceKey()
  return useMemo(
    () => ({
      list: (query, signal) => askControl(`/replies${query}`, { bearer, signal }),
      remove: id => askControl(`/replies/${encodeURIComponent(id)}`, { method: 'DELETE', bearer }),
      async asked(signal) {
        const query = new URLSearchParams({ method: 'POST', path: '/v1/chat/completions', limit: String(LAST) })
        const { data } = await askControl<ListJson<AskedJson>>(`/journal?${query}`, { bearer, signal })
        return data.toReversed()
      },
    }),
    [bearer],
  )
}
