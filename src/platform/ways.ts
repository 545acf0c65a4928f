/** The ways to the live platform and to its auth backend, with the credentials that open them. */
import type { Tokens } from '../auth/tokens.js'
import type { Config } from '../config/schema.js'
import type { Cors } from '../server/cors.js'

type Warn = (sentence: string) => void

/** `warn` is told why a session that `standin login` has kept cannot be used. */
export async function openProxy({ upstream }: Config, corsFor: Cors['headersFor'], warn: Warn) {
  const { callersOwn, createProxy, platformCredentials } = await import('../server/proxy.js')
  const userToken = await openLiveSession(upstream, warn)
  const credentials = upstream.credentials === 'pass' ? callersOwn : platformCredentials({ ...upstream, userToken })
  return createProxy({ ...upstream, corsFor, credentials })
}

/** What `standin login` has kept stands in for an API key that is not configured. */
export async function openLiveSession(upstream: Config['upstream'], warn: Warn) {
  if (upstream.apiKey !== '' || upstream.authUrl === '' || upstream.credentials === 'pass') return undefined
  const [{ createLiveSession }, { sessionsFile }] = await Promise.all([
    import('../auth/live-session.js'),
    import('../auth/session-file.js'),
  ])
  return createLiveSession({ ...upstream, file: sessionsFile(), report: warn }).token
}

export async function openAuthProxy(
  { upstream, auth: { publishableKey, secretKey } }: Config,
  tokens: () => Promise<Tokens>,
  corsFor: Cors['headersFor'],
) {
  const [{ createProxy, authCredentials }, { anonKey, serviceKey }] = await Promise.all([
    import('../server/proxy.js'),
    tokens(),
  ])
  const credentials = authCredentials({
    local: [anonKey, publishableKey],
    admin: [serviceKey, secretKey],
    live: upstream.anonKey,
  })
  // Its 404 has forms of its own.
  return createProxy({ ...upstream, baseUrl: upstream.authUrl, corsFor, credentials, errors: 'untouched' })
}
