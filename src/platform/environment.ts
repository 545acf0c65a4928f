/** A platform's addresses and keys under the names by which clients look for them. */
import type { LoadedConfig } from '../config/load.js'

interface Shown {
  readonly url: string
  readonly authUrl: string
  readonly anonKey: string
  readonly serviceKey: string
  readonly apiKey: string
  readonly loaded: LoadedConfig
}

export function environmentOf({ url, authUrl, anonKey, serviceKey, apiKey, loaded }: Shown) {
  const { publishableKey, secretKey } = loaded.config.auth
  return [
    ['PLATFORM_BASE_URL', url],
    ['OPENAI_BASE_URL', `${url}/v1`],
    ['OPENAI_API_KEY', apiKey],
    ['SUPABASE_URL', authUrl],
    ['SUPABASE_ANON_KEY', anonKey],
    ['SUPABASE_SERVICE_ROLE_KEY', serviceKey],
    ['SUPABASE_PUBLISHABLE_KEY', publishableKey],
    ['SUPABASE_SECRET_KEY', secretKey],
  ] as const
}
