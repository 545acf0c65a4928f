/** GET and PUT /auth/v1/user: who is signed in, and what they may change of themselves. */
import { validEmail, validPhone } from '../../auth/addresses.js'
import { requireAudience, type SignedIn } from '../../auth/authenticate.js'
import { type Backend, momentOf } from '../../auth/backend.js'
import { dropToken, hashOfCode, isValid, tokenOf } from '../../auth/codes.js'
import { challengeIn } from '../../auth/flows.js'
import { sendEmailChange, sendPhoneCode } from '../../auth/letters.js'
import { fits, hashOf, requireStrength } from '../../auth/passwords.js'
import { endSessionsOf } from '../../auth/sessions.js'
import { changedEmail, changedPhone, mergeMetadata, userJson } from '../../auth/users.js'
import {
  anonymousWithoutAddress,
  emailExists,
  notAdmin,
  phoneExists,
  reauthenticationNeeded,
  reauthenticationNotValid,
  samePassword,
  userOfTokenNotFound,
} from '../../core/auth-errors.js'
import type { Endpoint } from '../../core/exchange.js'
import type { MessageRow, Tables, UserRow } from '../../core/state.js'
import { jsonReply } from '../json-reply.js'
import { forUser, redirectOf } from './frame.js'
import { type Params, readParams } from './params.js'
import { announce, requireChannel } from './signup.js'

export const getUser = (backend: Backend): Endpoint =>
  forUser(backend)('GET', '/user', async (_exchange, { user, claims }) => {
    requireAudience(claims)
    return jsonReply(userJson(user))
  })

const fields = {
  email: 'string',
  phone: 'string',
  password: 'string?',
  nonce: 'string',
  data: 'object?',
  app_metadata: 'object?',
  channel: 'string',
  code_challenge: 'string',
  code_challenge_method: 'string',
} as const

type UserUpdate = Params<typeof fields>

export const updateUser = (backend: Backend): Endpoint =>
  forUser(backend)('PUT', '/user', async (exchange, who) => {
    const params = checked(backend, readParams(exchange, 'UserUpdateParams', fields), who.user)
    const password = params.password === undefined ? undefined : await newPassword(backend, params, who)
    const { user, messages } = await (await backend.state()).write(tables =>
      update(backend, tables, who, { params, password, redirect: redirectOf(backend, exchange) }),
    )
    announce(backend, messages)
    return jsonReply(userJson(user))
  })

/** The parameters with addresses in their one form. Throws for what may not be asked. */
function checked({ settings }: Backend, params: UserUpdate, user: UserRow): UserUpdate {
  const email = params.email === '' ? '' : validEmail(params.email)
  const phone = params.phone === '' ? '' : validPhone(params.phone)
  if (phone !== '') requireChannel(params.channel)
  if (params.password !== undefined) requireStrength(params.password, settings)
  if (params.app_metadata) throw notAdmin('Updating app_metadata requires admin privileges')
  if (user.is_anonymous && params.password && email === '' && phone === '') throw anonymousWithoutAddress()
  challengeIn(params)
  return { ...params, email, phone }
}

/** How long after signing in a password may be changed without a further code. */
const RECENT_MS = 24 * 3600 * 1000

async function newPassword(backend: Backend, { password = '', nonce }: UserUpdate, { user, session }: SignedIn) {
  const isRecent = session && backend.now() <= Date.parse(session.created_at) + RECENT_MS
  if (backend.settings.securityUpdatePasswordRequireReauthentication && !isRecent) {
    if (nonce === '') throw reauthenticationNeeded()
    await requireNonce(backend, user, nonce)
  }
  if (user.encrypted_password !== null && (await fits(password, user.encrypted_password))) throw samePassword()
  return hashOf(password)
}

async function requireNonce(backend: Backend, user: UserRow, nonce: string): Promise<void> {
  const hash = hashOfCode(user.email ?? user.phone ?? '', nonce)
  const isRight = await (await backend.state()).write(async tables => {
    const isRight = isValid(backend, hash, await tokenOf(tables, user.id, 'reauthentication_token'))
    if (isRight) await dropToken(tables, user.id, 'reauthentication_token')
    return isRight
  })
  if (!isRight) throw reauthenticationNotValid()
}

interface Wanted {
  readonly params: UserUpdate
  /** The hash of the new password. */
  readonly password: string | undefined
  readonly redirect: string
}

async function update(backend: Backend, tables: Tables, { user: { id }, session }: SignedIn, wanted: Wanted) {
  const { params, password, redirect } = wanted
  const { settings } = backend
  const { users } = tables
  const at = momentOf(backend)
  const messages: MessageRow[] = []
  const found = await users.get(id)
  if (!found) throw userOfTokenNotFound()
  let user: UserRow = found

  const change = async (changes: Partial<UserRow>) => {
    user = { ...user, ...changes, updated_at: at }
    await users.update(id, { ...changes, updated_at: at })
  }
  const keepSent = (sent: { user: UserRow; messages: readonly MessageRow[] }) => {
    user = sent.user
    messages.push(...sent.messages)
  }

  const newEmail = params.email !== '' && params.email !== user.email ? params.email : undefined
  const newPhone = params.phone !== '' && params.phone !== user.phone ? params.phone : undefined
  if (newEmail !== undefined && (await users.count({ email: newEmail })) > 0) throw emailExists()
  if (newPhone !== undefined && (await users.count({ phone: newPhone })) > 0) throw phoneExists()

  if (password !== undefined) {
    await change({ encrypted_password: password })
    // Whoever had the old password is out; whoever just set the new one stays.
    await endSessionsOf(tables, id, session?.id)
  }
  if (params.data) await change({ user_metadata: mergeMetadata(user.user_metadata, params.data) })
  if (newEmail !== undefined) {
    if (user.is_anonymous && settings.mailerAutoconfirm) await change(changedEmail(user, newEmail, at))
    else keepSent(await sendEmailChange(backend, tables, user, newEmail, { redirect, challenge: challengeIn(params) }))
  }
  if (newPhone !== undefined) {
    if (settings.smsAutoconfirm) await change(changedPhone(user, newPhone, at))
    else keepSent(await sendPhoneCode(backend, tables, user, { kind: 'phone_change', phone: newPhone }))
  }
  return { user, messages }
}
