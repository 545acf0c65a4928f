/** Chooses the credentials that are sent to the live platform: the configured ones, or the caller's own. */
import { refusal } from '../../core/errors.js'
import { type Access, accessBelow, type Caller, type Exchange } from '../../core/exchange.js'
import { documentedEndpoints } from '../../endpoints/index.js'

/** The credential that a forwarded request carries. */
export interface ForwardedCredential {
  /** They replace the caller's own. */
  readonly headers: Readonly<Record<string, string>>
  /** The query after the `?`, if it differs from the original. */
  readonly query?: string
  /** The option that the credential is from, if it is not the caller's own. */
  readonly option?: 'upstream.apiKey' | 'upstream.anonKey'
}

/** Returns the credential for a request. */
export type LiveCredentials = (exchange: Exchange) => ForwardedCredential

interface PlatformKeys {
  /** Whether an MCP server is at a path. */
  readonly isMcp?: ((path: string) => boolean) | undefined
  readonly apiKey: string
  readonly anonKey: string
}

const bearer = (credential: string, option: NonNullable<ForwardedCredential['option']>): ForwardedCredential =>
  credential === '' ? { headers: {} } : { headers: { authorization: `Bearer ${credential}` }, option }

/**
 * For the platform: replaces the caller's key with the live one, by path, so that the app never holds it. Sends none
 * where the document requires none.
 */
export function platformCredentials({ apiKey, anonKey, isMcp }: PlatformKeys): LiveCredentials {
  const none = { headers: {} }
  const [anon, key] = [bearer(anonKey, 'upstream.anonKey'), bearer(apiKey, 'upstream.apiKey')]
  return ({ path, endpoint, caller }) => {
    const kind = documentedCredentialOf(path)
    if (kind === 'anonKey') return anon
    if (kind === 'apiKey' || isMcp?.(path)) return key
    // An API key opens builder services (platform-api.md), whose paths the document does not name. The public anon key
    // must not turn into one.
    if (endpoint?.isUndocumented) return acceptsApiKey([caller.kind]) ? key : anon
    return endpoint?.isConfigured && acceptsApiKey(endpoint.access) ? key : none
  }
}

/** The option that has the live credential for a documented path. */
export function documentedCredentialOf(path: string): 'apiKey' | 'anonKey' | undefined {
  const access = documentedEndpoints.find(one => one.path === path)?.access ?? accessBelow(path) ?? 'anyone'
  if (access === 'anyone') return undefined
  return access.includes('apiKey') ? 'apiKey' : 'anonKey'
}

/** Whether an API key or the token of a user is enough for this access. */
export const acceptsApiKey = (access: Access | readonly Caller['kind'][]) =>
  access !== 'anyone' && access.some(kind => kind === 'apiKey' || kind === 'user')

/** Sends the caller's credentials and cookies unchanged. */
export const callerCredentials: LiveCredentials = ({ headers: { authorization, apikey, cookie } }) => ({
  headers: {
    ...(authorization !== undefined && { authorization }),
    ...(apikey !== undefined && { apikey: String(apikey) }),
    ...(cookie !== undefined && { cookie }),
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
  const replacement = (key: string) => {
    if (admin.includes(key)) throw adminStaysHere()
    return live !== '' && local.includes(key) ? live : key
  }
  // Keys are found with or without the word Bearer, and in repeated headers, which node joins with a comma.
  const replaceKeys = (header: string) => header.replace(/[^\s,]+/g, word => replacement(word))
  return ({ headers: { apikey, authorization }, query }) => ({
    headers: {
      ...(apikey !== undefined && { apikey: replaceKeys(String(apikey)) }),
      ...(authorization !== undefined && { authorization: replaceKeys(authorization) }),
    },
    // Kong also accepts the key in the query.
    query: query.replace(/(?<=^|&)(apikey=)([^&]*)/g, (_whole, name, key) => name + replacement(formDecoded(key))),
  })
}

const formDecoded = (text: string) => new URLSearchParams(`key=${text}`).get('key') ?? text

/** For auth.mode proxy. The live backend has its own admins. */
const adminStaysHere = () =>
  refusal(
    403,
    'admin_stays_here',
    'The live auth backend does not accept the service key or secret key of this stand-in. Send the live one.',
  )
