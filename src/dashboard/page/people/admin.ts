/** The admin API of Supabase Auth, which changes users, as an app's server calls it. */
import { DASHBOARD_HEADER } from '../../../core/paths.js'
import { control, refusal, unanswered } from '../api.js'

/** Sends a request with the service key. Rejects with a Failure with the backend's own message. */
export async function admin(method: 'POST' | 'PUT' | 'DELETE', path: string, body: object): Promise<void> {
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
  if (response.ok) return
  const { message, msg, error, code } = await response.json().catch(() => ({}))
  throw refusal(response.status, message ?? msg ?? error, code)
}
