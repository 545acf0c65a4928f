/** Names the variable of the environment that holds such a credential as somebody has shown. */
import type { Caller } from '../core/exchange.js'

/** The names are those that the start prints, and TOKEN for what a user signs in for. */
const ofKind: Readonly<Partial<Record<Caller['kind'], string>>> = {
  apiKey: 'OPENAI_API_KEY',
  stranger: 'OPENAI_API_KEY',
  anon: 'SUPABASE_ANON_KEY',
  service: 'SUPABASE_SERVICE_ROLE_KEY',
  user: 'TOKEN',
}

const ofRole: Readonly<Record<string, string>> = {
  anon: 'SUPABASE_ANON_KEY',
  service_role: 'SUPABASE_SERVICE_ROLE_KEY',
}

/** The auth backend has no callers: there, and where nobody was let in, the credential itself says what it is. */
export function variableFor(credential: string, { kind }: Caller): string {
  const [, payload, signature] = credential.split('.')
  if (credential.startsWith('sb_publishable_')) return 'SUPABASE_PUBLISHABLE_KEY'
  if (credential.startsWith('sb_secret_')) return 'SUPABASE_SECRET_KEY'
  return ofKind[kind] ?? (payload && signature ? ofToken(payload) : 'OPENAI_API_KEY')
}

function ofToken(payload: string): string {
  try {
    const { role } = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as { role?: string }
    return ofRole[role ?? ''] ?? 'TOKEN'
  } catch {
    return 'TOKEN'
  }
}
