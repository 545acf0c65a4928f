/** GET /auth/v1/.well-known/jwks.json: the public keys of user tokens (RFC 7517, open to anyone as at Supabase). */
import type { Endpoint } from '../core/exchange.js'
import { jsonReply } from './json-reply.js'

export function jwks(keys: () => Promise<object>): Endpoint {
  return {
    method: 'GET',
    path: '/auth/v1/.well-known/jwks.json',
    access: 'anyone',
    takesBody: false,
    reply: async () => ({ ...jsonReply(await keys()), headers: ['cache-control', 'public, max-age=600'] }),
  }
}
