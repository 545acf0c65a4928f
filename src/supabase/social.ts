/** Users' accounts at other providers: signs in by them, links and unlinks them, by the rules of Supabase Auth. */
import { randomUUID } from 'node:crypto'
import type { PlatformError } from '../core/errors.js'
import type { FlowStateRow, Identity, Json, MessageRow, Moment, Tables, UserRow } from '../state/rows.js'
import { isBanned } from '../state/rows.js'
import { accountData, nameIn, subjectOf } from './accounts.js'
import { type Backend, momentOf } from './backend.js'
import { dropTokens } from './codes.js'
import {
  emailConflictOnUnlinking,
  emailExists,
  identityExists,
  identityNotFound,
  linkingUserNotFound,
  multipleAccounts,
  onlyIdentity,
  signupDisabled,
  unverifiedEmail,
  userBanned,
} from './errors.js'
import { sendLink } from './letters.js'
import type { ProviderAccount, ProviderName } from './providers.js'
import { newUserId } from './seeds.js'
import { confirmedEmail, mergeMetadata, newUser, providersOf, settledAddresses } from './users.js'

/** A sign-in by another provider that waits for its user. */
export type ProviderFlow = FlowStateRow & { readonly provider: ProviderName; readonly redirect_to: string }

/** The user of an account, or why they are not signed in although something has changed, and what was sent to them. */
export type AccountResult =
  | { readonly user: UserRow }
  | { readonly refusal: PlatformError; readonly messages: readonly MessageRow[] }

/**
 * Finds the user of an account: the one who has it, or else the one with its verified address, to whom it is linked. Without
 * either, a user is created. Rejects like Supabase, such as with a 403 for a banned user.
 */
export async function userOfAccount(
  backend: Backend,
  tables: Tables,
  account: ProviderAccount,
): Promise<AccountResult> {
  const { mailerAutoconfirm, disableSignup } = backend.settings
  const { email } = account
  const at = momentOf(backend)
  const isTrusted = account.isVerified || mailerAutoconfirm
  const owner = await ownerOf(tables, account)
  const found = owner ?? (isTrusted ? await holderOfAddress(tables, email) : undefined)
  if (!found && disableSignup) throw signupDisabled()
  // Without trust in the address, another user keeps it.
  const [holder] = await tables.users.find({ email })
  const before = found ?? newUser(at, { id: await newUserId(tables, email), email: holder ? null : email })
  if (!found) await tables.users.insert(before)
  if (isBanned(before, backend.now())) throw userBanned(403)

  const { identity, identities } = await withAccount(tables, before, account, at)
  const user = await changed(tables, before, {
    identities,
    app_metadata: providersOf(before.app_metadata, identities),
    user_metadata: mergeMetadata(before.user_metadata, identity.identity_data),
    updated_at: at,
  })
  if (user.email_confirmed_at !== null) return { user }
  // Nobody has proved to have this address so far: another person may have signed up with it, and set the password.
  const sole = await changed(tables, user, {
    encrypted_password: null,
    identities: [identity],
    app_metadata: providersOf(user.app_metadata, [identity]),
    user_metadata: identity.identity_data,
  })
  if (!isTrusted) return unverified(backend, tables, sole, [account.provider, 'provider_email_needs_verification'])
  await dropTokens(tables, sole.id)
  return { user: await changed(tables, sole, confirmedEmail(sole, at)) }
}

/** Links an account to a signed-in user. Rejects with a 422 if a user, also this one, already has it. */
export async function linkAccount(
  backend: Backend,
  tables: Tables,
  userId: string,
  account: ProviderAccount,
): Promise<AccountResult> {
  const before = await tables.users.get(userId)
  if (!before || before.deleted_at !== null) throw linkingUserNotFound()
  const owner = await ownerOf(tables, account)
  if (owner) throw identityExists(owner.id === userId)
  const at = momentOf(backend)
  const { identities } = await withAccount(tables, before, account, at)
  const app_metadata = providersOf(before.app_metadata, identities)
  const user = await changed(tables, before, { identities, app_metadata, updated_at: at })
  if (user.email !== null) return { user }
  const address = await addressOfIdentities(backend, tables, user)
  if (!address) throw emailExists(400)
  const withEmail = await changed(tables, user, address)
  if (!account.isVerified) return unverified(backend, tables, withEmail, [account.provider, 'email_not_confirmed'])
  return { user: await changed(tables, withEmail, { ...confirmedEmail(withEmail, at), is_anonymous: false }) }
}

/** Removes one of a user's identities. Rejects with a 422 for their last one, and for one that they do not have. */
export async function unlinkIdentity(backend: Backend, tables: Tables, userId: string, id: string): Promise<void> {
  const before = await tables.users.get(userId)
  if (!before || before.identities.length <= 1) throw onlyIdentity()
  const identity = before.identities.find(({ identity_id }) => identity_id === id.toLowerCase())
  if (!identity) throw identityNotFound()
  await tables.identity_owners.remove({ id: keyOf(identity.provider, identity.id) })
  const identities = before.identities.filter(one => one !== identity)
  const user = { ...before, identities, app_metadata: providersOf(before.app_metadata, identities) }
  const address =
    identity.provider === 'phone'
      ? { phone: null, phone_confirmed_at: null }
      : await addressOfIdentities(backend, tables, user)
  if (!address) throw emailConflictOnUnlinking()
  await tables.users.update(userId, { ...user, ...address, updated_at: momentOf(backend) })
}

const keyOf = (provider: string, subject: string) => `${provider} ${subject}`

const isOf = (account: ProviderAccount) => (identity: Identity) =>
  identity.provider === account.provider && identity.id === subjectOf(account)

async function ownerOf({ identity_owners, users }: Tables, account: ProviderAccount) {
  const found = await identity_owners.get(keyOf(account.provider, subjectOf(account)))
  const user = found && (await users.get(found.user_id))
  // The user may have lost the identity since, by a change of the configuration or a soft delete.
  return user?.identities.some(isOf(account)) ? user : undefined
}

/** The only user with an identity that has this address, or else the one whose own address it is. */
async function holderOfAddress({ identity_owners, users }: Tables, email: string): Promise<UserRow | undefined> {
  const owners = await identity_owners.find({ email })
  const others = await Promise.all(owners.map(({ user_id }) => users.get(user_id)))
  const [holder] = await users.find({ email })
  const all = [holder, ...others].filter(user => user?.identities.some(identity => identity.email === email))
  const ids = new Set(all.map(user => user?.id))
  if (ids.size > 1) throw multipleAccounts()
  return all[0] ?? holder
}

async function changed(tables: Tables, user: UserRow, changes: Partial<UserRow>): Promise<UserRow> {
  await tables.users.update(user.id, changes)
  return { ...user, ...changes }
}

/** The user's identities with that of this account, added or brought up to date. */
async function withAccount({ identity_owners }: Tables, user: UserRow, account: ProviderAccount, at: Moment) {
  const { provider, email } = account
  const subject = subjectOf(account)
  const known = user.identities.find(isOf(account))
  const name = [known?.identity_data, user.user_metadata].map(nameOf).find(name => name !== undefined)
  const fresh = { identity_data: accountData(account, name ?? nameIn(email)), updated_at: at, email }
  const identity: Identity = known
    ? { ...known, ...fresh }
    : {
        identity_id: randomUUID(),
        id: subject,
        user_id: user.id,
        provider,
        last_sign_in_at: at,
        created_at: at,
        ...fresh,
      }
  if (!known) {
    await identity_owners.remove({ id: keyOf(provider, subject) })
    await identity_owners.insert({ id: keyOf(provider, subject), user_id: user.id, email, created_at: at })
  }
  const identities = known
    ? user.identities.map(one => (one === known ? identity : one))
    : [...user.identities, identity]
  return { identity, identities }
}

/** The name in the data of an identity or in a user's metadata. */
export const nameOf = (data: Json | undefined) => [data?.full_name, data?.name].find(name => typeof name === 'string')

/** Asks the user to confirm the address that the provider has not verified, unless another user has it. */
async function unverified(
  backend: Backend,
  tables: Tables,
  user: UserRow,
  [provider, code]: readonly [provider: string, code: string],
): Promise<AccountResult> {
  if (user.email === null) return { refusal: unverifiedEmail(code, provider, false), messages: [] }
  const { messages } = await sendLink(backend, tables, user, 'signup', { redirect: backend.settings.siteUrl })
  return { refusal: unverifiedEmail(code, provider, true), messages }
}

/**
 * The changes to a user whose identities have changed: if none of them has the user's address, that of another one is
 * taken, a verified one if possible. `undefined` if other users have all of them.
 */
async function addressOfIdentities(
  { settings }: Backend,
  tables: Tables,
  { id, email, identities, user_metadata }: UserRow,
): Promise<Partial<UserRow> | undefined> {
  if (identities.some(identity => (identity.email ?? null) === email)) return {}
  const rank = (identity: Identity) => (identity.email === undefined ? 2 : isVerified(identity) ? 0 : 1)
  for (const identity of identities.toSorted((a, b) => rank(a) - rank(b))) {
    const next = identity.email ?? null
    if (next !== null && (await tables.users.find({ email: next })).length > 0) continue
    await dropTokens(tables, id)
    const isTrusted = next !== null && (isVerified(identity) || settings.mailerAutoconfirm)
    return {
      ...settledAddresses,
      email: next,
      ...(!isTrusted && { email_confirmed_at: null, user_metadata: { ...user_metadata, email_verified: false } }),
    }
  }
  return undefined
}

const isVerified = ({ identity_data }: Identity) => identity_data.email_verified === true
