/** The other providers that Supabase Auth knows, and the tokens that they issue. */
import { randomBytes } from 'node:crypto'

/** In the order in which Supabase lists them. */
export const providerNames = [
  ...(['apple', 'azure', 'bitbucket', 'discord', 'facebook', 'snapchat', 'figma', 'fly', 'github', 'gitlab'] as const),
  ...([
    'google',
    'keycloak',
    'kakao',
    'linkedin',
    'linkedin_oidc',
    'notion',
    'spotify',
    'slack',
    'slack_oidc',
  ] as const),
  ...(['workos', 'twitch', 'twitter', 'zoom', 'x', 'vercel_marketplace'] as const),
] as const

export type ProviderName = (typeof providerNames)[number]

export const isProvider = (name: string): name is ProviderName => (providerNames as readonly string[]).includes(name)

/** Those whose ID tokens Supabase Auth accepts, as an app gets them from the provider's own button. */
export const idTokenProviders = [
  'apple',
  'azure',
  'facebook',
  'google',
  'kakao',
  'keycloak',
  'snapchat',
  'vercel_marketplace',
] as const satisfies readonly ProviderName[]

export type IdTokenProvider = (typeof idTokenProviders)[number]

export interface ProviderAccount {
  readonly provider: ProviderName
  /** In lower case. */
  readonly email: string
  readonly isVerified: boolean
}

/** Providers that issue a refresh token to every app. Others do so only if the app asks for access while its user is away. */
const withRefreshTokens: readonly string[] = 'bitbucket discord figma gitlab spotify twitch zoom'.split(' ')

/** Whether the provider would issue a refresh token for a sign-in with these parameters. */
export const issuesRefreshToken = (provider: ProviderName, asked: URLSearchParams) =>
  withRefreshTokens.includes(provider) ||
  asked.get('access_type') === 'offline' ||
  /\boffline(_access|\.access)\b/.test(asked.get('scopes') ?? '')

/** Tokens for the provider's API, beside the session. They are made up, and open nothing. */
export function providerTokens(provider: string, isOffline: boolean) {
  const token = (kind: string) => `standin-${provider}-${kind}-${randomBytes(16).toString('hex')}`
  return { provider_token: token('access'), ...(isOffline && { provider_refresh_token: token('refresh') }) }
}
