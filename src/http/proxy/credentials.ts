/** Chooses the credentials that are sent to the live platform: the configured ones, or the caller's own. */
import { adminStaysHere } from '../../core/errors.js'
import type { Access, Exchange } from '../../core/exchange.js'
import { INDEX } from '../../core/paths.js'

/** The credentials that a forwarded request carries. */
export interface ShownCredential {
  /** Replace the caller's own. */
  readonly headers: Readonly<Record<string, string>>
  /** The query after the `?`, if it differs from the original. */
  readonly query?: string
}

/** Returns the credentials for a request; a promise only if they have to be fetched first. */
export type LiveCredentials = (exchange: Exchange) => ShownCredential | Promise<ShownCredential>

interface PlatformKeys {
  /** Whether an MCP server is at a path. */
  readonly isMcp?: ((path: string) => boolean) | undefined
  readonly apiKey: string
  readonly anonKey: string
  /** The token of a signed-in user, used if there is no API key. */
  readonly userToken?: (() => Token | Promise<Token>) | undefined
}

type Token = string | undefined

const bearer = (credential: Token): ShownCredential => ({
  headers: credential ? { authorization: `Bearer ${credential}` } : {},
})

/**
 * For the platform: replaces the caller's key with the live one, by path, so that the app never holds it. Sends none
 * where the document requires none.
 */
export function platformCredentials({ apiKey, anonKey, userToken, isMcp }: PlatformKeys): LiveCredentials {
  const [none, anon, key] = [bearer(''), bearer(anonKey), bearer(apiKey)]
  const ofModels = apiKey === '' && userToken ? () => shownLater(userToken()) : () => key
  return ({ path, endpoint }) => {
    const kind = documentedCredentialOf(path)
    if (kind === 'anonKey') return anon
    const isForKeys = kind === 'apiKey' || isMcp?.(path) || (endpoint?.isConfigured && opensWithKey(endpoint.access))
    return isForKeys ? ofModels() : none
  }
}

/**
 * The live credential for a documented path, by the name of its option. An API key also gives access to tools and to
 * builder services, which the document does not list: where those are, only the configuration says.
 */
export function documentedCredentialOf(path: string): 'apiKey' | 'anonKey' | undefined {
  if (path.startsWith('/v1/')) return 'apiKey'
  return path === INDEX || path.startsWith(`${INDEX}/`) ? 'anonKey' : undefined
}

/** Whether an API key or the token of a user is enough for this access. */
export const opensWithKey = (access: Access) =>
  access !== 'anyone' && access.some(kind => kind === 'apiKey' || kind === 'user')

const shownLater = (token: Token | Promise<Token>) => (token instanceof Promise ? token.then(bearer) : bearer(token))

/** Sends the caller's credentials unchanged. */
export const callersOwn: LiveCredentials = ({ headers: { authorization, apikey } }) => ({
  headers: {
    ...(authorization !== undefined && { authorization }),
    ...(apikey !== undefined && { apikey: String(apikey) }),
  },
})

interface AuthKeys {
  /** Keys of this stand-in that do not identify a user. */
  readonly local: readonly string[]
  /** Keys of this stand-in's own admins. They are never forwarded. */
  readonly admin: readonly string[]
  /** The live anon key; empty to forward every key unchanged. */
  readonly live: string
}

/**
 * For the auth backend: users send their own tokens, and the live anon key replaces the local one. Throws a 403 for
 * admin keys.
 */
export const authCredentials = ({ local, admin, live }: AuthKeys): LiveCredentials => {
  const swapped = (key: string) => {
    if (admin.includes(key)) throw adminStaysHere()
    return live !== '' && local.includes(key) ? live : key
  }
  // Keys are found with or without the word Bearer, and in repeated headers, which node joins with a comma.
  const swappedIn = (header: string) => header.replace(/[^\s,]+/g, word => swapped(word))
  return ({ headers: { apikey, authorization }, query }) => ({
    headers: {
      ...(apikey !== undefined && { apikey: swappedIn(String(apikey)) }),
      ...(authorization !== undefined && { authorization: swappedIn(authorization) }),
    },
    // Kong also accepts the key in the query.
    query: query.replace(/(?<=^|&)(apikey=)([^&]*)/g, (_whole, name, key) => name + swapped(decoded(key))),
  })
}

const decoded = (text: string) => new URLSearchParams(`key=${text}`).get('key') ?? text
