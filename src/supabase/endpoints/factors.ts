/** Further factors and passkeys: no user has any here, and no user can add one, as at a Supabase where these are off. */
import { type Endpoint, type Exchange, jsonReply, type Reply } from '../../core/exchange.js'
import { isUuid, type SignedIn } from '../authenticate.js'
import type { Backend } from '../backend.js'
import { anonymousNotAllowed, factorNotFound, idNotUuid, mfaDisabled, passkeyNotFound } from '../errors.js'
import { userIn } from './admin-users.js'
import { forAdmin, forUser, idBehind } from './frame.js'
import { readParams } from './params.js'
import { type About, aboutOf } from './says.js'

const enrollFields = { factor_type: 'string' } as const
const aboutEnrolling: About = {
  ...aboutOf('POST', '/factors', 'Enrolling a further factor, which is off here.', 'none'),
  fields: enrollFields,
}

export function factors(backend: Backend): readonly Endpoint[] {
  const [user, admin] = [forUser(backend), forAdmin(backend)]
  /** The answer to an admin who asks about an existing user. */
  const ofUser = (answer: (exchange: Exchange) => Reply) => async (exchange: Exchange) => {
    await (await backend.state()).read(tables => userIn(tables, exchange))
    return answer(exchange)
  }
  const factor = ofUser(noFactor)
  return [
    user('POST', '/factors', aboutEnrolling, enroll),
    user(
      'POST',
      '/factors/{id}/challenge',
      aboutOf('POST', '/factors/{id}/challenge', 'A further factor: there is none.', 'none'),
      refuseFactor,
    ),
    user(
      'POST',
      '/factors/{id}/verify',
      aboutOf('POST', '/factors/{id}/verify', 'A further factor: there is none.', 'none'),
      refuseFactor,
    ),
    user(
      'DELETE',
      '/factors/{id}',
      aboutOf('DELETE', '/factors/{id}', 'A further factor: there is none.', 'none'),
      refuseFactor,
    ),
    admin(
      'GET',
      '/admin/users/{id}/factors',
      aboutOf('GET', '/admin/users/{id}/factors', 'The further factors of a user: none.', 'list'),
      ofUser(none),
    ),
    admin(
      'PUT',
      '/admin/users/{id}/factors/{factor}',
      aboutOf('PUT', '/admin/users/{id}/factors/{factor}', 'A further factor: there is none.', 'none'),
      factor,
    ),
    admin(
      'DELETE',
      '/admin/users/{id}/factors/{factor}',
      aboutOf('DELETE', '/admin/users/{id}/factors/{factor}', 'A further factor: there is none.', 'none'),
      factor,
    ),
    admin(
      'GET',
      '/admin/users/{id}/passkeys',
      aboutOf('GET', '/admin/users/{id}/passkeys', 'The passkeys of a user: none.', 'list'),
      ofUser(none),
    ),
    admin(
      'DELETE',
      '/admin/users/{id}/passkeys/{passkey}',
      aboutOf('DELETE', '/admin/users/{id}/passkeys/{passkey}', 'A passkey: there is none.', 'none'),
      ofUser(noPasskey),
    ),
  ]
}

const none = () => jsonReply([])

function enroll(exchange: Exchange, { user }: SignedIn): never {
  if (user.is_anonymous) throw anonymousNotAllowed()
  throw mfaDisabled(readParams(exchange, 'EnrollFactorParams', enrollFields).factor_type)
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
