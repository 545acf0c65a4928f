/** Supabase's client. It is most of the page's code, so it is loaded after the rest. */
import type { SupabaseClient } from '@supabase/supabase-js'
import { DASHBOARD_HEADER } from '../../core/paths.js'
import type { ConfigJson } from '../../dashboard/operations.js'
import { Failure, noAnswer } from '../failure.js'

export type Auth = SupabaseClient['auth']

/** The key of the session in the browser's local storage. */
export const STORAGE_KEY = 'standin-dashboard'

export async function openAuth({ url, auth_url, anon_key }: ConfigJson): Promise<Auth> {
  const { createClient } = await import('@supabase/supabase-js')
  // The platform has several host names; the page uses the one it was opened under.
  const address = auth_url === url ? location.origin : auth_url
  // Elsewhere the header would need a preflight, and there is no journal.
  const global = { headers: address === location.origin ? { [DASHBOARD_HEADER]: 'yes' } : {} }
  return createClient(address, anon_key, { auth: { storageKey: STORAGE_KEY }, global }).auth
}

/** Throws a Failure with the backend's own message if a call of the client failed. */
export function requireSuccess({
  error,
}: {
  readonly error: (Error & { readonly status?: number | undefined }) | null
}): void {
  if (!error) return
  if (error.name === 'AuthRetryableFetchError') throw noAnswer()
  throw new Failure(error.status ?? -1, error.message)
}
