/** Tokens for tests and scripts: signed and kept as the platform does it, without a password. */
import { developmentUser } from '../core/secrets.js'
import { validEmail } from './addresses.js'
import { type Backend, momentOf } from './backend.js'
import type { MintedToken, TokenRequest } from './operations.js'
import { idOfUser, type UserSeed } from './seeds.js'
import { tokenResponse } from './sessions.js'
import { signIn } from './sign-in.js'
import { keysExpireAtSeconds } from './tokens.js'
import { newUser } from './users.js'

/** The configured user with an address (in small letters), if there is one. */
export type SeedOf = (email: string) => UserSeed | undefined

/**
 * A token as `standin token` prints it. That of a user has a session in it, as if they had just signed in; users who are not there
 * yet sign up.
 */
export async function tokenFor(backend: Backend, wish: TokenRequest, seedOf: SeedOf): Promise<MintedToken> {
  const { role, email = developmentUser.email, expiresIn } = wish
  if (role !== 'user') return keyOfRole(backend, role, expiresIn)
  const address = validEmail(email)
  return userToken(withLife(backend, expiresIn), address, seedOf(address))
}

/** A user token that stands for itself, where there is no state: without a session, of the user who would be there. */
export async function looseTokenFor(
  backend: Backend,
  { email = developmentUser.email, expiresIn }: Omit<TokenRequest, 'role'>,
  seedOf: SeedOf,
): Promise<MintedToken> {
  const address = validEmail(email)
  const user = newUser(momentOf(backend), { id: idOfUser(seedOf(address) ?? { email: address }), email: address })
  return signed(withLife(backend, expiresIn), { user, session: undefined, refreshToken: '' })
}

const withLife = (backend: Backend, seconds = backend.settings.jwtExp): Backend => ({
  ...backend,
  settings: { ...backend.settings, jwtExp: seconds },
})

async function keyOfRole(backend: Backend, role: 'anon' | 'service', expiresIn?: number): Promise<MintedToken> {
  const tokens = await backend.tokens()
  if (expiresIn === undefined) {
    return minted(role === 'anon' ? tokens.anonKey : tokens.serviceKey, keysExpireAtSeconds)
  }
  const exp = Math.floor(backend.now() / 1000) + expiresIn
  return minted(await tokens.signKey(role === 'anon' ? 'anon' : 'service_role', exp), exp)
}

async function userToken(backend: Backend, email: string, seed: UserSeed | undefined): Promise<MintedToken> {
  return signed(backend, await signIn(backend, { email, seed }))
}

async function signed(backend: Backend, granted: Parameters<typeof tokenResponse>[1]): Promise<MintedToken> {
  const { access_token, expires_at } = await tokenResponse(backend, granted)
  return minted(access_token, expires_at)
}

const minted = (token: string, expiresAtSeconds: number): MintedToken => ({
  token,
  expires_at: new Date(expiresAtSeconds * 1000).toISOString(),
})
