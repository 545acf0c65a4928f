/** POST /auth/v1/recover: a mail with which somebody who forgot their password signs in. */
import { validEmail } from '../../auth/addresses.js'
import type { Backend } from '../../auth/backend.js'
import { challengeIn } from '../../auth/flows.js'
import { sendSignIn } from '../../auth/letters.js'
import { emailProviderDisabled, validationFailed } from '../../core/auth-errors.js'
import type { Endpoint } from '../../core/exchange.js'
import { jsonReply } from '../json-reply.js'
import { announce, forAnyone, redirectOf } from './frame.js'
import { readParams } from './params.js'
import type { About } from './says.js'

const fields = { email: 'string', code_challenge: 'string', code_challenge_method: 'string' } as const

const about: About = {
  id: 'recoverPassword',
  does: 'A mail with which somebody who forgot their password signs in.',
  query: { redirect_to: 'Where the link of the mail leads back to.' },
  fields,
  answer: 'object',
}

export const recover = (backend: Backend): Endpoint =>
  forAnyone('POST', '/recover', about, async exchange => {
    if (!backend.settings.externalEmailEnabled) throw emailProviderDisabled(400, 'Email logins are disabled')
    const params = readParams(exchange, 'RecoverParams', fields)
    if (params.email === '') throw validationFailed('Password recovery requires an email')
    const email = validEmail(params.email)
    const back = { redirect: redirectOf(backend, exchange), challenge: challengeIn(params) }
    const sent = await (await backend.state()).write(async tables => {
      const [user] = await tables.users.find({ email })
      return user && sendSignIn(backend, tables, user, 'recovery', back)
    })
    announce(backend, sent?.messages ?? [])
    // The same for an address that nobody has: who is a user here is nobody's business.
    return jsonReply({})
  })
