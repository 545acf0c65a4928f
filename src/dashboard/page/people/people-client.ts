/** What the developer sees of the app's people, as the dashboard's API has it. */
import { useMemo } from 'preact/hooks'
import type { ListJson, MessageJson, PageJson, PersonJson, RefusalJson } from '../../wire.js'
import { ask } from '../ask.js'
import { useServiceKey } from './service-key.jsx'

export interface PeopleClient {
  users(page: { limit: number; offset: number }, signal: AbortSignal): Promise<PageJson<PersonJson>>
  messages(signal: AbortSignal): Promise<readonly MessageJson[]>
  clearMessages(): Promise<void>
  refusals(signal: AbortSignal): Promise<readonly RefusalJson[]>
}

export function usePeopleClient(): PeopleClient {
  const { serviceKey: bearer } = useServiceKey()
  return useMemo(
    () => ({
      users: ({ limit, offset }, signal) => ask(`/users?limit=${limit}&offset=${offset}`, { bearer, signal }),
      messages: async signal => (await ask<ListJson<MessageJson>>('/messages', { bearer, signal })).data,
      clearMessages: () => ask('/messages', { method: 'DELETE', bearer }),
      refusals: async signal => (await ask<ListJson<RefusalJson>>('/refusals', { bearer, signal })).data,
    }),
    [bearer],
  )
}
