/** Further factors and passkeys: nobody has any here, and nobody gets one, as at a Supabase where these are off. */
import { isUuid, type SignedIn } from '../../auth/authenticate.js'
import type { Backend } from '../../auth/backend.js'
import { anonymousNotAllowed, factorNotFound, idNotUuid, mfaDisabled, passkeyNotFound } from '../../core/auth-errors.js'
import type { Endpoint, Exchange, Reply } from '../../core/exchange.js'
import { jsonReply } from '../json-reply.js'
import { userIn } from './admin-users.js'
import { forAdmin, forUser, idBehind } from './frame.js'
import { readParams } from './params.js'

export function factors(backend: Backend): readonly Endpoint[] {
  const [user, admin] = [forUser(backend), forAdmin(backend)]
  /** The answer to an admin who asks about a user who is there. */
  const ofUser = (answer: (exchange: Exchange) => Reply) => async (exchange: Exchange) => {
    await (await backend.state()).read(tables => userIn(tables, exchange))
    return answer(exchange)
  }
  const factor = ofUser(noFactor)
  return [
    user('POST', '/factors', enroll),
    user('POST', '/factors/{id}/challenge', refuseFactor),
    user('POST', '/factors/{id}/verify', refuseFactor),
    user('DELETE', '/factors/{id}', refuseFactor),
    admin('GET', '/admin/users/{id}/factors', ofUser(none)),
    admin('PUT', '/admin/users/{id}/factors/{factor}', factor),
    admin('DELETE', '/admin/users/{id}/factors/{factor}', factor),
    admin('GET', '/admin/users/{id}/passkeys', ofUser(none)),
    admin('DELETE', '/admin/users/{id}/passkeys/{passkey}', ofUser(noPasskey)),
  ]
}

const none = () => jsonReply([])

function enroll(exchange: Exchange, { user }: SignedIn): never {
  if (user.is_anonymous) throw anonymousNotAllowed()
  throw mfaDisabled(readParams(exchange, 'EnrollFactorParams', { factor_type: 'string' }).factor_type)
}

function refuseFactor(exchange: Exchange, { user }: SignedIn): never {
  if (user.is_anonymous) throw anonymousNotAllowed()
  return noFactor(exchange)
}

function noFactor(exchange: Exchange): never {
  throw isUuid(idBehind('factors', exchange)) ? factorNotFound() : idNotUuid('factor_id')
}

function noPasskey(): never {
  throw passkeyNotFound()
}
