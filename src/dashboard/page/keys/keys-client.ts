/** The user's keys, as the dashboard's API has them. */
import { useMemo } from 'preact/hooks'
import type { KeyJson, ListJson, NewKeyJson } from '../../wire.js'
import { ask } from '../ask.js'
import { Failure } from '../failure.js'
import { useSession } from '../session/session.jsx'

export interface KeysClient {
  list(signal: AbortSignal): Promise<readonly KeyJson[]>
  create(wanted: { readonly name: string; readonly expires_at: string | null }): Promise<NewKeyJson>
  roll(id: string, overlapSeconds: number): Promise<NewKeyJson>
  revoke(id: string): Promise<KeyJson>
}

export function useKeysClient(): KeysClient {
  const { token, end } = useSession()
  return useMemo(() => {
    async function asUser<Json>(path: string, options: Parameters<typeof ask>[1] = {}): Promise<Json> {
      try {
        return await ask<Json>(`/keys${path}`, { ...options, bearer: await token() })
      } catch (thrown) {
        if (thrown instanceof Failure && thrown.status === 401) await end()
        throw thrown
      }
    }
    return {
      list: async signal => (await asUser<ListJson<KeyJson>>('', { signal })).data,
      create: wanted => asUser('', { method: 'POST', body: wanted }),
      roll: (id, overlapSeconds) =>
        asUser(`/${id}/roll`, { method: 'POST', body: { overlap_seconds: overlapSeconds } }),
      revoke: id => asUser(`/${id}`, { method: 'DELETE' }),
    }
  }, [token, end])
}
