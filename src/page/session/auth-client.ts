/** Supabase's client, which is most of what the page has to load and comes behind the rest. */
import type { SupabaseClient } from '@supabase/supabase-js'
import type { ConfigJson } from '../../dashboard/operations.js'
import { Failure, noAnswer } from '../failure.js'

export type Auth = SupabaseClient['auth']

/** Where the session is kept in the browser. */
export const STORAGE_KEY = 'standin-dashboard'

export async function openAuth({ url, auth_url, anon_key }: ConfigJson): Promise<Auth> {
  const { createClient } = await import('@supabase/supabase-js')
  // The platform has several names, and the page stays with the one that it was opened under.
  const address = auth_url === url ? location.origin : auth_url
  return createClient(address, anon_key, { auth: { storageKey: STORAGE_KEY } }).auth
}

/** Throws a Failure in the backend's own words when a call of the client did not succeed. */
export function requireSuccess({
  error,
}: {
  readonly error: (Error & { readonly status?: number | undefined }) | null
}): void {
  if (!error) return
  if (error.name === 'AuthRetryableFetchError') throw noAnswer()
  throw new Failure(error.status ?? -1, error.message)
}
