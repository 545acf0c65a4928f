/** GET /health: is it there, and which version (platform-api.md, "Health response"). */
import type { Access, Endpoint } from '../core/exchange.js'
import { jsonReply } from './json-reply.js'

export function health({ version, access }: { version: string; access: Access }): Endpoint {
  const reply = jsonReply({ status: 'ok', version })
  return { method: 'GET', path: '/health', access, takesBody: false, reply: () => reply }
}
