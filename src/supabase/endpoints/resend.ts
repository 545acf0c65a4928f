/** POST /auth/v1/resend: sends the last email or text message again, with a new code. */
import { type Endpoint, jsonReply } from '../../core/exchange.js'
import type { Tables, UserRow } from '../../core/state.js'
import { validEmail, validPhone } from '../addresses.js'
import type { Backend } from '../backend.js'
import { emailToConfirm, phoneToConfirm, validationFailed } from '../errors.js'
import { challengeIn } from '../flows.js'
import {
  type LinkTarget,
  sendConfirmation,
  sendEmailChange,
  sendPhoneCode,
  sendReauthentication,
  type UserWithMessages,
} from '../letters.js'
import { announce, forAnyone, forUser, redirectOf, sendTo } from './frame.js'
import { messageIdOf } from './otp.js'
import { type Params, readParams } from './params.js'

const fields = {
  type: 'string',
  email: 'string',
  phone: 'string',
  code_challenge: 'string',
  code_challenge_method: 'string',
} as const

type ResendParams = Params<typeof fields>

const kinds = ['signup', 'email_change', 'sms', 'phone_change'] as const
type Kind = (typeof kinds)[number]

export const resend = (backend: Backend): Endpoint =>
  forAnyone(
    'POST /resend',
    { id: 'resend', does: 'Sends the last email or text message again, with a new code.', fields, answer: 'object' },
    async exchange => {
      const params = readParams(exchange, 'ResendConfirmationParams', fields)
      const { kind, where } = validated(params)
      const isMail = kind === 'signup' || kind === 'email_change'
      const back = { redirect: redirectOf(backend, exchange), challenge: isMail ? challengeIn(params) : undefined }
      const messages = await sendTo(backend, where, (tables, user) => sendAgain(backend, tables, user, { kind, back }))
      return jsonReply(isMail ? {} : messageIdOf(messages))
    },
  )

/** Returns what to send, and to which address. Throws if the request is not allowed. */
function validated(params: ResendParams) {
  const { type, email, phone } = params
  const kind = kinds.find(kind => kind === type)
  if (!kind) throw validationFailed(`Missing one of these types: ${kinds.join(', ')}`)
  if (kind === 'signup' || kind === 'email_change') challengeIn(params)
  if (email === '' && kind === 'signup') throw validationFailed('Type provided requires an email address')
  if (phone === '' && kind === 'sms') throw validationFailed('Type provided requires a phone number')
  if (email !== '' && phone !== '') {
    throw validationFailed('Only an email address or phone number should be provided.')
  }
  if (email === '' && phone === '') throw validationFailed('Missing email address or phone number')
  return { kind, where: email === '' ? { phone: validPhone(phone) } : { email: validEmail(email) } }
}

interface ResendInput {
  readonly kind: Kind
  readonly back: LinkTarget
}

/** Sends nothing if the address is already confirmed. The response does not reveal that. */
async function sendAgain(
  backend: Backend,
  tables: Tables,
  user: UserRow,
  { kind, back }: ResendInput,
): Promise<UserWithMessages | undefined> {
  switch (kind) {
    case 'signup':
      return user.email_confirmed_at === null ? sendConfirmation(backend, tables, user, back) : undefined
    case 'email_change':
      return user.new_email === null ? undefined : sendEmailChange(backend, tables, user, user.new_email, back)
    case 'sms':
      if (user.phone === null || user.phone_confirmed_at !== null) return undefined
      return sendPhoneCode(backend, tables, user, { kind, phone: user.phone })
    case 'phone_change':
      return user.new_phone === null ? undefined : sendPhoneCode(backend, tables, user, { kind, phone: user.new_phone })
  }
}

/** GET /auth/v1/reauthenticate: sends a code to the signed-in user, with which they can change their password. */
export const reauthenticate = (backend: Backend): Endpoint =>
  forUser(backend)(
    'GET /reauthenticate',
    {
      id: 'reauthenticate',
      does: 'Sends a code to the signed-in user for changing the password.',
      answer: 'object',
    },
    async (_exchange, { user }) => {
      if (user.email === null && user.phone === null) {
        throw validationFailed('Reauthentication requires the user to have an email or a phone number')
      }
      if (user.email !== null && user.email_confirmed_at === null) throw emailToConfirm()
      if (user.email === null && user.phone_confirmed_at === null) throw phoneToConfirm()
      const { messages } = await backend.state.write(tables => sendReauthentication(backend, tables, user))
      announce(backend, messages)
      return jsonReply(user.email === null ? messageIdOf(messages) : {})
    },
  )
