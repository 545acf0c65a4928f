/** Sessions as the control API has them. */
import { useMemo } from 'preact/hooks'
import type { PageJson } from '../../wire.js'
import { askControl } from '../ask-control.js'
import { useServiceKey } from '../people/service-key.jsx'

export interface SessionJson {
  readonly id: string
  readonly user_id: string
  readonly email: string | null
  readonly phone: string | null
  readonly is_anonymous: boolean
  readonly created_at: string
  readonly refreshed_at: string | null
  readonly token_expires_at: string
  readonly aal: string
  readonly methods: readonly string[]
}

/** What to call its user. */
export const nameOf = ({ email, phone, is_anonymous }: SessionJson) =>
  email || phone || (is_anonymous ? 'Anonymous user' : 'No address')

export interface SessionsClient {
  list(query: string, signal: AbortSignal): Promise<PageJson<SessionJson>>
  end(id: string): Promise<void>
  /** Ends all of a user. */
  endAllOf(userId: string): Promise<void>
}

export function useSessionsClient(): SessionsClient {
  const { serviceKey: bearer } = useServiceKey()
  return useMemo(
    () => ({
      list: (query, signal) => askControl(`/sessions${query}`, { bearer, signal }),
      end: id => askControl(`/sessions/${encodeURIComponent(id)}`, { method: 'DELETE', bearer }),
      endAllOf: user => askControl(`/sessions?${new URLSearchParams({ user })}`, { method: 'DELETE', bearer }),
    }),
    [bearer],
  )
}
