/** GET and PUT /auth/v1/user: returns the signed-in user, and lets users change their own data. */
import { jsonReply } from '../../core/reply.js'
import type { MessageRow, Tables, UserRow } from '../../state/rows.js'
import { type Backend, momentOf } from '../backend.js'
import type { SignedIn } from '../callers.js'
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
  reply: (_backend, _exchange, { user }) => jsonReply(userJson(user)),
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
    const password = params.password === undefined ? undefined : await newHash(params.password, who.user)
    const { user, messages } = await backend.state.write(tables =>
      update(backend, tables, who, { params, password, redirect: redirectOf(backend, exchange) }),
    )
    announce(backend, messages)
    return jsonReply(userJson(user))
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
  const { email, phone, data } = params
  const { mailerAutoconfirm } = backend.settings
  const at = momentOf(backend)
  const found = await tables.users.get(id)
  if (!found) throw userOfTokenNotFound()
  await requireFree(tables, params, id)

  let user: UserRow = { ...found, updated_at: at }
  if (data) user = { ...user, user_metadata: mergeMetadata(user.user_metadata, data) }
  if (password !== undefined) {
    user = { ...user, ...changedPassword(password) }
    await dropTokens(tables, id)
    // The sessions of the old password end; the one that set the new password stays.
    await endSessionsOf(tables, id, session?.id)
  }
  // A user who already has an address must always confirm the next one.
  if (email !== '' && user.is_anonymous && mailerAutoconfirm) user = { ...user, ...changedEmail(user, email, at) }
  if (phone !== '' && mailerAutoconfirm) user = { ...user, ...changedPhone(user, phone, at) }
  await tables.users.update(id, user)

  const messages: MessageRow[] = []
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
