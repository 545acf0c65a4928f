/** POST /auth/v1/resend: the last mail or text message once more, with a new code. */
import { validEmail, validPhone } from '../../auth/addresses.js'
import type { Backend } from '../../auth/backend.js'
import { challengeIn } from '../../auth/flows.js'
import { type Sent, sendConfirmation, sendEmailChange, sendPhoneCode } from '../../auth/letters.js'
import { isConfirmed } from '../../auth/users.js'
import { validationFailed } from '../../core/auth-errors.js'
import type { Endpoint } from '../../core/exchange.js'
import type { Tables, UserRow } from '../../core/state.js'
import { jsonReply } from '../json-reply.js'
import { forAnyone, redirectOf } from './frame.js'
import { messageIdOf } from './otp.js'
import { readParams } from './params.js'
import { announce } from './signup.js'

const byEmail = ['signup', 'email_change']
const byPhone = ['sms', 'phone_change']

export const resend = (backend: Backend): Endpoint =>
  forAnyone('POST', '/resend', async exchange => {
    const params = readParams(exchange, 'ResendConfirmationParams', {
      type: 'string',
      email: 'string',
      phone: 'string',
      code_challenge: 'string',
      code_challenge_method: 'string',
    })
    const { type } = params
    if (![...byEmail, ...byPhone].includes(type)) {
      throw validationFailed(`Missing one of these types: ${[...byEmail, ...byPhone].join(', ')}`)
    }
    const isMail = byEmail.includes(type)
    if (params.email === '' && isMail) throw validationFailed('Type provided requires an email address')
    if (params.phone === '' && !isMail) throw validationFailed('Type provided requires a phone number')
    if (params.email !== '' && params.phone !== '') {
      throw validationFailed('Only an email address or phone number should be provided.')
    }
    const where = isMail ? { email: validEmail(params.email) } : { phone: validPhone(params.phone) }
    const back = { redirect: redirectOf(backend, exchange), challenge: challengeIn(params) }

    const sent = await (await backend.state()).write(async tables => {
      const [user] = await tables.users.find(where)
      return user && again(tables, user)
    })
    announce(backend, sent?.messages ?? [])
    return jsonReply(isMail ? {} : messageIdOf(sent?.messages))

    /** Nothing is sent for what is done already, and nobody is told so. */
    async function again(tables: Tables, user: UserRow): Promise<Sent | undefined> {
      switch (type) {
        case 'signup':
          return isConfirmed(user) ? undefined : sendConfirmation(backend, tables, user, back)
        case 'email_change':
          return user.new_email === null ? undefined : sendEmailChange(backend, tables, user, user.new_email, back)
        case 'sms':
          if (user.phone === null || user.phone_confirmed_at !== null) return undefined
          return sendPhoneCode(backend, tables, user, { kind: 'sms', phone: user.phone })
        default:
          if (user.new_phone === null) return undefined
          return sendPhoneCode(backend, tables, user, { kind: 'phone_change', phone: user.new_phone })
      }
    }
  })
