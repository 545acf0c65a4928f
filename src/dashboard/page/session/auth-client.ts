/** Supabase's auth client. It is a large part of the page's code, so it is loaded after the rest. */
import type { AuthClient } from '@supabase/auth-js'
import { DASHBOARD_HEADER } from '../../../core/paths.js'
import type { ConfigJson } from '../../operations.js'
import { Failure, noAnswer } from '../failure.js'

export type Auth = InstanceType<typeof AuthClient>

export const STORAGE_KEY = 'standin-dashboard'

/** `onRefused` is called with the backend's error code for each request that it refuses. */
export async function openAuth(
  { url, auth_url, anon_key }: ConfigJson,
  onRefused: (code: string) => void,
): Promise<Auth> {
  const { AuthClient } = await import('@supabase/auth-js')
  // The platform has several host names; the page uses the one it was opened under.
  const address = auth_url === url ? location.origin : auth_url
  return new AuthClient({
    url: `${address}/auth/v1`,
    headers: {
      // As supabase-js sends them.
      apikey: anon_key,
      Authorization: `Bearer ${anon_key}`,
      // On another origin, the header would cause a preflight, and there is no journal.
      ...(address === location.origin && { [DASHBOARD_HEADER]: 'yes' }),
    },
    storageKey: STORAGE_KEY,
    async fetch(input, init) {
      const response = await fetch(input, init)
      if (!response.ok) onRefused(await codeOf(response.clone()))
      return response
    },
  })
}

async function codeOf(refused: Response): Promise<string> {
  const body = await refused.json().catch(() => undefined)
  return String(body?.code ?? '')
}

/** The fields that the error codes of the auth backend are about. */
const fields: Readonly<Record<string, string>> = {
  invalid_credentials: 'password',
  weak_password: 'password',
  same_password: 'password',
  user_already_exists: 'email',
  email_exists: 'email',
  email_address_invalid: 'email',
  phone_exists: 'phone',
}

/** A Failure with the auth backend's own message. */
export function refusal(status: number, message: string, code: string | undefined): Failure {
  // Only the message of a validation error says which field it is about.
  const named = /\b(password|email|phone)\b/i.exec(message)?.[1]?.toLowerCase()
  return new Failure(status, message, { code, field: code === 'validation_failed' ? named : fields[code ?? ''] })
}

interface AuthAnswer {
  readonly error: (Error & { readonly status?: number | undefined; readonly code?: string | undefined }) | null
}

/** Throws a Failure with the backend's own message if a call of the client failed. */
export function requireSuccess({ error }: AuthAnswer): void {
  if (!error) return
  if (error.name === 'AuthRetryableFetchError') throw noAnswer()
  throw refusal(error.status ?? -1, error.message, error.code)
}
