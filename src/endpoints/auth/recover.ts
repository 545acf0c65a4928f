/** POST /auth/v1/recover: a mail with which somebody who forgot their password signs in. */
import { validEmail } from '../../auth/addresses.js'
import type { Backend } from '../../auth/backend.js'
import { challengeIn } from '../../auth/flows.js'
import { sendSignIn } from '../../auth/letters.js'
import type { Endpoint } from '../../core/exchange.js'
import { jsonReply } from '../json-reply.js'
import { forAnyone, redirectOf } from './frame.js'
import { readParams } from './params.js'
import { announce } from './signup.js'

export const recover = (backend: Backend): Endpoint =>
  forAnyone('POST', '/recover', async exchange => {
    const params = readParams(exchange, 'RecoverParams', {
      email: 'string',
      code_challenge: 'string',
      code_challenge_method: 'string',
    })
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
