/** Users of a platform, who sign up and sign in through Supabase's own client, and how their tokens are answered. */

import { createClient, type SupabaseClient } from '@supabase/supabase-js'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import type { Platform } from '../../src/index.js'
import { KEY_UNKNOWN } from '../sentences.js'

/** What these helpers need to know about a platform. */
export type Place = Pick<Platform, 'url' | 'authUrl' | 'anonKey' | 'serviceKey'>

/** A user who is signed in, with a client of their own. */
export interface Person {
  readonly client: SupabaseClient
  readonly id: string
  readonly email: string
  readonly password: string
  /** The access token. */
  readonly token: string
  readonly refreshToken: string
}

/** A Supabase client that keeps its session in memory. */
export const clientOf = ({ authUrl }: Pick<Place, 'authUrl'>, key: string): SupabaseClient =>
  createClient(authUrl, key, { auth: { persistSession: false, autoRefreshToken: false } })

/** The admin API, called with the service key. */
export const adminOf = (place: Place) => clientOf(place, place.serviceKey).auth.admin

type Method = 'signUp' | 'signInWithPassword'

async function authenticate(place: Place, method: Method, email: string, password: string): Promise<Person> {
  const client = clientOf(place, place.anonKey)
  const { data, error } = await client.auth[method]({ email, password })
  if (error) throw error
  const { user, session } = data
  if (!user || !session) throw new Error(`${email} got no session.`)
  return { client, id: user.id, email, password, token: session.access_token, refreshToken: session.refresh_token }
}

export const signUp = (place: Place, email = 'ada@example.com', password = 'correct-horse') =>
  authenticate(place, 'signUp', email, password)

export const signIn = (place: Place, { email, password }: Pick<Person, 'email' | 'password'>) =>
  authenticate(place, 'signInWithPassword', email, password)

/** Sends a GET request to one of the platform's endpoints. */
export const ask = ({ url }: Pick<Place, 'url'>, bearer: string, path = '/v1/models') =>
  fetch(url + path, { headers: { authorization: `Bearer ${bearer}` } })

/** How a credential is answered: `open`, or the message of the 401. */
export async function answerOf(place: Pick<Place, 'url'>, bearer: string, path = '/v1/models'): Promise<string> {
  const response = await ask(place, bearer, path)
  const { error } = (await response.json()) as { error?: string }
  return response.status === 200 ? 'open' : response.status === 401 && error ? error : `${response.status}: ${error}`
}

/** Calls the auth backend as Supabase's client does, with the anon key for the gateway. */
export const askAuth = (place: Place, path: string, { headers, ...init }: AuthRequest = {}) =>
  fetch(`${place.authUrl}/auth/v1${path}`, { ...init, headers: { apikey: place.anonKey, ...headers } })

type AuthRequest = Omit<RequestInit, 'headers'> & { readonly headers?: Record<string, string> }

/** The id of the user to whom the auth backend says a token belongs, or the code of its refusal. */
export async function userOf(place: Place, bearer: string): Promise<string> {
  const response = await askAuth(place, '/user', { headers: { authorization: `Bearer ${bearer}` } })
  const { id, error_code } = (await response.json()) as { id?: string; error_code?: string }
  return id ?? `${response.status} ${error_code}`
}

/** The claims of a token, unverified. */
export const claimsOf = (token: string) => decodeJwt(token)

/** The protected header of a token, unverified. */
export const headerOf = (token: string) => decodeProtectedHeader(token)

export const sentences = {
  unknownKey: KEY_UNKNOWN,
  revokedKey: 'The API key has been revoked.',
  expiredKey: 'The API key has expired.',
  ownerless: 'The owner of this API key can no longer sign in.',
  ended: 'The session of this token has ended. Sign in again for a fresh one.',
  barred: 'The user of this token can no longer sign in.',
  wrongSignature: "The token was not signed by this platform's auth backend.",
  unreadable: 'The token is not a readable JWT.',
  algorithm: 'The token is not signed with an algorithm that is accepted here.',
  noRole: 'The token has no role that grants access here. Sign in to get a user token.',
  noExpiry: 'The token has no readable expiry time (exp).',
  notYet: 'The token is not valid yet.',
  expired: 'The token has expired. Sign in again for a fresh one.',
} as const
