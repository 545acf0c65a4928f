/** POST /auth/v1/invite and /admin/generate_link: mails that admins send, or links that they send themselves. */
import { redirectTo, validEmail } from '../../auth/addresses.js'
import { type Backend, momentOf } from '../../auth/backend.js'
import { actionLink, hashOfCode, keepToken, newCode } from '../../auth/codes.js'
import { sendInvite } from '../../auth/letters.js'
import { hashOf, requireStrength } from '../../auth/passwords.js'
import { isConfirmed, mergeMetadata, newUser, signedUp, userJson } from '../../auth/users.js'
import { emailExists, userNotFound, validationFailed } from '../../core/auth-errors.js'
import type { Endpoint } from '../../core/exchange.js'
import type { Json, OneTimeTokenType, Tables, UserRow } from '../../core/state.js'
import { jsonReply } from '../json-reply.js'
import { forAdmin, redirectOf } from './frame.js'
import { unknownPassword } from './otp.js'
import { type Params, readParams } from './params.js'
import { announce } from './signup.js'

export const invite = (backend: Backend): Endpoint =>
  forAdmin(backend)('POST', '/invite', async exchange => {
    const params = readParams(exchange, 'InviteParams', { email: 'string', data: 'object' })
    const email = validEmail(params.email)
    const sent = await (await backend.state()).write(async tables => {
      const user = await invited(backend, tables, email, params.data)
      return sendInvite(backend, tables, user, redirectOf(backend, exchange))
    })
    announce(backend, sent.messages)
    return jsonReply(userJson(sent.user))
  })

/** Whoever has this address and has not confirmed it, or a new user. Throws a 422 for one who has. */
async function invited(backend: Backend, { users }: Tables, email: string, data: Json): Promise<UserRow> {
  const [known] = await users.find({ email })
  if (known && isConfirmed(known)) throw emailExists()
  if (known) return known
  const user = newcomer(backend, email, data, null)
  await users.insert(user)
  return user
}

function newcomer(backend: Backend, address: string, data: Json, encrypted_password: string | null): UserRow {
  const at = momentOf(backend)
  return signedUp(newUser(at, { encrypted_password }), { provider: 'email', address, data, at })
}

const fields = {
  type: 'string',
  email: 'string',
  new_email: 'string',
  password: 'string',
  data: 'object',
  redirect_to: 'string',
} as const

type LinkParams = Params<typeof fields>

export const generateLink = (backend: Backend): Endpoint =>
  forAdmin(backend)('POST', '/admin/generate_link', async exchange => {
    const params = readParams(exchange, 'GenerateLinkParams', fields)
    const email = validEmail(params.email)
    const redirect = redirectTo(backend.settings, [params.redirect_to, redirectOf(backend, exchange)])
    const password = await passwordFor(backend, params)
    const code = newCode(backend)
    const { user, type, hash } = await (await backend.state()).write(tables =>
      prepare(backend, tables, { ...params, email }, code, password),
    )
    return jsonReply({
      ...userJson(user),
      action_link: actionLink(backend, hash, type.startsWith('email_change') ? 'email_change' : type, redirect),
      email_otp: code,
      hashed_token: hash,
      verification_type: type,
      redirect_to: redirect,
    })
  })

/** Hashed before the state is taken: it takes a moment. */
async function passwordFor({ settings }: Backend, { type, password }: LinkParams): Promise<string | null> {
  if (type === 'magiclink') return hashOf(unknownPassword())
  if (type !== 'signup') return null
  if (password === '') return null
  requireStrength(password, settings)
  return hashOf(password)
}

/** Keeps the token of the link; `type` is what the link turns out to be for. */
async function prepare(
  backend: Backend,
  tables: Tables,
  params: LinkParams,
  code: string,
  password: string | null,
): Promise<{ user: UserRow; type: string; hash: string }> {
  const { email, data } = params
  const { users } = tables
  const at = momentOf(backend)
  const [known] = await users.find({ email })
  // A magic link for somebody who is not there yet signs them up.
  const type = !known && params.type === 'magiclink' ? 'signup' : params.type

  async function kept(user: UserRow, token: OneTimeTokenType, address: string, changes: Partial<UserRow>) {
    const hash = hashOfCode(address, code)
    await keepToken(tables, user.id, token, hash, at)
    await users.update(user.id, changes)
    return { user: { ...user, ...changes }, type, hash }
  }
  const added = async (user: UserRow) => {
    await users.insert(user)
    return user
  }

  switch (type) {
    case 'magiclink':
    case 'recovery':
      if (!known) throw userNotFound('User with this email not found')
      return kept(known, 'recovery_token', email, { recovery_sent_at: at })
    case 'invite': {
      const user = await invited(backend, tables, email, data)
      return kept(user, 'confirmation_token', email, { invited_at: at, confirmation_sent_at: at })
    }
    case 'signup': {
      if (known && isConfirmed(known)) throw emailExists()
      if (!known && password === null) throw validationFailed('Signup requires a valid password')
      const user = known ?? (await added(newcomer(backend, email, data, password)))
      const user_metadata = mergeMetadata(user.user_metadata, data)
      return kept(user, 'confirmation_token', email, { confirmation_sent_at: at, user_metadata })
    }
    case 'email_change_current':
    case 'email_change_new': {
      if (!known) throw userNotFound('User with this email not found')
      const isNew = type === 'email_change_new'
      if (!backend.settings.mailerSecureEmailChangeEnabled && !isNew) {
        throw validationFailed('Enable secure email change to generate link for current email')
      }
      const new_email = validEmail(params.new_email)
      if ((await users.count({ email: new_email })) > 0) throw emailExists()
      const changes = { new_email, email_change_sent_at: at, email_change_confirm_status: 0 }
      if (isNew) return kept(known, 'email_change_token_new', new_email, changes)
      return kept(known, 'email_change_token_current', email, changes)
    }
    default:
      throw validationFailed(`Invalid email action link type requested: ${type}`)
  }
}
