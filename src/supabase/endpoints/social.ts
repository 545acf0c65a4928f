/** GET /auth/v1/authorize and /callback, /auth/v1/user/identities: signs in by other providers, which Standin stands in for. */
import { jsonReply } from '../../core/reply.js'
import { isUuid } from '../callers.js'
import { manualLinkingDisabled, validationFailed } from '../errors.js'
import { forAnyone, forUser, queryOf, redirectReply } from './frame.js'

/** Loaded on demand, since most platforms have no other providers. */
const loadWork = () => import('./provider-flow.js')

const authorizeQuery = {
  provider: 'The provider, such as github.',
  redirect_to: 'Where the browser returns to.',
  scopes: 'What the app wants to do at the provider.',
  code_challenge: 'The challenge of PKCE; without one, the fragment of the address has the session.',
  code_challenge_method: 'The method of the challenge: s256 or plain.',
}

export const authorize = forAnyone({
  at: 'GET /authorize',
  id: 'signInWithProvider',
  does: 'Begins a sign-in by another provider: redirects the browser to a page where the user chooses an account.',
  query: authorizeQuery,
  answer: 'to the provider',
  reply: async (backend, exchange) =>
    redirectReply(await (await loadWork()).beginAtProvider(backend, exchange, null), 302),
})

export const linkIdentity = forUser({
  at: 'GET /user/identities/authorize',
  id: 'linkIdentity',
  does: 'Begins to link an account at another provider to the signed-in user.',
  query: { ...authorizeQuery, skip_http_redirect: 'true to get the address in place of a redirect.' },
  answer: 'object',
  async reply(backend, exchange, { user }) {
    if (!backend.settings.securityManualLinkingEnabled) throw manualLinkingDisabled()
    const { beginAtProvider } = await loadWork()
    const url = await beginAtProvider(backend, exchange, user.id)
    return queryOf(exchange).get('skip_http_redirect') === 'true' ? jsonReply({ url }) : redirectReply(url, 302)
  },
})

export const unlink = forUser({
  at: 'DELETE /user/identities/{id}',
  id: 'unlinkIdentity',
  does: 'Removes an identity of the signed-in user, but not their last one.',
  answer: 'object',
  async reply(backend, { path }, { user }) {
    if (!backend.settings.securityManualLinkingEnabled) throw manualLinkingDisabled()
    const id = path.slice(path.lastIndexOf('/') + 1)
    if (!isUuid(id)) throw validationFailed('identity_id must be an UUID', 404)
    const { unlinkIdentity } = await import('../social.js')
    await backend.state.write(tables => unlinkIdentity(backend, tables, user.id, id))
    return jsonReply({})
  },
})

export const chooseAccount = forAnyone({
  at: 'GET /authorize/account',
  id: 'chooseAccount',
  does: "Shows the page that stands in for the provider's: to choose an account, to deny the app access, or to fail.",
  query: { state: 'The sign-in.', login_hint: 'The address to suggest.' },
  answer: 'page',
  reply: async (backend, exchange) => (await loadWork()).showAccounts(backend, exchange),
})

export const callback = forAnyone({
  at: 'GET /callback',
  id: 'finishSignInWithProvider',
  does: 'Ends a sign-in by another provider: redirects the browser to the app, even after an error.',
  query: {
    state: 'The sign-in.',
    code: 'What the provider gives out: here the email address of the account.',
    unverified: 'Standin only: true if the provider has not verified the address.',
    error: 'Why the provider refuses.',
    error_description: 'The same in words.',
  },
  answer: 'back from the provider',
  reply: async (backend, exchange) =>
    (await loadWork()).finishAtProvider(backend, queryOf(exchange), exchange.ipAddress),
})
