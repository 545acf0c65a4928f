/** The admin API of Supabase Auth, which changes users, as an app's server calls it. */
import { useMemo } from 'preact/hooks'
import { DASHBOARD_HEADER } from '../../core/paths.js'
import { useControl } from '../api.js'
import { unanswered } from '../failure.js'
import { refusal } from '../session/auth-client.js'

/** Sends a request with the service key. Rejects with a Failure with the backend's own message. */
export type Admin = (method: 'POST' | 'PUT' | 'DELETE', path: string, body: object) => Promise<unknown>

export function useAdmin(): Admin {
  const control = useControl()
  return useMemo(
    () => async (method, path, body) => {
      // Loaded each time, since the configuration can change it.
      const { serviceKey } = await control('GET /credentials')
      const response = await fetch(`/auth/v1/${path}`, {
        method,
        headers: {
          apikey: serviceKey,
          authorization: `Bearer ${serviceKey}`,
          'content-type': 'application/json',
          [DASHBOARD_HEADER]: 'yes',
          // With this version, errors have their `code` where auth-js expects it.
          'x-supabase-api-version': '2024-01-01',
        },
        body: JSON.stringify(body),
      }).catch(unanswered)
      const answer = await response.json().catch(() => ({}))
      if (!response.ok) throw refusal(response.status, answer.message ?? answer.msg ?? answer.error, answer.code)
      return answer
    },
    [control],
  )
}
