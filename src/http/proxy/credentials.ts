/** The credentials that the live side gets: the live one in place of the caller's, or the caller's own. */
import { adminStaysHere } from '../../core/errors.js'
import type { Exchange } from '../../core/exchange.js'

/** Which credentials a request carries to the live side. */
export interface ShownCredential {
  /** In place of the caller's own. */
  readonly headers: Readonly<Record<string, string>>
  /** What stands behind the `?`, where it is not as it came. */
  readonly query?: string
}

/** What a request shows; a promise only where that has to be fetched first. */
export type LiveCredentials = (exchange: Exchange) => ShownCredential | Promise<ShownCredential>

interface PlatformKeys {
  readonly apiKey: string
  readonly anonKey: string
  /** The token of a user who has signed in, used when there is no API key. */
  readonly userToken?: (() => Token | Promise<Token>) | undefined
}

type Token = string | undefined

const bearer = (credential: Token): ShownCredential => ({
  headers: credential ? { authorization: `Bearer ${credential}` } : {},
})

/** The platform's: the live key in place of the caller's, by path; the app never holds it. None where the document shows none. */
export function platformCredentials({ apiKey, anonKey, userToken }: PlatformKeys): LiveCredentials {
  const [none, anon, key] = [bearer(''), bearer(anonKey), bearer(apiKey)]
  const ofModels = apiKey === '' && userToken ? () => shownLater(userToken()) : () => key
  return ({ path }) => {
    if (path.startsWith('/v1/')) return ofModels()
    return path === '/api/v1' || path.startsWith('/api/v1/') ? anon : none
  }
}

const shownLater = (token: Token | Promise<Token>) => (token instanceof Promise ? token.then(bearer) : bearer(token))

/** Those of the caller, just as they came. */
export const callersOwn: LiveCredentials = ({ headers: { authorization, apikey } }) => ({
  headers: {
    ...(authorization !== undefined && { authorization }),
    ...(apikey !== undefined && { apikey: String(apikey) }),
  },
})

interface AuthKeys {
  /** Keys of this stand-in that mean no user. */
  readonly local: readonly string[]
  /** Keys of this stand-in's own admins. They stay here. */
  readonly admin: readonly string[]
  /** The live anon key; empty to leave every key as it came. */
  readonly live: string
}

/** The auth backend's: users show their own tokens, and the live anon key stands where the local one stood. Throws a 403 for admins'. */
export const authCredentials = ({ local, admin, live }: AuthKeys): LiveCredentials => {
  const swapped = (key: string) => {
    if (admin.includes(key)) throw adminStaysHere()
    return live !== '' && local.includes(key) ? live : key
  }
  return ({ headers: { apikey, authorization }, query }) => ({
    headers: {
      ...(apikey !== undefined && { apikey: swapped(String(apikey)) }),
      ...(authorization !== undefined && {
        authorization: authorization.replace(/^bearer +(\S+)/i, (_whole, key) => `Bearer ${swapped(key)}`),
      }),
    },
    // Kong takes the key from the query as well.
    query: query.replace(/(?<=^|&)(apikey=)([^&]*)/g, (_whole, name, key) => name + swapped(decoded(key))),
  })
}

const decoded = (text: string) => new URLSearchParams(`key=${text}`).get('key') ?? text
