/** Tokens and sessions for tests and scripts: signed and kept as the platform does it, without a password. */
import { developmentUser } from '../core/secrets.js'
import type { Moment, UserRow } from '../core/state.js'
import { validEmail } from './addresses.js'
import { type Backend, momentOf } from './backend.js'
import { invalidCredentials } from './errors.js'
import type { MintedToken, TokenRequest } from './operations.js'
import { fits, hashOf, renewedHash } from './passwords.js'
import { idOfUser, plantUser, type UserSeed } from './seeds.js'
import { type Grant, startSession, tokenResponse } from './sessions.js'
import { keysExpireAtSeconds } from './tokens.js'
import { confirmedEmail, newUser, signedUp } from './users.js'

/** Returns the configured user with an address (in lower case), if there is one. */
type SeedOf = (email: string) => UserSeed | undefined

/**
 * Returns a token as `standin token` prints it. A user's token has a session, as if they had just signed in; unknown
 * users sign up.
 */
export async function tokenFor(backend: Backend, wish: TokenRequest, seedOf: SeedOf): Promise<MintedToken> {
  const { role, email = developmentUser.email, expiresIn } = wish
  if (role !== 'user') return keyOfRole(backend, role, expiresIn)
  const address = validEmail(email)
  const lasting = withLife(backend, expiresIn)
  return signed(lasting, await signIn(lasting, { email: address, seed: seedOf(address) }))
}

/** A user token without a session, for use without any state. It names the user that a platform would have. */
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

async function signed(backend: Backend, granted: Parameters<typeof tokenResponse>[1]): Promise<MintedToken> {
  const { access_token, expires_at } = await tokenResponse(backend, granted)
  return minted(access_token, expires_at)
}

const minted = (token: string, expiresAtSeconds: number): MintedToken => ({
  token,
  expires_at: new Date(expiresAtSeconds * 1000).toISOString(),
})

/** The user to sign in. */
export interface UserToSignIn {
  /** In lower case. */
  readonly email: string
  /** Without it, no password is checked. */
  readonly password?: string | undefined
  /** The configured user with this address, if there is one. */
  readonly seed: UserSeed | undefined
}

/** Rejects with Supabase's error if the password is wrong for an existing user. */
export async function signIn(backend: Backend, { email, password, seed }: UserToSignIn): Promise<Grant> {
  const state = await backend.state()
  // Nothing else of the configuration is added: the state may belong to a platform that was started with another one.
  if (seed) await plantUser(state, seed, backend.now)
  const [present] = await state.read(({ users }) => users.find({ email }))
  const kept = present?.encrypted_password ?? null
  if (present && password !== undefined && !(await fits(password, kept))) throw invalidCredentials()
  const renewed = password === undefined || kept === null ? undefined : await renewedHash(password, kept)
  // Hashed before the transaction: writers wait for one another, and hashing takes a moment.
  const hash = present || password === undefined ? null : await hashOf(password)
  return state.write(async tables => {
    const [known] = await tables.users.find({ email })
    const user = known ?? newcomer(email, hash, momentOf(backend))
    if (!known) await tables.users.insert(user)
    if (renewed !== undefined && known?.encrypted_password === kept) {
      await tables.users.update(known.id, { encrypted_password: renewed })
    }
    return startSession(backend, tables, user, 'password')
  })
}

function newcomer(email: string, encrypted_password: string | null, at: Moment): UserRow {
  const user = newUser(at, { id: idOfUser({ email }), encrypted_password })
  const joined = signedUp(user, { provider: 'email', address: email, data: {}, at })
  return { ...joined, ...confirmedEmail(joined, at) }
}
