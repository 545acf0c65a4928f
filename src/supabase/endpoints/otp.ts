/** POST /auth/v1/otp, /magiclink, /recover, /resend and GET /reauthenticate: send codes and links. */
import type { Exchange } from '../../core/exchange.js'
import { jsonReply, type Reply } from '../../core/reply.js'
import type { Tables, UserRow } from '../../state/rows.js'
import type { Backend } from '../backend.js'
import { emailToConfirm, otpDisabled, phoneToConfirm, validationFailed } from '../errors.js'
import {
  type LinkTarget,
  sendEmailChange,
  sendLink,
  sendPhoneCode,
  sendReauthentication,
  type UserWithMessages,
} from '../letters.js'
import { randomPassword } from '../passwords.js'
import { challengeIn } from '../sessions.js'
import { validEmail, validPhone } from '../users.js'
import { signUp } from './account.js'
import {
  addressFields,
  addressIn,
  challengeFields,
  hasConfirmed,
  linkTargetOf,
  requireChannel,
  requirePhones,
  sendTo,
  sentReply,
} from './addresses.js'
import { type Params, readParams } from './forms.js'
import { forAnyone, forUser, redirectOf } from './frame.js'

const otpFields = { ...addressFields, create_user: 'boolean?', data: 'object' } as const

type OtpParams = Params<typeof otpFields>

export const otp = forAnyone({
  at: 'POST /otp',
  async reply(backend, exchange) {
    const params = readParams(exchange, otpFields)
    const { email, phone, channel, create_user } = params
    if (email !== '' && phone !== '') {
      throw validationFailed('Only an email address or phone number should be provided')
    }
    if (email !== '' && channel !== '') throw validationFailed('Channel should only be specified with Phone OTP')
    challengeIn(params)
    if (email === '' && phone === '') throw validationFailed('One of email or phone must be set')
    // A malformed address is unknown as well.
    const isUnknown = create_user === false && !(await findUser(backend, params).catch(() => undefined))
    if (isUnknown) throw otpDisabled()
    return email === '' ? byPhone(backend, exchange, params) : byEmail(backend, exchange, params)
  },
})

/** The older name of signing in by email. */
export const magicLink = forAnyone({
  at: 'POST /magiclink',
  reply: (backend, exchange) => byEmail(backend, exchange, readParams(exchange, otpFields)),
})

async function findUser({ state }: Backend, params: OtpParams): Promise<UserRow | undefined> {
  const address = addressIn(params)
  const [user] = await state.read(({ users }) => users.find(address))
  return user
}

async function byEmail(backend: Backend, exchange: Exchange, params: OtpParams): Promise<Reply> {
  if (params.email === '') throw validationFailed('Password recovery requires an email', 422)
  const back = linkTargetOf(backend, exchange, params)
  if (await waitsForSignUp(backend, params, back)) return jsonReply({})
  return sendTo(backend, { email: validEmail(params.email) }, (tables, user) =>
    sendLink(backend, tables, user, 'magiclink', back),
  )
}

async function byPhone(backend: Backend, exchange: Exchange, params: OtpParams): Promise<Reply> {
  requirePhones(backend, 'Unsupported phone provider')
  const phone = validPhone(params.phone)
  requireChannel(params.channel)
  if (await waitsForSignUp(backend, params, { redirect: redirectOf(backend, exchange) })) return jsonReply({})
  return sendTo(backend, { phone }, (tables, user) => sendPhoneCode(backend, tables, user, 'sms', phone))
}

/** Signs an unknown user up. Returns whether a message confirms the new address, which also signs its reader in. */
async function waitsForSignUp(backend: Backend, params: OtpParams, back: LinkTarget): Promise<boolean> {
  const existing = await findUser(backend, params)
  if (existing && hasConfirmed(existing, addressIn(params))) return false
  return (await signUp(backend, { ...params, password: randomPassword() }, back)).kind === 'waiting'
}

const recoverFields = { email: 'string', ...challengeFields } as const

export const recover = forAnyone({
  at: 'POST /recover',
  async reply(backend, exchange) {
    const params = readParams(exchange, recoverFields)
    if (params.email === '') throw validationFailed('Password recovery requires an email')
    const email = validEmail(params.email)
    const back = linkTargetOf(backend, exchange, params)
    return sendTo(backend, { email }, (tables, user) => sendLink(backend, tables, user, 'recovery', back))
  },
})

const resendFields = { type: 'string', email: 'string', phone: 'string', ...challengeFields } as const

const resendKinds = ['signup', 'email_change', 'sms', 'phone_change'] as const
type ResendKind = (typeof resendKinds)[number]

export const resend = forAnyone({
  at: 'POST /resend',
  async reply(backend, exchange) {
    const params = readParams(exchange, resendFields)
    const { type, email, phone } = params
    const kind = resendKinds.find(kind => kind === type)
    if (!kind) throw validationFailed(`Missing one of these types: ${resendKinds.join(', ')}`)
    const isMail = kind === 'signup' || kind === 'email_change'
    const back = isMail ? linkTargetOf(backend, exchange, params) : { redirect: redirectOf(backend, exchange) }
    if (email === '' && kind === 'signup') throw validationFailed('Type provided requires an email address')
    if (phone === '' && kind === 'sms') throw validationFailed('Type provided requires a phone number')
    if (email !== '' && phone !== '') {
      throw validationFailed('Only an email address or phone number should be provided.')
    }
    if (email === '' && phone === '') throw validationFailed('Missing email address or phone number')
    if (email === '') requirePhones(backend, 'Phone logins are disabled')
    return sendTo(backend, addressIn(params), (tables, user) => sendAgain(backend, tables, user, kind, back))
  },
})

/** Sends nothing if the address is already confirmed. The response does not reveal that. */
async function sendAgain(
  backend: Backend,
  tables: Tables,
  user: UserRow,
  kind: ResendKind,
  back: LinkTarget,
): Promise<UserWithMessages | undefined> {
  switch (kind) {
    case 'signup':
      return user.email_confirmed_at === null ? sendLink(backend, tables, user, 'signup', back) : undefined
    case 'email_change':
      return user.new_email === null ? undefined : sendEmailChange(backend, tables, user, user.new_email, back)
    case 'sms':
      if (user.phone === null || user.phone_confirmed_at !== null) return undefined
      return sendPhoneCode(backend, tables, user, kind, user.phone)
    case 'phone_change':
      return user.new_phone === null ? undefined : sendPhoneCode(backend, tables, user, kind, user.new_phone)
  }
}

/** Sends the signed-in user a code with which they can change their password. */
export const reauthenticate = forUser({
  at: 'GET /reauthenticate',
  async reply(backend, _exchange, { user }) {
    if (user.email === null && user.phone === null) {
      throw validationFailed('Reauthentication requires the user to have an email or a phone number')
    }
    if (user.email !== null && user.email_confirmed_at === null) throw emailToConfirm()
    if (user.email === null && user.phone_confirmed_at === null) throw phoneToConfirm()
    const { messages } = await backend.state.write(tables => sendReauthentication(backend, tables, user))
    return sentReply(backend, messages)
  },
})
