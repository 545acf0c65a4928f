/** The proxies to the live platform and its auth backend, with their credentials. */

import type { Exchange } from '../core/exchange.js'
import type { Cors } from '../http/cors.js'
import type { Upstream } from '../http/proxy.js'
import { mcpServers } from '../mcp/options.js'
import type { Tokens } from '../supabase/tokens.js'
import type { Config } from './config/schema.js'

/** Whether an MCP server is at a path; `undefined` if there are none. */
export function mcpPathsOf({ mcp }: Pick<Config, 'mcp'>): ((path: string) => boolean) | undefined {
  const servers = mcpServers(mcp)
  return servers.size === 0 ? undefined : path => servers.has(path)
}

export async function openProxy(config: Config, corsFor: Cors['headersFor']) {
  const { upstream } = config
  const { callerCredentials, createProxy, platformCredentials } = await import('../http/proxy.js')
  const isMcp = mcpPathsOf(config)
  const ownCredentials = platformCredentials({ ...upstream, isMcp })
  const credentials = upstream.credentials === 'pass' ? callerCredentials : ownCredentials
  return createProxy({ ...upstream, corsFor, credentials, isMcp })
}

/** Calls to the auth backend that can end sessions: sign-out, password changes, and admin changes to a user. */
const mayEndSessions = ({ method, path }: Pick<Exchange, 'method' | 'path'>) =>
  !/^(GET|HEAD)$/.test(method) && /\/(logout|user|admin)(\/|$)/.test(path)

/** `forget` is called before the client gets an answer that may have invalidated a token. */
export async function openAuthProxy(
  { upstream, auth: { publishableKey, secretKey } }: Config,
  { anonKey, serviceKey }: Tokens,
  corsFor: Cors['headersFor'],
  forget: () => void,
): Promise<Upstream> {
  const { createProxy, authCredentials } = await import('../http/proxy.js')
  const credentials = authCredentials({
    local: [anonKey, publishableKey],
    admin: [serviceKey, secretKey],
    live: upstream.anonKey,
  })
  // The auth backend's errors have their own forms.
  const proxy = createProxy({ ...upstream, baseUrl: upstream.authUrl, corsFor, credentials, errors: 'untouched' })
  // `end` as well, because the backend may have acted even without an answer.
  const observer = { head: forget, bytes: () => {}, end: forget }
  return {
    forward: context => proxy.forward(mayEndSessions(context.exchange) ? { ...context, observer } : context),
  }
}
