/** Makes rules and recordings of exchanges, as the control API does it. */
import { useMemo } from 'preact/hooks'
import type { ListJson } from '../../wire.js'
import { askControl } from '../ask-control.js'
import { useServiceKey } from '../people/service-key.jsx'

/** As much of an exchange as is needed. */
export interface EntryLike {
  readonly id: string
}

export interface Draft {
  readonly yaml: string
  readonly name: string
  readonly remarks: readonly string[]
}

export interface Problem {
  readonly line: number
  readonly column: number
  readonly sentence: string
}

export type Existing = 'refuse' | 'replace' | 'append'

export interface MakeClient {
  draft(id: string): Promise<Draft>
  check(yaml: string, signal: AbortSignal): Promise<readonly Problem[]>
  /** Gives back the ids of the rules that are in force now. */
  tryOut(yaml: string): Promise<readonly string[]>
  takeBack(ids: readonly string[]): Promise<void>
  /** Gives back the file. */
  keep(yaml: string, name: string): Promise<string>
  /** Gives back the file. */
  record(id: string, existing: Existing): Promise<string>
}

export function useMakeClient(): MakeClient {
  const { serviceKey: bearer } = useServiceKey()
  return useMemo(() => {
    const post = <Json>(path: string, body: object, signal?: AbortSignal) =>
      askControl<Json>(path, { method: 'POST', body, bearer, signal })
    return {
      draft: exchange => post('/replies/draft', { exchange }),
      check: async (yaml, signal) =>
        (await post<{ problems: readonly Problem[] }>('/replies/check', { yaml }, signal)).problems,
      tryOut: async yaml => (await post<ListJson<{ id: string }>>('/replies/try', { yaml })).data.map(({ id }) => id),
      async takeBack(ids) {
        // Somebody else may have removed one already.
        const remove = (id: string) => askControl(`/replies/${encodeURIComponent(id)}`, { method: 'DELETE', bearer })
        await Promise.all(ids.map(id => remove(id).catch(() => {})))
      },
      keep: async (yaml, name) => (await post<{ file: string }>('/replies/keep', { yaml, name })).file,
      record: async (exchange, existing) => (await post<{ file: string }>('/recordings', { exchange, existing })).file,
    }
  }, [bearer])
}
