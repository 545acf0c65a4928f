/** POST /auth/v1/logout: ends the session of the token, all sessions of its user, or all the others. */
import type { Backend } from '../../auth/backend.js'
import { endSessions, endSessionsOf } from '../../auth/sessions.js'
import { validationFailed } from '../../core/auth-errors.js'
import type { Endpoint } from '../../core/exchange.js'
import { emptyReply, forUser } from './frame.js'
import { queryOf } from './params.js'
import type { About } from './says.js'

const about: About = {
  id: 'signOut',
  does: 'Ends the session of the token, all sessions of its user, or all the others.',
  query: { scope: 'Which sessions: global (all, as without it), local or others.' },
  answer: 'no body',
}

export const logout = (backend: Backend): Endpoint =>
  forUser(backend)('POST', '/logout', about, async (exchange, { user, session }) => {
    const scope = queryOf(exchange).get('scope') || 'global'
    if (!['global', 'local', 'others'].includes(scope)) {
      throw validationFailed(`Unsupported logout scope "${scope}"`)
    }
    await (await backend.state()).write(async tables => {
      if (scope === 'local' && session) return endSessions(tables, [session])
      return endSessionsOf(tables, user.id, scope === 'others' ? session?.id : undefined)
    })
    return emptyReply(204)
  })
