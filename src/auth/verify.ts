/** Takes a one-time code or link for what it proves: that somebody reads an address. */
import { randomBytes } from 'node:crypto'
import { otpExpired, userBanned, validationFailed } from '../core/auth-errors.js'
import type { OneTimeTokenRow, OneTimeTokenType, Tables, UserRow } from '../core/state.js'
import { type Backend, momentOf } from './backend.js'
import { dropToken, findToken, hashOfCode, isFresh, isValid, tokenOf } from './codes.js'
import { hashOf } from './passwords.js'
import { changedEmail, changedPhone, confirmedEmail, confirmedPhone, isBanned } from './users.js'

/** What somebody proves who comes with a code. */
export interface Claim {
  /** Supabase's word: signup, invite, recovery, magiclink, email, email_change, sms, phone_change. */
  readonly type: string
  /** Where the code was sent to; empty for a link. */
  readonly address: string
  /** The code itself; empty for a link. */
  readonly code: string
  /** The hash that stands in the link; empty for a code. */
  readonly hash: string
}

/** Who it was; `half` when a further address has to agree before an e-mail address changes. */
export type Proven = { readonly kind: 'whole'; readonly user: UserRow } | { readonly kind: 'half' }

const linkTokens: Readonly<Record<string, readonly OneTimeTokenType[]>> = {
  email: ['confirmation_token', 'recovery_token'],
  signup: ['confirmation_token'],
  invite: ['confirmation_token'],
  recovery: ['recovery_token'],
  magiclink: ['recovery_token'],
  email_change: ['email_change_token_current', 'email_change_token_new'],
}

const codeTokens: Readonly<Record<string, readonly OneTimeTokenType[]>> = {
  ...linkTokens,
  sms: ['confirmation_token'],
  phone_change: ['phone_change_token'],
}

/** Uses the code or the link up. Throws a 403 for one that is wrong, used or too old. */
export async function proveAddress(backend: Backend, tables: Tables, claim: Claim): Promise<Proven> {
  const { user, token } =
    claim.hash === '' ? await byCode(backend, tables, claim) : await byLink(backend, tables, claim)
  switch (token.token_type) {
    case 'confirmation_token':
      return { kind: 'whole', user: await confirm(backend, tables, user, claim.type) }
    case 'recovery_token':
      return { kind: 'whole', user: await recovered(backend, tables, user) }
    case 'email_change_token_current':
    case 'email_change_token_new':
      return changeEmail(backend, tables, user, token)
    case 'phone_change_token':
      return { kind: 'whole', user: await changePhone(backend, tables, user) }
    case 'reauthentication_token':
      throw otpExpired()
  }
}

interface Found {
  readonly user: UserRow
  readonly token: OneTimeTokenRow
}

async function byLink(backend: Backend, tables: Tables, { type, hash }: Claim): Promise<Found> {
  const types = linkTokens[type]
  if (!types) throw validationFailed('Invalid email verification type')
  const expired = () => otpExpired('Email link is invalid or has expired')
  const token = await findToken(tables, hash, types)
  const user = token && (await tables.users.get(token.user_id))
  if (!token || !user || user.deleted_at !== null) throw expired()
  if (isBanned(user, backend.now())) throw userBanned(403)
  if (!isFresh(backend, token)) throw expired()
  return { user, token }
}

async function byCode(backend: Backend, tables: Tables, claim: Claim): Promise<Found> {
  const { type, address, code } = claim
  const types = codeTokens[type]
  if (!types) throw validationFailed('Unsupported verification type')
  const user = await readerOf(tables, claim)
  if (!user || user.deleted_at !== null) throw otpExpired()
  if (isBanned(user, backend.now())) throw userBanned(403)
  const hash = hashOfCode(address, code)
  for (const tokenType of types) {
    const token = await tokenOf(tables, user.id, tokenType)
    if (token && isValid(backend, hash, token)) return { user, token }
  }
  throw otpExpired()
}

/** Who reads an address: a change of it is asked for at the address that is to come as well. */
async function readerOf({ users }: Tables, { type, address }: Claim): Promise<UserRow | undefined> {
  switch (type) {
    case 'sms':
      return (await users.find({ phone: address }))[0]
    case 'phone_change':
      return (await users.find({ new_phone: address }))[0]
    case 'email_change':
      return (await users.find({ new_email: address }))[0] ?? (await users.find({ email: address }))[0]
    default:
      return (await users.find({ email: address }))[0]
  }
}

async function changed({ users }: Tables, user: UserRow, changes: Partial<UserRow>): Promise<UserRow> {
  await users.update(user.id, changes)
  return { ...user, ...changes }
}

async function confirm(backend: Backend, tables: Tables, user: UserRow, type: string): Promise<UserRow> {
  const at = momentOf(backend)
  await dropToken(tables, user.id, 'confirmation_token')
  if (type === 'sms') return changed(tables, user, { ...confirmedPhone(user, at), is_anonymous: false })
  const identities = user.identities.map(identity =>
    identity.provider === 'email' && identity.email === user.email
      ? { ...identity, identity_data: { ...identity.identity_data, email_verified: true }, updated_at: at }
      : identity,
  )
  // Whoever was invited has no password yet; one that nobody knows stands in until they set their own.
  const isInvited = user.encrypted_password === null && user.invited_at !== null
  const password = isInvited && { encrypted_password: await hashOf(randomBytes(32).toString('base64url')) }
  return changed(tables, user, { ...confirmedEmail(user, at), identities, ...password })
}

async function recovered(backend: Backend, tables: Tables, user: UserRow): Promise<UserRow> {
  await dropToken(tables, user.id, 'recovery_token')
  return user.email_confirmed_at === null ? changed(tables, user, confirmedEmail(user, momentOf(backend))) : user
}

/** With both addresses asked the first answer is only noted. */
async function changeEmail(backend: Backend, tables: Tables, user: UserRow, token: OneTimeTokenRow): Promise<Proven> {
  const { mailerAutoconfirm, mailerSecureEmailChangeEnabled } = backend.settings
  const needsBoth = !mailerAutoconfirm && mailerSecureEmailChangeEnabled && user.email !== null
  await dropToken(tables, user.id, token.token_type)
  if (needsBoth && user.email_change_confirm_status === 0) {
    await changed(tables, user, { email_change_confirm_status: 1 })
    return { kind: 'half' }
  }
  await dropToken(tables, user.id, 'email_change_token_current')
  await dropToken(tables, user.id, 'email_change_token_new')
  const email = user.new_email ?? user.email ?? ''
  return { kind: 'whole', user: await changed(tables, user, changedEmail(user, email, momentOf(backend))) }
}

async function changePhone(backend: Backend, tables: Tables, user: UserRow): Promise<UserRow> {
  await dropToken(tables, user.id, 'phone_change_token')
  return changed(tables, user, changedPhone(user, user.new_phone ?? user.phone ?? '', momentOf(backend)))
}
