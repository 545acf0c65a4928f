/** What Standin has decided about signing in and about which credential opens what. */
import { documentedEndpoints, signIn, withAnonKey, withApiKey, withKeyOfItsOwn, withUserToken } from '../calls.js'
import { asking, askingAt, type CallFor, type Clause, type DocumentedEndpoint, type Look } from '../clause.js'
import { jsonIn, status } from '../looks.js'

const { index: INDEX, models: MODELS } = documentedEndpoints

const signingIn = 'Sign-in endpoint paths, token lifetime, refresh, and scopes of API keys: not shown.'
const kinds = 'Which credential type is accepted on which endpoint beyond the rules above: not shown.'

const signInPath: Look = {
  expected: 'a sign-in at /auth/v1/token',
  differs: ({ status }) => (status === 404 || status === 405 ? `status ${status}` : undefined),
}

const session: Look = {
  expected: 'token_type "bearer", expires_in 3600 and a refresh_token',
  differs({ text }) {
    const { token_type, expires_in, refresh_token } = jsonIn(text).value as Readonly<Record<string, unknown>>
    if (token_type !== 'bearer') return 'another token_type'
    if (expires_in !== 3600) return `expires_in ${JSON.stringify(expires_in)}`
    return typeof refresh_token === 'string' && refresh_token !== '' ? undefined : 'no refresh_token'
  },
}

const opening = (
  id: string,
  what: string,
  [at, call, wanted]: readonly [DocumentedEndpoint, CallFor, number],
  needs: readonly string[],
): Clause => ({
  ...{ id, section: 'Authentication', quotes: [kinds], what, source: 'decided', needs },
  check: askingAt(at, call, status(wanted)),
})

export const credentialClauses: readonly Clause[] = [
  {
    id: 'AUTH-D1',
    section: 'Authentication',
    quotes: [signingIn],
    what: 'Signing in is POST /auth/v1/token?grant_type=password, as at Supabase.',
    source: 'decided',
    check: asking(signIn, signInPath),
  },
  {
    id: 'AUTH-D2',
    section: 'Authentication',
    quotes: [signingIn],
    what: 'A token lives for 3600 seconds, and comes with one for its refresh.',
    source: 'decided',
    needs: ['AUTH-2'],
    check: asking(signIn, session),
  },
  opening('AUTH-D3', 'A user JWT opens GET /api/v1.', [INDEX, withUserToken('/api/v1'), 200], ['AUTH-2']),
  opening('AUTH-D4', 'A user JWT opens GET /v1/models.', [MODELS, withUserToken('/v1/models'), 200], ['AUTH-2']),
  opening(
    'AUTH-D5',
    'An anon key does not open GET /v1/models.',
    [MODELS, withKeyOfItsOwn(withAnonKey('/v1/models')), 401],
    [],
  ),
  opening('AUTH-D6', 'An API key does not open GET /api/v1.', [INDEX, withKeyOfItsOwn(withApiKey('/api/v1')), 401], []),
]
