/** Further factors and passkeys: as at a Supabase that has them switched off, no user has any or can add one. */
import { type Endpoint, type Exchange, jsonReply, type Reply } from '../../core/exchange.js'
import { isUuid, type SignedIn } from '../authenticate.js'
import type { Backend } from '../backend.js'
import { anonymousNotAllowed, factorNotFound, idNotUuid, mfaDisabled, passkeyNotFound } from '../errors.js'
import { userIn } from './admin-users.js'
import { forAdmin, forUser, idAfter } from './frame.js'
import { readParams } from './params.js'
import type { About } from './says.js'

const enrollFields = { factor_type: 'string' } as const
const aboutEnrolling: About = {
  does: 'Enrolls a further factor, which is switched off here.',
  answer: 'none',
  fields: enrollFields,
}

const aboutNoFactor: About = {
  does: 'Always answers that the factor does not exist, because factors are switched off here.',
  answer: 'none',
}

export function factors(backend: Backend): readonly Endpoint[] {
  const [user, admin] = [forUser(backend), forAdmin(backend)]
  /** Answers an admin who asks about an existing user. */
  const forExistingUser = (answer: (exchange: Exchange) => Reply) => async (exchange: Exchange) => {
    await (await backend.state()).read(tables => userIn(tables, exchange))
    return answer(exchange)
  }
  const factor = forExistingUser(noFactor)
  return [
    user('POST /factors', aboutEnrolling, enroll),
    user('POST /factors/{id}/challenge', aboutNoFactor, refuseFactor),
    user('POST /factors/{id}/verify', aboutNoFactor, refuseFactor),
    user('DELETE /factors/{id}', aboutNoFactor, refuseFactor),
    admin(
      'GET /admin/users/{id}/factors',
      { does: 'Lists the further factors of a user, of which there are none.', answer: 'list' },
      forExistingUser(emptyList),
    ),
    admin('PUT /admin/users/{id}/factors/{factor}', aboutNoFactor, factor),
    admin('DELETE /admin/users/{id}/factors/{factor}', aboutNoFactor, factor),
    admin(
      'GET /admin/users/{id}/passkeys',
      { does: 'Lists the passkeys of a user, of which there are none.', answer: 'list' },
      forExistingUser(emptyList),
    ),
    admin(
      'DELETE /admin/users/{id}/passkeys/{passkey}',
      {
        does: 'Always answers that the passkey does not exist, because passkeys are switched off here.',
        answer: 'none',
      },
      forExistingUser(noPasskey),
    ),
  ]
}

const emptyList = () => jsonReply([])

function enroll(exchange: Exchange, { user }: SignedIn): never {
  if (user.is_anonymous) throw anonymousNotAllowed()
  throw mfaDisabled(readParams(exchange, 'EnrollFactorParams', enrollFields).factor_type)
}

function refuseFactor(exchange: Exchange, { user }: SignedIn): never {
  if (user.is_anonymous) throw anonymousNotAllowed()
  return noFactor(exchange)
}

function noFactor(exchange: Exchange): never {
  throw isUuid(idAfter('factors', exchange)) ? factorNotFound() : idNotUuid('factor_id')
}

function noPasskey(): never {
  throw passkeyNotFound()
}
