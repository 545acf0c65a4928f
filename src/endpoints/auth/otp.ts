/** POST /auth/v1/otp and /magiclink: a code or a link with which somebody signs in without a password. */
import { randomBytes } from 'node:crypto'
import { validEmail, validPhone } from '../../auth/addresses.js'
import type { Backend } from '../../auth/backend.js'
import { challengeIn } from '../../auth/flows.js'
import { sendPhoneCode, sendSignIn } from '../../auth/letters.js'
import { isConfirmed } from '../../auth/users.js'
import { emailProviderDisabled, otpDisabled, phoneProviderDisabled, validationFailed } from '../../core/auth-errors.js'
import type { Endpoint, Exchange, Reply } from '../../core/exchange.js'
import type { UserRow } from '../../core/state.js'
import { jsonReply } from '../json-reply.js'
import { forAnyone, redirectOf } from './frame.js'
import { type Params, readParams } from './params.js'
import { announce, requireChannel, signUp } from './signup.js'

const fields = {
  email: 'string',
  phone: 'string',
  create_user: 'boolean?',
  data: 'object',
  channel: 'string',
  code_challenge: 'string',
  code_challenge_method: 'string',
} as const

type OtpParams = Params<typeof fields>

export const otp = (backend: Backend): Endpoint =>
  forAnyone('POST', '/otp', async exchange => {
    const params = readParams(exchange, 'OtpParams', fields)
    if (params.email !== '' && params.phone !== '') {
      throw validationFailed('Only an email address or phone number should be provided')
    }
    challengeIn(params)
    if (params.create_user === false && !(await find(backend, params))) throw otpDisabled()
    if (params.email !== '') return byEmail(backend, exchange, params)
    if (params.phone !== '') return byPhone(backend, exchange, params)
    throw validationFailed('One of email or phone must be set')
  })

/** The older name of a sign-in by mail. */
export const magicLink = (backend: Backend): Endpoint =>
  forAnyone('POST', '/magiclink', async exchange =>
    byEmail(backend, exchange, readParams(exchange, 'MagicLinkParams', fields)),
  )

async function find(backend: Backend, { email, phone }: OtpParams): Promise<UserRow | undefined> {
  const where = email !== '' ? { email: validEmail(email) } : { phone: phone === '' ? '' : validPhone(phone) }
  const [user] = await (await backend.state()).read(({ users }) => users.find(where))
  return user
}

/** A password that nobody knows, for a user who signs up without one; strong enough for every setting. */
export const unknownPassword = () => `${randomBytes(24).toString('base64url')}aA1!`

async function byEmail(backend: Backend, exchange: Exchange, params: OtpParams): Promise<Reply> {
  const { settings } = backend
  if (!settings.externalEmailEnabled) throw emailProviderDisabled(422, 'Email logins are disabled')
  const email = validEmail(params.email)
  const redirect = redirectOf(backend, exchange)
  const known = await find(backend, params)
  if (!known || !isConfirmed(known)) {
    const { data, code_challenge, code_challenge_method } = params
    const challenge = settings.mailerAutoconfirm ? {} : { code_challenge, code_challenge_method }
    const signup = { email, phone: '', password: unknownPassword(), data, channel: '' }
    await signUp(backend, { ...signup, code_challenge: '', code_challenge_method: '', ...challenge }, redirect)
    // The mail that confirms a new address signs its reader in as well.
    if (!settings.mailerAutoconfirm) return jsonReply({})
  }
  const sent = await (await backend.state()).write(async tables => {
    const [user] = await tables.users.find({ email })
    return user && sendSignIn(backend, tables, user, 'magiclink', { redirect, challenge: challengeIn(params) })
  })
  announce(backend, sent?.messages ?? [])
  return jsonReply({})
}

async function byPhone(backend: Backend, exchange: Exchange, params: OtpParams): Promise<Reply> {
  const { settings } = backend
  if (!settings.externalPhoneEnabled) throw phoneProviderDisabled(422, 'Unsupported phone provider')
  requireChannel(params.channel)
  const phone = validPhone(params.phone)
  if (!(await find(backend, params))) {
    const signup = { email: '', phone, password: unknownPassword(), data: params.data, channel: params.channel }
    const unchallenged = { code_challenge: '', code_challenge_method: '' }
    await signUp(backend, { ...signup, ...unchallenged }, redirectOf(backend, exchange))
    if (!settings.smsAutoconfirm) return jsonReply({})
  }
  const sent = await (await backend.state()).write(async tables => {
    const [user] = await tables.users.find({ phone })
    return user && sendPhoneCode(backend, tables, user, { kind: 'sms', phone })
  })
  announce(backend, sent?.messages ?? [])
  return jsonReply(messageIdOf(sent?.messages))
}

/** What is told of a text message that was sent. */
export const messageIdOf = (messages: readonly { id: string }[] = []) =>
  messages[0] ? { message_id: messages[0].id } : {}
