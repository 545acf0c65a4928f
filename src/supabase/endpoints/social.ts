/** GET /auth/v1/authorize and /callback, /auth/v1/user/identities: signs in by other providers, which Standin stands in for. */
import { jsonReply } from '../../core/reply.js'
import { isUuid } from '../callers.js'
import { validationFailed } from '../errors.js'
import { forAnyone, forUser, queryOf, redirectReply } from './frame.js'

/** Loaded on demand, since most platforms have no other providers. */
const loadWork = () => import('./provider-flow.js')

export const authorize = forAnyone({
  at: 'GET /authorize',
  reply: async (backend, exchange) =>
    redirectReply(await (await loadWork()).beginAtProvider(backend, exchange, null), 302),
})

export const linkIdentity = forUser({
  at: 'GET /user/identities/authorize',
  async reply(backend, exchange, { user }) {
    const { beginAtProvider } = await loadWork()
    const url = await beginAtProvider(backend, exchange, user.id)
    return queryOf(exchange).get('skip_http_redirect') === 'true' ? jsonReply({ url }) : redirectReply(url, 302)
  },
})

export const unlink = forUser({
  at: 'DELETE /user/identities/{id}',
  async reply(backend, { path }, { user }) {
    const id = path.slice(path.lastIndexOf('/') + 1)
    if (!isUuid(id)) throw validationFailed('identity_id must be an UUID', 404)
    const { unlinkIdentity } = await import('../social.js')
    await backend.state.write(tables => unlinkIdentity(backend, tables, user.id, id))
    return jsonReply({})
  },
})

export const chooseAccount = forAnyone({
  at: 'GET /authorize/account',
  reply: async (backend, exchange) => (await loadWork()).showAccounts(backend, exchange),
})

export const callback = forAnyone({
  at: 'GET /callback',
  reply: async (backend, exchange) =>
    (await loadWork()).finishAtProvider(backend, queryOf(exchange), exchange.ipAddress),
})
