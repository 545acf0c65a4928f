/**
 * The gateway in front of the auth backend. It requires a known API key, as Kong does at a self-hosted Supabase
 * (supabase-auth.md, §4).
 */
import type { Exchange } from '../core/exchange.js'
import { isSameSecret } from '../core/secrets.js'
import { startOf } from '../keys/api-key-form.js'
import { gatewayKeyMissing, gatewayRefusal } from './errors.js'
import type { Tokens } from './tokens.js'

export type Gateway = ReturnType<typeof createGateway>

interface Parts {
  /** `kong` requires a key, `open` does not. */
  readonly kind: 'kong' | 'open'
  readonly tokens: Pick<Tokens, 'anonKey' | 'serviceKey'>
  readonly publishableKey: string
  readonly secretKey: string
}

const openPaths =
  /^\/auth\/v1\/(verify|callback|authorize|\.well-known\/jwks\.json|\.well-known\/oauth-authorization-server|sso\/saml\/.*)$/

/** Whether the gateway requires no key for this path. */
export const isOpenAtGateway = (path: string) => openPaths.test(path)

export function createGateway({ kind, tokens: { anonKey, serviceKey }, publishableKey, secretKey }: Parts) {
  return {
    /**
     * Returns the Authorization header for the backend: an opaque key is replaced by its JWT. Throws Kong's 401
     * if a key is required and is missing or unknown.
     */
    admit({ path, query, headers }: Pick<Exchange, 'path' | 'query' | 'headers'>): string | undefined {
      const keys = keysIn(headers.apikey, query)
      if (kind === 'kong' && !isOpenAtGateway(path)) {
        if (keys.length > 1) throw gatewayRefusal('Duplicate API key found', { kind: 'header', reason: 'doubled' })
        const [key] = keys
        if (key === undefined) throw gatewayKeyMissing()
        const knownKeys = [anonKey, serviceKey, publishableKey, secretKey]
        if (!knownKeys.some(knownKey => knownKey !== '' && isSameSecret(knownKey, key))) {
          const tried = { kind: 'apiKey', reason: 'unknown', start: startOf(key) } as const
          throw gatewayRefusal('Invalid authentication credentials', tried)
        }
      }
      const { authorization } = headers
      if (authorization !== undefined && !authorization.startsWith('Bearer sb_')) return authorization
      const key = keys[0] ?? authorization?.slice('Bearer '.length)
      if (key === undefined) return authorization
      if (secretKey !== '' && isSameSecret(secretKey, key)) return `Bearer ${serviceKey}`
      if (publishableKey !== '' && isSameSecret(publishableKey, key)) return `Bearer ${anonKey}`
      return keys[0] ?? authorization
    },
  }
}

/** The header comes first. Two headers arrive joined by a comma, which no key contains. */
function keysIn(header: string | string[] | undefined, query: string): readonly string[] {
  if (header !== undefined && header !== '') return String(header).split(/, */)
  return query === '' ? [] : new URLSearchParams(query).getAll('apikey').filter(key => key !== '')
}
