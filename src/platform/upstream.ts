/** The proxies to the live platform and its auth backend, with their credentials. */
import { mcpServers } from '../config/mcp-options.js'
import type { Config } from '../config/schema.js'
import type { Exchange } from '../core/exchange.js'
import type { Cors } from '../http/cors.js'
import type { Upstream } from '../http/proxy.js'
import type { Tokens } from '../supabase/tokens.js'

type Warn = (sentence: string) => void

/** Whether an MCP server is at a path; `undefined` if there are none. */
export function mcpPathsOf({ mcp }: Pick<Config, 'mcp'>): ((path: string) => boolean) | undefined {
  const servers = mcpServers(mcp)
  return servers.size === 0 ? undefined : path => servers.has(path)
}

/** `warn` is called with the reason if the session from `standin login` cannot be used. */
export async function openProxy(config: Config, corsFor: Cors['headersFor'], warn: Warn) {
  const { upstream } = config
  const { callerCredentials, createProxy, platformCredentials } = await import('../http/proxy.js')
  const userToken = await openLiveSession(upstream, warn)
  const isMcp = mcpPathsOf(config)
  const ownCredentials = platformCredentials({ ...upstream, userToken, isMcp })
  const credentials = upstream.credentials === 'pass' ? callerCredentials : ownCredentials
  return createProxy({ ...upstream, corsFor, credentials, isMcp })
}

/** The session from `standin login`, used if no API key is configured. */
export async function openLiveSession(upstream: Config['upstream'], warn: Warn) {
  if (upstream.apiKey !== '' || upstream.authUrl === '' || upstream.credentials === 'pass') return undefined
  const [{ createLiveSession }, { sessionsFile }] = await Promise.all([
    import('../supabase/live-session.js'),
    import('../supabase/session-file.js'),
  ])
  return createLiveSession({ ...upstream, file: sessionsFile(), report: warn }).token
}

/** Calls to the auth backend that can end sessions: sign-out, password changes, and admin changes to a user. */
const mayEndSessions = ({ method, path }: Pick<Exchange, 'method' | 'path'>) =>
  !/^(GET|HEAD)$/.test(method) && /\/(logout|user|admin)(\/|$)/.test(path)

/** `forget` is called before the client gets an answer that may have invalidated a token. */
export async function openAuthProxy(
  { upstream, auth: { publishableKey, secretKey } }: Config,
  tokens: () => Promise<Tokens>,
  corsFor: Cors['headersFor'],
  forget: () => void,
): Promise<Upstream> {
  const [{ createProxy, authCredentials }, { anonKey, serviceKey }] = await Promise.all([
    import('../http/proxy.js'),
    tokens(),
  ])
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
