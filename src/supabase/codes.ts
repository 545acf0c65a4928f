/** One-time codes and the hashes in links: creates them, and uses them up, which proves that a user reads an address. */
import { createHash, randomInt } from 'node:crypto'
import { digestOf } from '../core/secrets.js'
import {
  isBanned,
  type MessageRow,
  type Moment,
  type OneTimeTokenRow,
  type OneTimeTokenType,
  type Tables,
  type UserRow,
} from '../state/rows.js'
import { type Backend, momentOf } from './backend.js'
import { otpExpired, userBanned, validationFailed } from './errors.js'
import { hashOf, randomPassword } from './passwords.js'
import {
  changedEmail,
  changedPassword,
  changedPhone,
  confirmedEmail,
  confirmedPhone,
  providersOf,
  requireFree,
} from './users.js'

/** Prefix of the hash of a token that leads to a PKCE exchange. */
export const PKCE = 'pkce_'

/** Supabase's default. */
const CODE_DIGITS = 6

/** Returns a new code of digits. */
export const newCode = ({ settings: { testOtp } }: Backend): string =>
  testOtp || String(randomInt(10 ** CODE_DIGITS)).padStart(CODE_DIGITS, '0')

/** How long codes and links are valid; Supabase's default. */
const VALID_MS = 3_600_000

/** When a code or link that was sent at this time expires. */
export const expiryOfCode = (sentAt: Moment): number => Date.parse(sentAt) + VALID_MS

/**
 * The hash in the link of an email, with which a code is compared as well. It is valid for one address only
 * (supabase-auth.md, §3.5).
 */
export const hashOfCode = (address: string, code: string) =>
  createHash('sha224')
    .update(address + code)
    .digest('hex')

/** Stores a token, and replaces an earlier one of its type. `hash` opens a link, so only its digest is stored. */
export async function storeToken(
  { one_time_tokens }: Tables,
  userId: string,
  type: OneTimeTokenType,
  hash: string,
  at: Moment,
): Promise<void> {
  const id = `${userId} ${type}`
  await one_time_tokens.remove({ id })
  await one_time_tokens.insert({ id, user_id: userId, token_type: type, token_hash: digestOf(hash), created_at: at })
}

/** Removes all of a user's tokens: after one proof, no earlier code is needed. */
export const dropTokens = ({ one_time_tokens }: Tables, userId: string) => one_time_tokens.remove({ user_id: userId })

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

type TokenTypes = Readonly<Record<string, readonly OneTimeTokenType[]>>

const mailTokens: TokenTypes = {
  email: ['confirmation_token', 'recovery_token'],
  signup: ['confirmation_token'],
  invite: ['confirmation_token'],
  recovery: ['recovery_token'],
  magiclink: ['recovery_token'],
  email_change: ['email_change_token_current', 'email_change_token_new'],
}

const phoneTokens: TokenTypes = {
  sms: ['confirmation_token'],
  phone_change: ['phone_change_token'],
}

interface UserWithToken {
  readonly user: UserRow
  readonly token: OneTimeTokenRow
}

/**
 * Uses up the code or link, and returns its user; `undefined` if another address has to confirm the change as well.
 * Throws a 403 if it is wrong, used or expired.
 */
export async function proveAddress(
  backend: Backend,
  tables: Tables,
  proof: AddressProof,
): Promise<UserRow | undefined> {
  const { user, token } = await findProven(backend, tables, proof)
  await noteUse(backend, tables, token)
  if (isHalf(backend, user, token)) {
    await tables.one_time_tokens.remove({ id: token.id })
    await tables.users.update(user.id, { email_change_confirm_status: 1 })
    return undefined
  }
  const confirmed = await changesBy(backend, tables, { user, token }, proof.type)
  const app_metadata = providersOf(user.app_metadata, confirmed.identities ?? user.identities)
  const changes = { ...confirmed, app_metadata }
  await dropTokens(tables, user.id)
  await tables.users.update(user.id, changes)
  return { ...user, ...changes }
}

/** The digests with which the state keeps the token of a message, depending on how its app signs in. */
export function tokenDigestsOf({ recipient, code }: Pick<MessageRow, 'recipient' | 'code'>): readonly string[] {
  const hash = hashOfCode(recipient, code ?? '')
  return [digestOf(hash), digestOf(`${PKCE}${hash}`)]
}

/** Notes in the outbox that the code or link of a message was used. */
async function noteUse(backend: Backend, { messages }: Tables, { user_id, token_hash }: OneTimeTokenRow) {
  const sent = await messages.find({ user_id })
  const used = sent.find(message => tokenDigestsOf(message).includes(token_hash))
  if (used) await messages.update(used.id, { used_at: momentOf(backend) })
}

/** Finds the token by its hash alone, since several users may want to change to the same address. */
async function findProven(backend: Backend, tables: Tables, proof: AddressProof): Promise<UserWithToken> {
  const { type, address, code, hash } = proof
  const isLink = hash !== ''
  const tokenTypes = isLink || address.includes('@') ? mailTokens : phoneTokens
  const types = Object.hasOwn(tokenTypes, type) ? tokenTypes[type] : undefined
  if (isLink && !types) throw validationFailed('Invalid email verification type')
  const expired = () => otpExpired(isLink ? 'Email link is invalid or has expired' : undefined)
  const codeHash = hashOfCode(address, code)
  const token = await findToken(tables, isLink ? [hash] : [codeHash, `${PKCE}${codeHash}`], types ?? [])
  const user = token && (await tables.users.get(token.user_id))
  if (!user || user.deleted_at !== null) throw expired()
  if (isBanned(user, backend.now())) throw userBanned(403)
  if (backend.now() > expiryOfCode(token.created_at)) throw expired()
  return { user, token }
}

/** Finds a token of one of these types by any of these hashes. */
async function findToken(
  { one_time_tokens }: Tables,
  hashes: readonly string[],
  types: readonly OneTimeTokenType[],
): Promise<OneTimeTokenRow | undefined> {
  const found = await Promise.all(hashes.map(hash => one_time_tokens.find({ token_hash: digestOf(hash) })))
  return found.flat().find(({ token_type }) => types.includes(token_type))
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
