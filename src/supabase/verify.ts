/** Uses up a one-time code or link, which proves that a user can read an address. */
import {
  isBanned,
  type Moment,
  type OneTimeTokenRow,
  type OneTimeTokenType,
  type Tables,
  type UserRow,
} from '../core/state.js'
import { requireFree } from './addresses.js'
import { type Backend, momentOf } from './backend.js'
import { dropToken, dropTokens, findToken, hashOfCode, isFresh, isValid, PKCE, tokenOf } from './codes.js'
import { otpExpired, userBanned, validationFailed } from './errors.js'
import { hashOf, randomPassword } from './passwords.js'
import { changedEmail, changedPassword, changedPhone, confirmedEmail, confirmedPhone, providersOf } from './users.js'

/** What a client presents as proof that it reads an address. */
export interface AddressProof {
  /** Supabase's types: signup, invite, recovery, magiclink, email, email_change, sms, phone_change. */
  readonly type: string
  /** Where the code was sent; empty for a link. */
  readonly address: string
  /** The code itself; empty for a link. */
  readonly code: string
  /** The hash in the link; empty for a code. */
  readonly hash: string
}

/** The user after the proof; `half` if another address has to confirm the change as well. */
type ProofResult = { readonly kind: 'whole'; readonly user: UserRow } | { readonly kind: 'half' }

const emailChangeTokens = ['email_change_token_current', 'email_change_token_new'] as const

const linkTokens: Readonly<Record<string, readonly OneTimeTokenType[]>> = {
  email: ['confirmation_token', 'recovery_token'],
  signup: ['confirmation_token'],
  invite: ['confirmation_token'],
  recovery: ['recovery_token'],
  magiclink: ['recovery_token'],
  email_change: emailChangeTokens,
}

const codeTokens: Readonly<Record<string, readonly OneTimeTokenType[]>> = {
  ...linkTokens,
  sms: ['confirmation_token'],
  phone_change: ['phone_change_token'],
}

/** Uses up the code or link. Throws a 403 if it is wrong, used or expired. */
export async function proveAddress(backend: Backend, tables: Tables, proof: AddressProof): Promise<ProofResult> {
  const { user, token } =
    proof.hash === '' ? await byCode(backend, tables, proof) : await byLink(backend, tables, proof)
  if (isHalf(backend, user, token)) {
    await dropToken(tables, user.id, token.token_type)
    await tables.users.update(user.id, { email_change_confirm_status: 1 })
    return { kind: 'half' }
  }
  const changes = await changesBy(backend, tables, { user, token }, proof.type)
  const app_metadata = providersOf(user.app_metadata, changes.identities ?? user.identities)
  await dropTokens(tables, user.id)
  await tables.users.update(user.id, { ...changes, app_metadata })
  return { kind: 'whole', user: { ...user, ...changes, app_metadata } }
}

interface UserWithToken {
  readonly user: UserRow
  readonly token: OneTimeTokenRow
}

async function byLink(backend: Backend, tables: Tables, { type, hash }: AddressProof): Promise<UserWithToken> {
  const types = Object.hasOwn(linkTokens, type) ? linkTokens[type] : undefined
  if (!types) throw validationFailed('Invalid email verification type')
  const expired = () => otpExpired('Email link is invalid or has expired')
  const found = await withUser(tables, await findToken(tables, [hash], types))
  if (!found) throw expired()
  if (isBanned(found.user, backend.now())) throw userBanned(403)
  if (!isFresh(backend, found.token)) throw expired()
  return found
}

async function byCode(backend: Backend, tables: Tables, { type, address, code }: AddressProof): Promise<UserWithToken> {
  const hash = hashOfCode(address, code)
  const types = Object.hasOwn(codeTokens, type) ? (codeTokens[type] ?? []) : []
  const found = type === 'email_change' ? await findEmailChange(tables, hash) : undefined
  const user = found?.user ?? (await findUser(tables, type, address))
  if (!user || user.deleted_at !== null) throw otpExpired()
  if (isBanned(user, backend.now())) throw userBanned(403)
  for (const tokenType of types) {
    const token = await tokenOf(tables, user.id, tokenType)
    if (token && isValid(backend, hash, token)) return { user, token }
  }
  throw otpExpired()
}

/** Returns the token with its user; `undefined` if there is no token, or its user was deleted. */
async function withUser({ users }: Tables, token: OneTimeTokenRow | undefined): Promise<UserWithToken | undefined> {
  const user = token && (await users.get(token.user_id))
  return user && user.deleted_at === null ? { user, token } : undefined
}

/**
 * The user who wants to change their address. Several users may want the same new one, so only the code shows which
 * user it is.
 */
const findEmailChange = async (tables: Tables, hash: string): Promise<UserWithToken | undefined> =>
  withUser(tables, await findToken(tables, [hash, `${PKCE}${hash}`], emailChangeTokens))

async function findUser({ users }: Tables, type: string, address: string): Promise<UserRow | undefined> {
  switch (type) {
    case 'email_change':
      return undefined
    case 'sms':
      return (await users.find({ phone: address }))[0]
    case 'phone_change':
      return (await users.find({ new_phone: address }))[0]
    default:
      return (await users.find({ email: address }))[0]
  }
}

/** If both addresses have to confirm, the first confirmation is only noted. */
const isHalf = ({ settings }: Backend, user: UserRow, { token_type }: OneTimeTokenRow) =>
  token_type.startsWith('email_change') &&
  !settings.mailerAutoconfirm &&
  user.email !== null &&
  user.email_change_confirm_status === 0

/** The changes to a user who has proved that they read an address. */
async function changesBy(
  backend: Backend,
  tables: Tables,
  { user, token }: UserWithToken,
  type: string,
): Promise<Partial<UserRow>> {
  const at = momentOf(backend)
  switch (token.token_type) {
    case 'confirmation_token':
      return type === 'sms' ? confirmedPhone(at) : confirmedSignUp(user, at)
    case 'recovery_token':
      return user.email_confirmed_at === null ? confirmedEmail(user, at) : {}
    case 'email_change_token_current':
    case 'email_change_token_new': {
      const email = user.new_email ?? user.email ?? ''
      // Another user may have taken it while the code was on its way.
      await requireFree(tables, { email }, user.id)
      return changedEmail(user, email, at)
    }
    case 'phone_change_token': {
      const phone = user.new_phone ?? user.phone ?? ''
      await requireFree(tables, { phone }, user.id)
      return changedPhone(user, phone, at)
    }
    case 'reauthentication_token':
      throw otpExpired()
  }
}

/** The changes to a new or invited user who confirms their address. */
async function confirmedSignUp(user: UserRow, at: Moment): Promise<Partial<UserRow>> {
  const identities = user.identities.map(identity =>
    identity.email !== undefined && identity.email === user.email
      ? { ...identity, identity_data: { ...identity.identity_data, email_verified: true }, updated_at: at }
      : identity,
  )
  // An invited user has no password yet. They get a random one until they set their own.
  const isGuest = user.encrypted_password === null && user.invited_at !== null
  const password = isGuest && changedPassword(await hashOf(randomPassword()))
  return { ...confirmedEmail(user, at), identities, ...password }
}
