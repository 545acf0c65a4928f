/** Tokens and sessions for tests and scripts: signed and stored as the platform does it, without a password. */
import { randomUUID } from 'node:crypto'
import { developmentUser } from '../core/secrets.js'
import type { Moment, Tables, UserRow } from '../core/state.js'
import { validEmail } from './addresses.js'
import { type Backend, momentOf, type TokenBackend } from './backend.js'
import { invalidCredentials } from './errors.js'
import type { MintedToken, TokenRequest } from './operations.js'
import { hashOf, matchesHash } from './passwords.js'
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
export async function tokenFor(backend: Backend, request: TokenRequest, seedOf: SeedOf): Promise<MintedToken> {
  const { role, email = developmentUser.email, expiresIn } = request
  if (role !== 'user') return keyFor(backend, { role, expiresIn })
  const address = validEmail(email)
  const tokenBackend = withTokenLifetime(backend, expiresIn)
  return signToken(tokenBackend, await signIn(tokenBackend, { email: address, seed: seedOf(address) }))
}

/** A user token without a session, for use without any state. It names the user that a platform would have. */
export async function sessionlessTokenFor(
  backend: TokenBackend,
  { email = developmentUser.email, expiresIn }: Omit<TokenRequest, 'role'>,
  seedOf: SeedOf,
): Promise<MintedToken> {
  const address = validEmail(email)
  const user = newUser(momentOf(backend), { id: idOfUser(seedOf(address) ?? { email: address }), email: address })
  return signToken(withTokenLifetime(backend, expiresIn), { user, session: undefined, refreshToken: '' })
}

const withTokenLifetime = <B extends TokenBackend>(backend: B, seconds = backend.settings.jwtExp): B => ({
  ...backend,
  settings: { ...backend.settings, jwtExp: seconds },
})

/** Returns the anon or the service key; with a lifetime, a new one like it. */
export async function keyFor(
  { tokens, now }: Pick<TokenBackend, 'tokens' | 'now'>,
  { role, expiresIn }: Pick<TokenRequest, 'expiresIn'> & { readonly role: 'anon' | 'service' },
): Promise<MintedToken> {
  if (expiresIn === undefined) {
    return minted(role === 'anon' ? tokens.anonKey : tokens.serviceKey, keysExpireAtSeconds)
  }
  const exp = Math.floor(now() / 1000) + expiresIn
  return minted(await tokens.signKey(role === 'anon' ? 'anon' : 'service_role', exp), exp)
}

async function signToken(backend: TokenBackend, grant: Parameters<typeof tokenResponse>[1]): Promise<MintedToken> {
  const { access_token, expires_at } = await tokenResponse(backend, grant)
  return minted(access_token, expires_at)
}

const minted = (token: string, expiresAtSeconds: number): MintedToken => ({
  token,
  expires_at: new Date(expiresAtSeconds * 1000).toISOString(),
})

/** The user to sign in. */
interface UserToSignIn {
  /** In lower case. */
  readonly email: string
  /** Without it, no password is checked. */
  readonly password?: string | undefined
  /** The configured user with this address, if there is one. */
  readonly seed: UserSeed | undefined
}

/** Rejects with Supabase's error if the password is wrong for an existing user. */
export async function signIn(backend: Backend, { email, password, seed }: UserToSignIn): Promise<Grant> {
  const { state } = backend
  // Nothing else of the configuration is added: the state may belong to a platform that was started with another one.
  if (seed) await plantUser(state, seed, backend.now)
  const [userBefore] = await state.read(({ users }) => users.find({ email }))
  if (userBefore && password !== undefined && !(await matchesHash(password, userBefore.encrypted_password))) {
    throw invalidCredentials()
  }
  // Hashed before the transaction: writers wait for one another, and hashing takes a moment.
  const hash = userBefore || password === undefined ? null : await hashOf(password)
  return state.write(async tables => {
    const [existing] = await tables.users.find({ email })
    const user = existing ?? newcomer(email, hash, { id: await freeId(tables, email), at: momentOf(backend) })
    if (!existing) await tables.users.insert(user)
    return startSession(backend, tables, user, 'password')
  })
}

/** The stable id of an address, unless it belongs to a user who has changed theirs or was soft-deleted. */
async function freeId({ users }: Tables, email: string): Promise<string> {
  const id = idOfUser({ email })
  return (await users.get(id)) ? randomUUID() : id
}

function newcomer(email: string, encrypted_password: string | null, { id, at }: Pick<UserRow, 'id'> & { at: Moment }) {
  const emptyUser = newUser(at, { id, encrypted_password })
  const signedUpUser = signedUp(emptyUser, { provider: 'email', address: email, data: {}, at })
  return { ...signedUpUser, ...confirmedEmail(signedUpUser, at) }
}
