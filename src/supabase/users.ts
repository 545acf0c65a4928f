/** Users and their addresses: creates and changes them, finds their holders, and writes them in Supabase's format. */
import { createHash, randomUUID } from 'node:crypto'
import { isEmail, LONGEST_EMAIL_BYTES } from '../check/forms.js'
import type { Identity, Json, Moment, Tables, UserRow } from '../state/rows.js'
import { emailExists, phoneExists, validationFailed } from './errors.js'

export const isConfirmed = ({ email_confirmed_at, phone_confirmed_at }: UserRow) =>
  email_confirmed_at !== null || phone_confirmed_at !== null

/** A user with the given fields. All others are empty. */
export function newUser(at: Moment, given: Partial<UserRow>): UserRow {
  return {
    id: randomUUID(),
    aud: 'authenticated',
    role: 'authenticated',
    email: null,
    phone: null,
    encrypted_password: null,
    email_confirmed_at: null,
    phone_confirmed_at: null,
    invited_at: null,
    confirmation_sent_at: null,
    recovery_sent_at: null,
    new_email: null,
    email_change_sent_at: null,
    email_change_confirm_status: 0,
    new_phone: null,
    phone_change_sent_at: null,
    reauthentication_sent_at: null,
    last_sign_in_at: null,
    app_metadata: {},
    user_metadata: {},
    identities: [],
    is_anonymous: false,
    banned_until: null,
    deleted_at: null,
    seed: null,
    created_at: at,
    updated_at: at,
    ...given,
  }
}

type Provider = 'email' | 'phone'

/** The data of an identity (supabase-auth.md, §1.3). */
export const identityData = (userId: string, provider: Provider, address: string, verified = false): Json => ({
  sub: userId,
  [provider]: address,
  email_verified: provider === 'email' && verified,
  phone_verified: provider === 'phone' && verified,
})

/** An identity for signing in by email or phone. */
export function newIdentity(userId: string, provider: Provider, data: Json, at: Moment): Identity {
  return {
    identity_id: randomUUID(),
    id: userId,
    user_id: userId,
    identity_data: data,
    provider,
    last_sign_in_at: at,
    created_at: at,
    updated_at: at,
    ...(provider === 'email' && { email: String(data.email) }),
  }
}

/** Returns the user's identities, with the one of this provider changed or added. */
export function withIdentity(
  user: Pick<UserRow, 'id' | 'identities'>,
  provider: Provider,
  data: Json,
  at: Moment,
): readonly Identity[] {
  const old = user.identities.find(identity => identity.provider === provider)
  if (!old) return [...user.identities, newIdentity(user.id, provider, data, at)]
  const changed: Identity = {
    ...old,
    identity_data: { ...old.identity_data, ...data },
    updated_at: at,
    ...(provider === 'email' && { email: String(data.email ?? old.email) }),
  }
  return user.identities.map(identity => (identity === old ? changed : identity))
}

/** The new user with their first address. */
export function withFirstAddress(user: UserRow, provider: Provider, address: string, given: Json = {}): UserRow {
  const data = { ...given, ...identityData(user.id, provider, address) }
  const identities = [newIdentity(user.id, provider, data, user.created_at)]
  return { ...user, [provider]: address, app_metadata: providersOf({}, identities), identities }
}

/** A new user after signing up. The metadata they sent goes into their identity, and from there into the user. */
export function signedUp(user: UserRow, provider: Provider, address: string, data: Json): UserRow {
  const { phone: _phone, ...own } = identityData(user.id, provider, address)
  return {
    ...withFirstAddress(user, provider, address, data),
    user_metadata: mergeMetadata({}, { ...data, ...own }),
  }
}

/** The changes to a user who has confirmed their email address. */
export const confirmedEmail = (user: UserRow, at: Moment): Partial<UserRow> => ({
  email_confirmed_at: at,
  user_metadata: { ...user.user_metadata, email_verified: true },
  updated_at: at,
})

/** The changes to a user who has confirmed their phone number. They are no longer anonymous. */
export const confirmedPhone = (at: Moment): Partial<UserRow> => ({
  phone_confirmed_at: at,
  is_anonymous: false,
  updated_at: at,
})

/** The changes to a user who has confirmed a new email address. They are no longer anonymous. */
export function changedEmail(user: UserRow, email: string, at: Moment): Partial<UserRow> {
  return {
    ...(user.email_confirmed_at === null && confirmedEmail(user, at)),
    email,
    new_email: null,
    email_change_confirm_status: 0,
    identities: withIdentity(user, 'email', identityData(user.id, 'email', email, true), at),
    is_anonymous: false,
    updated_at: at,
  }
}

/** The changes to a user who has confirmed a new phone number. */
export function changedPhone(user: UserRow, phone: string, at: Moment): Partial<UserRow> {
  return {
    ...confirmedPhone(at),
    phone,
    new_phone: null,
    identities: withIdentity(user, 'phone', identityData(user.id, 'phone', phone, true), at),
  }
}

const noCodesSent: Partial<UserRow> = {
  confirmation_sent_at: null,
  recovery_sent_at: null,
  email_change_sent_at: null,
  phone_change_sent_at: null,
  reauthentication_sent_at: null,
}

/**
 * The changes to a user with a new password. Codes in earlier emails become invalid, since others may have read them.
 */
export const changedPassword = (encrypted_password: string): Partial<UserRow> => ({
  ...noCodesSent,
  encrypted_password,
})

/**
 * The changes to a user whose addresses an admin has set: codes sent to the old ones become invalid, and no change is
 * pending.
 */
export const settledAddresses: Partial<UserRow> = {
  ...noCodesSent,
  new_email: null,
  email_change_confirm_status: 0,
  new_phone: null,
}

/** A made-up user who looks like one who has just signed up. */
export function fakeUser(at: Moment, provider: Provider, address: string, data: Json): UserRow {
  return newUser(at, {
    [provider]: address,
    role: '',
    confirmation_sent_at: at,
    app_metadata: { provider, providers: [provider] },
    user_metadata: data,
  })
}

/** Returns `app` with the providers. The first one is the main one. */
export function providersOf(app: Json, identities: readonly Identity[]): Json {
  const providers = [...new Set(identities.map(({ provider }) => provider))]
  return { ...app, ...(providers[0] !== undefined && { provider: providers[0] }), providers }
}

/** Merges `changes` into the top level of `metadata`. Null removes a key. */
export function mergeMetadata(metadata: Json, changes: Json | undefined): Json {
  const merged = Object.entries({ ...metadata, ...changes })
  return Object.fromEntries(merged.filter(([, value]) => value !== null))
}

const digest = (userId: string, value: string) =>
  createHash('sha256')
    .update(userId + value)
    .digest('base64url')

/** What remains of a user after a soft delete: the id, so that the app's references stay valid. */
export function anonymized({ id, email, phone, new_email, new_phone, identities }: UserRow, at: Moment) {
  // As at Supabase: digests, so that the addresses are free for new users.
  const addressDigest = (address: string | null) => digest(id, address ?? '')
  return {
    email: addressDigest(email),
    phone: addressDigest(phone).slice(0, 15),
    new_email: addressDigest(new_email),
    new_phone: addressDigest(new_phone).slice(0, 15),
    encrypted_password: null,
    identities: identities.map(({ email: _email, ...identity }) => ({
      ...identity,
      id: digest(id, `${identity.provider}:${identity.id}`),
      identity_data: {},
    })),
    user_metadata: {},
    app_metadata: {},
    deleted_at: at,
    updated_at: at,
  } satisfies Partial<UserRow>
}

/**
 * A user as JSON, with Supabase's fields in Supabase's order. Empty fields are left out. A fresh user has no
 * `confirmed_at`: Supabase's database computes it, and Supabase does not read a new user again.
 */
export function userJson(user: UserRow, age: 'fresh' | 'known' = 'known') {
  const confirmedAt = [user.email_confirmed_at, user.phone_confirmed_at].filter(at => at !== null).sort()[0]
  const given = (...names: (keyof UserRow)[]): Readonly<Record<string, unknown>> =>
    Object.fromEntries(names.flatMap(name => (user[name] === null ? [] : [[name, user[name]]])))
  return {
    id: user.id,
    aud: user.aud,
    role: user.role,
    email: user.email ?? '',
    ...given('email_confirmed_at', 'invited_at'),
    phone: user.phone ?? '',
    ...given('phone_confirmed_at', 'confirmation_sent_at'),
    ...(age === 'known' && confirmedAt !== undefined && { confirmed_at: confirmedAt }),
    ...given('recovery_sent_at', 'new_email', 'email_change_sent_at', 'new_phone', 'phone_change_sent_at'),
    ...given('reauthentication_sent_at', 'last_sign_in_at'),
    app_metadata: user.app_metadata,
    user_metadata: user.user_metadata,
    identities: user.identities,
    created_at: user.created_at,
    updated_at: user.updated_at,
    ...given('banned_until', 'deleted_at'),
    is_anonymous: user.is_anonymous,
  }
}

export type UserJson = ReturnType<typeof userJson>

/** An address by which a user is found. */
export type UserAddress = { readonly email: string } | { readonly phone: string }

/** Returns the address in lower case. Throws a 400 for a malformed one. */
export function validEmail(given: string): string {
  if (given === '') throw validationFailed('An email address is required')
  if (Buffer.byteLength(given) > LONGEST_EMAIL_BYTES) throw validationFailed('An email address is too long')
  // Checked before lower-casing, which would turn the Kelvin sign into the k of another address.
  if (!isEmail(given)) throw validationFailed('Unable to validate email address: invalid format')
  return given.toLowerCase()
}

export const formatPhone = (given: string) => given.replace(/^\+/, '').replaceAll(' ', '')

/** Returns the number as digits only. Throws a 400 for anything but an E.164 number. */
export function validPhone(given: string): string {
  const number = formatPhone(given)
  if (!/^[1-9]\d{1,14}$/.test(number)) throw validationFailed('Invalid phone number format (E.164 required)')
  return number
}

interface Addresses {
  readonly email?: string | null
  readonly phone?: string | null
}

/** Finds the first of the addresses that a user other than `ownId` has. Empty addresses are ignored. */
export async function takenAddress({ users }: Tables, { email, phone }: Addresses, ownId?: string) {
  for (const address of [email ? { email } : undefined, phone ? { phone } : undefined]) {
    const holder = address && (await users.find(address)).find(({ id }) => id !== ownId)
    if (holder) return { address, holder }
  }
  return undefined
}

/** Throws a 422 if a user other than `ownId` has one of the addresses. Empty addresses are ignored. */
export async function requireFree(tables: Tables, addresses: Addresses, ownId?: string, phoneTaken = phoneExists) {
  const taken = await takenAddress(tables, addresses, ownId)
  if (taken) throw 'email' in taken.address ? emailExists() : phoneTaken()
}
