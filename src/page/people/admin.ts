/** The admin API of Supabase Auth, as an app's server calls it: what changes users. */
import { useMemo } from 'preact/hooks'
import { DASHBOARD_HEADER } from '../../core/paths.js'
import { useControl } from '../api.js'
import { unanswered } from '../failure.js'
import { refusal } from '../session/auth-client.js'

/** Sends a request with the service key. Rejects with a Failure in the backend's own words. */
export type Admin = (method: 'POST' | 'PUT' | 'DELETE', path: string, body: object) => Promise<unknown>

export function useAdmin(): Admin {
  const control = useControl()
  return useMemo(
    () => async (method, path, body) => {
      // Each time, since the configuration may change it.
      const { serviceKey } = await control('GET /credentials')
      const response = await fetch(`/auth/v1/${path}`, {
        method,
        headers: {
          apikey: serviceKey,
          authorization: `Bearer ${serviceKey}`,
          'content-type': 'application/json',
          [DASHBOARD_HEADER]: 'yes',
          // With it, errors have their code where auth-js looks for it.
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
