/** POST /auth/v1/otp and /magiclink: sends a code or a link for signing in without a password. */
import { type Endpoint, type Exchange, jsonReply, type Reply } from '../../core/exchange.js'
import type { UserRow } from '../../core/state.js'
import { validEmail, validPhone } from '../addresses.js'
import type { Backend } from '../backend.js'
import { otpDisabled, validationFailed } from '../errors.js'
import { challengeIn } from '../flows.js'
import { sendPhoneCode, sendSignIn } from '../letters.js'
import { randomPassword } from '../passwords.js'
import { isConfirmed } from '../users.js'
import { forAnyone, redirectOf, sendTo } from './frame.js'
import { type Params, readParams } from './params.js'
import type { About } from './says.js'
import { requireChannel, signUp } from './signup.js'

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
  forAnyone(
    'POST /otp',
    {
      id: 'sendCode',
      does: 'Sends a code or a link for signing in without a password.',
      fields,
      answer: 'object',
    },
    async exchange => {
      const params = readParams(exchange, 'OtpParams', fields)
      if (params.email !== '' && params.phone !== '') {
        throw validationFailed('Only an email address or phone number should be provided')
      }
      if (params.email !== '' && params.channel !== '') {
        throw validationFailed('Channel should only be specified with Phone OTP')
      }
      challengeIn(params)
      if (params.email === '' && params.phone === '') throw validationFailed('One of email or phone must be set')
      // A malformed address is unknown as well.
      const isUnknown = params.create_user === false && !(await findUser(backend, params).catch(() => undefined))
      if (isUnknown) throw otpDisabled()
      return params.email === '' ? byPhone(backend, exchange, params) : byEmail(backend, exchange, params)
    },
  )

/** The older name of signing in by email. */
export const magicLink = (backend: Backend): Endpoint =>
  forAnyone(
    'POST /magiclink',
    {
      id: 'sendMagicLink',
      does: 'Sends a link for signing in. The older form of POST /otp.',
      fields,
      answer: 'object',
    },
    async exchange => byEmail(backend, exchange, readParams(exchange, 'MagicLinkParams', fields)),
  )

async function findUser(backend: Backend, { email, phone }: OtpParams): Promise<UserRow | undefined> {
  const address = email === '' ? { phone: validPhone(phone) } : { email: validEmail(email) }
  const [user] = await backend.state.read(({ users }) => users.find(address))
  return user
}

async function byEmail(backend: Backend, exchange: Exchange, params: OtpParams): Promise<Reply> {
  if (params.email === '') throw validationFailed('Password recovery requires an email', 422)
  const existing = await findUser(backend, params)
  const challenge = challengeIn(params)
  const redirect = redirectOf(backend, exchange)
  if (!existing || !isConfirmed(existing)) {
    const { email: given, data } = params
    const input = { provider: 'email', given, password: randomPassword(), data, challenge } as const
    // The email that confirms a new address also signs its reader in.
    if ((await signUp(backend, input, redirect)).kind === 'waiting') return jsonReply({})
  }
  await sendTo(backend, { email: validEmail(params.email) }, (tables, user) =>
    sendSignIn(backend, tables, user, 'magiclink', { redirect, challenge }),
  )
  return jsonReply({})
}

async function byPhone(backend: Backend, exchange: Exchange, params: OtpParams): Promise<Reply> {
  const phone = validPhone(params.phone)
  requireChannel(params.channel)
  const existing = await findUser(backend, params)
  if (!existing || existing.phone_confirmed_at === null) {
    const { data } = params
    const input = { provider: 'phone', given: phone, password: randomPassword(), data } as const
    if ((await signUp(backend, input, redirectOf(backend, exchange))).kind === 'waiting') return jsonReply({})
  }
  const messages = await sendTo(backend, { phone }, (tables, user) =>
    sendPhoneCode(backend, tables, user, { kind: 'sms', phone }),
  )
  return jsonReply(messageIdOf(messages))
}

/** The part of the response that names the text message that was sent. */
export const messageIdOf = (messages: readonly { id: string }[]) => (messages[0] ? { message_id: messages[0].id } : {})

const recoverFields = { email: 'string', code_challenge: 'string', code_challenge_method: 'string' } as const

const recoverAbout: About = {
  id: 'recoverPassword',
  does: 'Sends an email that lets a user who forgot their password sign in.',
  query: { redirect_to: 'Where the link in the email redirects to.' },
  fields: recoverFields,
  answer: 'object',
}

/** POST /auth/v1/recover: sends an email with which a user who forgot their password can sign in. */
export const recover = (backend: Backend): Endpoint =>
  forAnyone('POST /recover', recoverAbout, async exchange => {
    const params = readParams(exchange, 'RecoverParams', recoverFields)
    if (params.email === '') throw validationFailed('Password recovery requires an email')
    const email = validEmail(params.email)
    const back = { redirect: redirectOf(backend, exchange), challenge: challengeIn(params) }
    await sendTo(backend, { email }, (tables, user) => sendSignIn(backend, tables, user, 'recovery', back))
    // The response is the same for an unknown address, so that it does not reveal who has an account.
    return jsonReply({})
  })
