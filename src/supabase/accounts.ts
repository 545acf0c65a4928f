/** What each provider tells about a person who has an account there. Loaded on demand. */
import { digestOf } from '../core/secrets.js'
import type { Json } from '../state/rows.js'
import type { ProviderAccount, ProviderName } from './providers.js'

/** For people, and as the `iss` of an identity. */
const providers = {
  apple: ['Apple', 'https://appleid.apple.com'],
  azure: ['Microsoft', 'https://login.microsoftonline.com/common/v2.0'],
  bitbucket: ['Bitbucket', 'https://api.bitbucket.org'],
  discord: ['Discord', 'https://discord.com/api'],
  facebook: ['Facebook', 'https://graph.facebook.com'],
  snapchat: ['Snapchat', 'https://accounts.snapchat.com/accounts/oauth2/token'],
  figma: ['Figma', 'https://api.figma.com'],
  fly: ['Fly.io', 'https://api.fly.io'],
  github: ['GitHub', 'https://api.github.com'],
  gitlab: ['GitLab', 'https://gitlab.com'],
  google: ['Google', 'https://accounts.google.com'],
  keycloak: ['Keycloak', 'http://localhost:8080/realms/standin'],
  kakao: ['Kakao', 'https://kapi.kakao.com'],
  linkedin: ['LinkedIn', 'https://api.linkedin.com'],
  linkedin_oidc: ['LinkedIn', 'https://www.linkedin.com/oauth'],
  notion: ['Notion', 'https://api.notion.com'],
  spotify: ['Spotify', 'https://api.spotify.com/v1'],
  slack: ['Slack', 'https://slack.com/api'],
  slack_oidc: ['Slack', 'https://slack.com'],
  workos: ['WorkOS', 'https://api.workos.com'],
  twitch: ['Twitch', 'https://api.twitch.tv'],
  twitter: ['Twitter', 'https://api.twitter.com/1.1/account/verify_credentials.json'],
  zoom: ['Zoom', 'https://api.zoom.us'],
  x: ['X', 'https://api.x.com'],
  vercel_marketplace: ['Vercel', 'https://marketplace.vercel.com'],
} as const satisfies Record<ProviderName, readonly [title: string, issuer: string]>

export const titleOfProvider = (name: ProviderName) => providers[name][0]

/** The provider's id for the account with this address: the same on every machine. */
export const subjectOf = ({ provider, email }: ProviderAccount) =>
  String(Number.parseInt(digestOf(`standin ${provider} ${email}`).slice(0, 12), 16))

/** Where people have names without spaces, beside their real ones. */
const withUserNames: readonly ProviderName[] = ['github', 'twitter', 'x', 'kakao']

/** A picture that needs no network, and shows no stranger. */
const picture =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 2 2'%3E%3Cpath fill='%23789' d='M0 0h2v2H0z'/%3E%3C/svg%3E"

/** What the provider tells about the holder of an account, as Supabase Auth keeps it in an identity. */
export function accountData(account: ProviderAccount, name: string): Json {
  const { provider, email, isVerified } = account
  const sub = subjectOf(account)
  const [user_name] = email.split('@', 1)
  return {
    avatar_url: picture,
    email,
    email_verified: isVerified,
    full_name: name,
    iss: providers[provider][1],
    name,
    phone_verified: false,
    ...(provider !== 'github' && { picture }),
    ...(withUserNames.includes(provider) && { preferred_username: user_name, user_name }),
    provider_id: sub,
    sub,
  }
}

/** `Ada Lovelace` for `ada.lovelace@example.com`. */
export const nameIn = (email: string) =>
  (email.split('@', 1)[0] ?? '')
    .split(/[._+-]+/)
    .filter(word => word !== '')
    .map(word => word.charAt(0).toUpperCase() + word.slice(1))
    .join(' ')
