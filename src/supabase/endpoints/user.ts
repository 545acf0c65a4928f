/** GET and PUT /auth/v1/user: returns the signed-in user, and lets users change their own data. */
import { jsonReply } from '../../core/exchange.js'
import type { MessageRow, Moment, Tables, UserRow } from '../../core/state.js'
import { type Backend, momentOf } from '../backend.js'
import { requireAudience, type SignedIn } from '../callers.js'
import { dropTokens } from '../codes.js'
import { anonymousWithoutAddress, notAdmin, samePassword, userOfTokenNotFound } from '../errors.js'
import { challengeIn } from '../flows.js'
import { sendEmailChange, sendPhoneCode } from '../letters.js'
import { hashOf, matchesHash, requireStrength } from '../passwords.js'
import { endSessionsOf } from '../sessions.js'
import {
  changedEmail,
  changedPassword,
  changedPhone,
  mergeMetadata,
  requireFree,
  userJson,
  userJsonWithoutConfirmedAt,
  validEmail,
  validPhone,
} from '../users.js'
import { type Params, readParams } from './forms.js'
import { announce, forUser, redirectOf } from './frame.js'
import { requireChannel } from './signup.js'

export const getUser = forUser({
  at: 'GET /user',
  id: 'getUser',
  does: 'Returns the signed-in user.',
  answer: 'user',
  reply(_backend, { headers }, { user, claims }) {
    requireAudience(claims, headers['x-jwt-aud']?.toString())
    return jsonReply(userJson(user))
  },
})

const updateFields = {
  email: 'string',
  phone: 'string',
  password: 'string?',
  data: 'object?',
  app_metadata: 'object?',
  channel: 'string',
  code_challenge: 'string',
  code_challenge_method: 'string',
} as const

type UserUpdate = Params<typeof updateFields>

export const updateUser = forUser({
  at: 'PUT /user',
  id: 'updateUser',
  does: 'Lets users change their own data.',
  fields: updateFields,
  answer: 'user',
  async reply(backend, exchange, who) {
    const params = validated(backend, readParams(exchange, 'UserUpdateParams', updateFields), who.user)
    await backend.state.read(tables => requireFree(tables, params, who.user.id))
    const password = params.password === undefined ? undefined : await newHash(params.password, who.user)
    const { user, messages } = await backend.state.write(tables =>
      update(backend, tables, who, { params, password, redirect: redirectOf(backend, exchange) }),
    )
    announce(backend, messages)
    const confirmsNow = who.user.is_anonymous && !user.is_anonymous
    return jsonReply(confirmsNow ? userJsonWithoutConfirmedAt(user) : userJson(user))
  },
})

/**
 * Returns the parameters with normalized addresses; an address that the user already has is dropped. Throws if the
 * request is not allowed.
 */
function validated({ settings }: Backend, params: UserUpdate, user: UserRow): UserUpdate {
  const email = params.email === '' ? '' : validEmail(params.email)
  const phone = params.phone === '' ? '' : validPhone(params.phone)
  if (phone !== '') requireChannel(params.channel)
  if (params.password !== undefined) requireStrength(params.password, settings)
  if (params.app_metadata) throw notAdmin('Updating app_metadata requires admin privileges')
  if (user.is_anonymous && params.password && email === '' && phone === '') throw anonymousWithoutAddress()
  challengeIn(params)
  return { ...params, email: email === user.email ? '' : email, phone: phone === user.phone ? '' : phone }
}

/** Returns the hash of the new password. Rejects if it is the old one. */
async function newHash(password: string, user: UserRow): Promise<string> {
  if (user.encrypted_password !== null && (await matchesHash(password, user.encrypted_password))) throw samePassword()
  return hashOf(password)
}

interface UserChange {
  readonly params: UserUpdate
  /** The hash of the new password. */
  readonly password: string | undefined
  readonly redirect: string
}

/** Returns the changed user, and the messages that ask to confirm a new address. */
async function update(backend: Backend, tables: Tables, { user: { id }, session }: SignedIn, change: UserChange) {
  const { params, password, redirect } = change
  const { email, phone } = params
  const messages: MessageRow[] = []
  const found = await tables.users.get(id)
  if (!found) throw userOfTokenNotFound()
  await requireFree(tables, params, id)
  let user = await applyUnconfirmed(backend, tables, found, change)
  if (password !== undefined) {
    await dropTokens(tables, id)
    // The sessions of the old password end; the one that set the new password stays.
    await endSessionsOf(tables, id, session?.id)
  }
  if (email !== '' && user.email !== email) {
    const sent = await sendEmailChange(backend, tables, user, email, { redirect, challenge: challengeIn(params) })
    user = sent.user
    messages.push(...sent.messages)
  }
  if (phone !== '' && user.phone !== phone) {
    const sent = await sendPhoneCode(backend, tables, user, 'phone_change', phone)
    user = sent.user
    messages.push(...sent.messages)
  }
  return { user, messages }
}

/** Makes the changes that need no confirmation: the password, metadata, and addresses that are accepted unconfirmed. */
async function applyUnconfirmed(
  backend: Backend,
  { users }: Tables,
  user: UserRow,
  { params: { data, email, phone }, password }: UserChange,
): Promise<UserRow> {
  const { mailerAutoconfirm } = backend.settings
  const at: Moment = momentOf(backend)
  let changed: UserRow = { ...user, updated_at: at }
  if (password !== undefined) changed = { ...changed, ...changedPassword(password) }
  if (data) changed = { ...changed, user_metadata: mergeMetadata(changed.user_metadata, data) }
  // A user who already has an address must always confirm the next one.
  if (email !== '' && user.is_anonymous && mailerAutoconfirm) {
    changed = { ...changed, ...changedEmail(changed, email, at) }
  }
  if (phone !== '' && mailerAutoconfirm) changed = { ...changed, ...changedPhone(changed, phone, at) }
  await users.update(user.id, changed)
  return changed
}
