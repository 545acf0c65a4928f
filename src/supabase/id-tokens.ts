/** ID tokens of other providers: makes them for tests, in place of the provider's button, and signs in by them. Loaded on demand. */
import { createHash } from 'node:crypto'
import { unverifiedFields } from '../core/json.js'
import { nameIn, subjectOf } from './accounts.js'
import type { Backend } from './backend.js'
import { badIdToken, providerDisabled, validationFailed } from './errors.js'
import type { IdTokenProvider, ProviderAccount } from './providers.js'
import { type Grant, startSession } from './sessions.js'
import { linkAccount, userOfAccount } from './social.js'
import type { Claims } from './tokens.js'

/** The `iss` of each provider's ID tokens. */
const issuers: Readonly<Record<IdTokenProvider, string>> = {
  apple: 'https://appleid.apple.com',
  // That of personal accounts.
  azure: 'https://login.microsoftonline.com/9188040d-6c67-4c5b-b112-36a304b66dad/v2.0',
  facebook: 'https://www.facebook.com',
  google: 'https://accounts.google.com',
  kakao: 'https://kauth.kakao.com',
  keycloak: 'http://localhost:8080/realms/standin',
  snapchat: 'https://accounts.snapchat.com/accounts/oauth2/token',
  vercel_marketplace: 'https://marketplace.vercel.com',
}

/** The app's own id at each provider. */
const AUDIENCE = 'standin'
const LIFETIME_SECONDS = 3600

interface IdTokenWish {
  readonly provider: IdTokenProvider
  /** In lower case. */
  readonly email: string
  /** What the app sends beside the token, which has its hash. */
  readonly nonce?: string | undefined
}

export function makeIdToken({ tokens, now }: Backend, { provider, email, nonce }: IdTokenWish): Promise<string> {
  const iat = Math.floor(now() / 1000)
  return tokens.sign({
    iss: issuers[provider],
    aud: AUDIENCE,
    sub: subjectOf({ provider, email, isVerified: true }),
    iat,
    exp: iat + LIFETIME_SECONDS,
    email,
    email_verified: true,
    name: nameIn(email),
    ...(nonce !== undefined && { nonce: hashOfNonce(nonce) }),
  })
}

const hashOfNonce = (nonce: string) => createHash('sha256').update(nonce).digest('hex')

interface IdTokenParams {
  readonly provider: string
  readonly id_token: string
  readonly nonce: string
  readonly issuer: string
}

/** Begins a session for the holder of the account, who is linked to the user with this id, if one is given. Rejects as Supabase does. */
export async function grantByIdToken(
  backend: Backend,
  params: IdTokenParams,
  linkingUserId: string | undefined,
): Promise<Grant> {
  const account = await accountIn(backend, params)
  const result = await backend.state.write(async tables => {
    const found =
      linkingUserId === undefined
        ? await userOfAccount(backend, tables, account)
        : await linkAccount(backend, tables, linkingUserId, account)
    return 'refusal' in found ? found : startSession(backend, tables, found.user, 'oauth')
  })
  if (!('refusal' in result)) return result
  for (const message of result.messages) backend.announce(message)
  throw result.refusal
}

async function accountIn(backend: Backend, params: IdTokenParams): Promise<ProviderAccount> {
  const provider = providerOf(params)
  if (!backend.settings.external[provider]) {
    throw providerDisabled(`Provider (issuer "${issuers[provider]}") is not enabled`)
  }
  const { iss, aud, email, email_verified, nonce } = await claimsOf(backend, params.id_token)
  if (iss !== issuers[provider] || aud !== AUDIENCE || email === undefined) throw badIdToken('Bad ID token')
  // Facebook's tokens are not checked for one.
  if (provider !== 'facebook') requireNonce(nonce, params.nonce)
  return { provider, email, isVerified: email_verified === true }
}

const claimsOf = (backend: Backend, token: string): Promise<Claims> =>
  backend.tokens.verify(token).catch(() => {
    throw badIdToken('Bad ID token')
  })

function requireNonce(hash: unknown, nonce: string): void {
  if ((hash !== undefined) !== (nonce !== '')) {
    throw badIdToken('Passed nonce and nonce in id_token should either both exist or not.')
  }
  if (hash !== undefined && hash !== hashOfNonce(nonce)) throw badIdToken('Nonces mismatch', 'invalid nonce')
}

/** Apple and Microsoft have several issuers, so that of the token counts. */
const severalIssuers: { readonly [P in IdTokenProvider]?: readonly [title: string, issuers: RegExp] } = {
  apple: ['Apple', /^https:\/\/(appleid|account)\.apple\.com$/],
  azure: ['Azure', /^https:\/\/(login\.microsoftonline\.com|sts\.windows\.net)\//],
}

/** The provider that a request names, also by its issuer. */
function providerOf({ provider: name, id_token, issuer }: IdTokenParams): IdTokenProvider {
  if (name.startsWith('custom:')) throw validationFailed('Custom OAuth providers are disabled')
  const known = Object.keys(issuers) as IdTokenProvider[]
  const provider = known.find(one => one === name) ?? known.find(one => issuers[one] === issuer)
  if (!provider) throw validationFailed(`Custom OIDC provider ${JSON.stringify(name)} not allowed`)
  const several = severalIssuers[provider]
  if (several) requireIssuer(id_token, issuer, several)
  return provider
}

function requireIssuer(token: string, given: string, [title, ofProvider]: readonly [string, RegExp]): void {
  const { iss } = unverifiedFields(token.split('.')[1])
  if (typeof iss !== 'string') throw validationFailed(`Unable to detect issuer in ID token for ${title} provider`)
  if (!ofProvider.test(iss)) throw validationFailed(`Detected ID token issuer is not an ${title} ID token issuer`)
  if (given !== '' && given !== iss) throw validationFailed('Provided issuer does not match ID token issuer')
}
