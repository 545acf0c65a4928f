/** A session for a user, as if they had just signed in; a user who does not exist yet signs up. */
import type { Moment, UserRow } from '../core/state.js'
import { type Backend, momentOf } from './backend.js'
import { invalidCredentials } from './errors.js'
import { fits, hashOf, renewedHash } from './passwords.js'
import { idOfUser, plantUser, type UserSeed } from './seeds.js'
import { type Grant, startSession } from './sessions.js'
import { confirmedEmail, newUser, signedUp } from './users.js'

/** The user who wants a session. */
export interface Newcomer {
  /** In small letters. */
  readonly email: string
  /** Without one no password is checked. */
  readonly password?: string | undefined
  /** The configured user with this address, if there is one. */
  readonly seed: UserSeed | undefined
}

/** Rejects in the words of Supabase where the password is not that of an existing user. */
export async function signIn(backend: Backend, { email, password, seed }: Newcomer): Promise<Grant> {
  const state = await backend.state()
  // Nothing else of the configuration: the state may be that of a platform that was started with another one.
  if (seed) await plantUser(state, seed, backend.now)
  const [present] = await state.read(({ users }) => users.find({ email }))
  const kept = present?.encrypted_password ?? null
  if (present && password !== undefined && !(await fits(password, kept))) throw invalidCredentials()
  const renewed = password === undefined || kept === null ? undefined : await renewedHash(password, kept)
  // Hashed before: writers wait for one another, and this takes a moment.
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
