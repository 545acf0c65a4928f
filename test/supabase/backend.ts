/** Sets the scene for the auth backend: a platform, Supabase's own client for it, and the messages that it would have sent. */
import { createClient, type SupabaseClient, type SupabaseClientOptions } from '@supabase/supabase-js'
import { onTestFinished, vi } from 'vitest'
import type { ConfigInput } from '../../src/platform/config/schema.js'
import { openPlatform, type Platform } from '../../src/platform.js'
import type { MessageRow } from '../../src/state/rows.js'

type AuthOptions = NonNullable<ConfigInput['auth']>
type ClientAuthOptions = SupabaseClientOptions<'public'>['auth']

export interface Backend {
  readonly url: string
  readonly anonKey: string
  readonly serviceKey: string
  /** Supabase's own client with the anon key; no user is signed in. */
  client(auth?: ClientAuthOptions): SupabaseClient
  /** Supabase's client with the service key. */
  readonly admin: SupabaseClient['auth']['admin']
  /** Sends a request to a path under /auth/v1, by default with the anon key for the gateway and no bearer token. */
  ask(path: string, options?: Ask): Promise<Response>
  /** Every email and text message so far, the oldest first. */
  readonly outbox: readonly MessageRow[]
  readonly stop: Platform['stop']
  /** The last message to a recipient. */
  messageTo(recipient: string): SentMessage
}

/** A message with its code and link; only emails have a link. */
type SentMessage = MessageRow & { readonly code: string; readonly link: string }

interface Ask {
  readonly method?: string
  /** Sent as JSON; a string is sent as it is. */
  readonly body?: unknown
  readonly bearer?: string
  readonly headers?: Record<string, string>
}

/** The header with which Supabase's clients request the newer format of errors. */
export const versioned = { 'x-supabase-api-version': '2024-01-01' }

/** Starts a platform whose auth backend has these settings and takes phone numbers, and no users but those of `options`. */
export async function backendWith(auth: AuthOptions = {}, options: Omit<ConfigInput, 'auth'> = {}): Promise<Backend> {
  const values = { port: 0, state: 'memory', users: [], ...options }
  const flags = [
    ...Object.entries(values).map(([name, value]) => ({ path: [name], value, origin: 'test' })),
    ...Object.entries({ ...auth, external: { phone: true, ...auth.external } }).map(([name, value]) => ({
      path: ['auth', name],
      value,
      origin: 'test',
    })),
  ]
  const platform = await openPlatform({ cwd: process.cwd(), file: false, flags })
  onTestFinished(() => platform.stop())
  const outbox: MessageRow[] = []
  platform.onMessage(message => void outbox.push(message))
  const { url, anonKey, serviceKey } = platform
  const client = (key: string, auth?: ClientAuthOptions) =>
    createClient(url, key, {
      auth: { autoRefreshToken: false, detectSessionInUrl: false, ...auth },
    })
  return {
    url,
    anonKey,
    serviceKey,
    stop: platform.stop,
    outbox,
    client: auth => client(anonKey, auth),
    admin: client(serviceKey, { persistSession: false }).auth.admin,
    ask: (path, { method, body, bearer, headers } = {}) =>
      fetch(`${url}/auth/v1${path}`, {
        method: method ?? (body === undefined ? 'GET' : 'POST'),
        redirect: 'manual',
        headers: { apikey: anonKey, ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }), ...headers },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      }),
    messageTo(recipient) {
      const found = outbox.findLast(message => message.recipient === recipient)
      if (!found) throw new Error(`Nothing was sent to ${recipient}.`)
      return { ...found, code: found.code ?? '', link: found.link ?? '' }
    },
  }
}

let people = 0

/** The credentials of a user who does not exist yet. */
export const newUser = () => ({ email: `user${++people}@example.com`, password: 'correct horse' })

/** A phone number that no user has yet. */
export const somePhone = () => `4790${String(++people).padStart(6, '0')}`

/** Signs up a new user, who has a session at once; returns the email and password, the user and the tokens. */
export async function newcomer({ ask }: Backend, more: object = {}): Promise<Newcomer> {
  const { email, password } = newUser()
  const signedUp = await bodyOf(ask('/signup', { body: { email, password, ...more } }))
  return { email, password, ...signedUp }
}

interface Newcomer {
  readonly email: string
  readonly password: string
  readonly access_token: string
  readonly refresh_token: string
  readonly user: { readonly id: string; readonly [field: string]: unknown }
}

/** Freezes the time until the test advances it. */
export function clock() {
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  return { pass: (seconds: number) => vi.setSystemTime(Date.now() + seconds * 1000) }
}

/** The parsed body of a response. */
export const bodyOf = async (response: Response | Promise<Response>) => JSON.parse(await (await response).text())

/** The status, code and message of an error, in the newer format or the older one. */
export const refusal = async (pending: Response | Promise<Response>) => {
  const response = await pending
  const body = await bodyOf(response)
  return {
    status: response.status,
    code: typeof body.code === 'string' ? body.code : body.error_code,
    message: body.message ?? body.msg,
  }
}

/** The claims and the header of a JWT, unverified. */
export const claimsOf = (token: string) => partOf(token, 1)
export const headerOf = (token: string) => partOf(token, 0)

const partOf = (token: string, part: 0 | 1) =>
  JSON.parse(Buffer.from(token.split('.')[part] ?? '', 'base64url').toString())

/** Follows a link; returns the parts of the URL that it redirects to. */
export async function follow(link: string) {
  const response = await fetch(link, { redirect: 'manual' })
  const location = new URL(response.headers.get('location') ?? 'none:')
  return {
    status: response.status,
    location: location.href,
    query: Object.fromEntries(location.searchParams),
    fragment: Object.fromEntries(new URLSearchParams(location.hash.slice(1))),
  }
}

export const UUID = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/
export const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z$/
