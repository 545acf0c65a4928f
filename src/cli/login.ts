/** `standin login` and `standin logout`: a session at the live auth backend, for the modes that ask the live platform. */
import { AuthClient, type AuthError, isAuthRetryableFetchError } from '@supabase/supabase-js'
import { fetchFrom } from '../core/fetch-from.js'
import { StartError, UsageError } from '../core/start-error.js'
import { keepSession, keptSession, sessionsFile } from '../supabase/session-file.js'
import type { CommandLine } from './arguments.js'
import { load } from './configured.js'
import { credentialsFor } from './login-credentials.js'

/** The live auth backend of the configuration. */
interface Live {
  /** Without `/auth/v1`. */
  readonly authUrl: string
  readonly anonKey: string
  readonly firstByteTimeoutMs: number
  readonly insecure: boolean
}

/** Gives back who is signed in, and where. Rejects with a StartError in the backend's own words when it refuses. */
export async function login(commandLine: CommandLine): Promise<string> {
  const live = liveOf(commandLine)
  const file = sessionsFile()
  // A file that cannot be used says so before anybody is asked for a password.
  keptSession(file, live.authUrl)
  const { client, reasonOf } = clientOf(live)
  const { data, error } = await client.signInWithPassword(await credentialsFor(commandLine.given))
  if (error) throw new StartError(`${live.authUrl} does not sign you in: ${reasonOf(error)}`)
  const { session, user } = data
  const email = user.email ?? ''
  keepSession(file, live.authUrl, {
    email,
    accessToken: session.access_token,
    refreshToken: session.refresh_token,
    expiresAt: new Date(Date.now() + session.expires_in * 1000).toISOString(),
  })
  return `Signed in to ${live.authUrl} as ${email}. The session is kept in ${file}.\n`
}

/** Gives back who was signed out, and where. Whether the live backend still answers does not matter. */
export async function logout(commandLine: CommandLine): Promise<string> {
  const live = liveOf(commandLine)
  const file = sessionsFile()
  const session = keptSession(file, live.authUrl)
  if (!session) return `Nobody is signed in to ${live.authUrl}.\n`
  keepSession(file, live.authUrl, undefined)
  const { client, reasonOf } = clientOf(live)
  const { error } = await client.admin.signOut(session.accessToken, 'local')
  if (error) console.error(`${live.authUrl} was not told (${reasonOf(error)}); there the session ends by itself.`)
  return `Signed out of ${live.authUrl}, where ${session.email} was signed in.\n`
}

function liveOf(commandLine: CommandLine): Live {
  const { authUrl, anonKey, firstByteTimeoutMs, insecure } = load(commandLine).config.upstream
  const missing = Object.entries({ authUrl, anonKey }).flatMap(([name, value]) => (value ? [] : [`upstream.${name}`]))
  if (missing.length === 0) return { authUrl: authUrl.replace(/\/+$/, ''), anonKey, firstByteTimeoutMs, insecure }
  const [command] = commandLine.words
  throw new UsageError(`standin ${command} needs ${missing.join(' and ')} in the configuration: the live auth backend.`)
}

/** The part of Supabase's client that signs in (the whole of it asks for a WebSocket on Node 20), and why a call of it failed. */
function clientOf({ authUrl, anonKey, firstByteTimeoutMs, insecure }: Live) {
  let unreachable: string | undefined
  const client = new AuthClient({
    url: `${authUrl}/auth/v1`,
    headers: { apikey: anonKey, Authorization: `Bearer ${anonKey}` },
    persistSession: false,
    autoRefreshToken: false,
    detectSessionInUrl: false,
    async fetch(input, init) {
      try {
        return await fetchFrom({ insecure })(input, {
          ...init,
          signal: AbortSignal.timeout(firstByteTimeoutMs),
          redirect: 'error',
        })
      } catch (error) {
        const { message, cause } = error as Error & { cause?: { code?: string } }
        unreachable = cause?.code ?? message
        // An error the client would print, with its stack.
        return new Response(null, { status: 503 })
      }
    },
  })
  // Of an answer that is none of the backend's own the client keeps the status alone.
  const reasonOf = (error: AuthError) =>
    unreachable ?? (isAuthRetryableFetchError(error) ? `status ${error.status}` : error.message)
  return { client, reasonOf }
}
