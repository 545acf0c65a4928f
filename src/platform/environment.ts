/** A platform's addresses and keys under the names by which clients look for them. */
import type { Config } from '../config/schema.js'

/** The keys of newer Supabase clients. */
interface NewerKeys {
  readonly publishableKey: string
  readonly secretKey: string
}

interface Shown {
  readonly url: string
  readonly authUrl: string
  readonly anonKey: string
  readonly serviceKey: string
  readonly apiKey: string
  readonly loaded: { readonly config: { readonly auth: NewerKeys } }
}

/** The first configured API key that works; empty where there is none. */
export function usableKey({ apiKeys }: Pick<Config, 'apiKeys'>, nowMs: number): string {
  const isUsable = ({ revoked, expiresAt }: Config['apiKeys'][number]) =>
    !revoked && (expiresAt === undefined || Date.parse(expiresAt) > nowMs)
  return apiKeys.find(isUsable)?.key ?? ''
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
