/** GET /auth/v1/reauthenticate: a code for whoever is signed in, to change their password with. */
import type { Backend } from '../../auth/backend.js'
import { sendReauthentication } from '../../auth/letters.js'
import { emailToConfirm, phoneToConfirm, validationFailed } from '../../core/auth-errors.js'
import type { Endpoint } from '../../core/exchange.js'
import { jsonReply } from '../json-reply.js'
import { announce, forUser } from './frame.js'
import { messageIdOf } from './otp.js'

export const reauthenticate = (backend: Backend): Endpoint =>
  forUser(backend)(
    'GET',
    '/reauthenticate',
    {
      id: 'reauthenticate',
      does: 'Sends a code to whoever is signed in, to change their password with.',
      answer: 'object',
    },
    async (_exchange, { user }) => {
      if (user.email === null && user.phone === null) {
        throw validationFailed('Reauthentication requires the user to have an email or a phone number')
      }
      if (user.email !== null && user.email_confirmed_at === null) throw emailToConfirm()
      if (user.email === null && user.phone_confirmed_at === null) throw phoneToConfirm()
      const { messages } = await (await backend.state()).write(tables => sendReauthentication(backend, tables, user))
      announce(backend, messages)
      return jsonReply(user.email === null ? messageIdOf(messages) : {})
    },
  )
