/** Clauses about signing in and about which credential opens what. */
import {
  documentedEndpoints,
  intruders,
  signIn,
  strange,
  withAnonKey,
  withApiKey,
  withKeyOfItsOwn,
  withUserToken,
} from '../calls.js'
import { asking, askingAt, type CallFor, type ClauseForm, type DocumentedEndpoint, type Look } from '../clause.js'
import { jsonIn, jsonObject, status } from '../looks.js'

const { index: INDEX, models: MODELS, chat: CHAT } = documentedEndpoints

const everyEndpoint =
  'The platform states that every endpoint requires a valid JWT issued by its authentication backend.'
const missingOrInvalid = 'A missing or invalid credential yields HTTP 401 with body containing error.'
const row = '| 401 | Credential missing or invalid | { error: <string> } |'
const bearer = 'Requests carry the header Authorization with the value Bearer followed by a credential.'

const refusal = (id: string, what: string, at: DocumentedEndpoint, isMissing: boolean): ClauseForm => ({
  ...{ id, section: 'Authentication', quotes: [missingOrInvalid, row], what },
  check: askingAt(at, strange(at.path, isMissing), status(401)),
})

const jwt: Look = {
  expected: 'an access_token that is a JWT',
  differs({ text }) {
    const { access_token } = jsonIn(text).value as { readonly access_token?: unknown }
    return typeof access_token === 'string' && /^[\w-]+\.[\w-]+\.[\w-]+$/.test(access_token) ? undefined : 'none'
  },
}

export const authenticationClauses: readonly ClauseForm[] = [
  {
    id: 'AUTH-1.1',
    section: 'Authentication',
    quotes: [everyEndpoint],
    what: 'A JWT with a wrong signature does not open GET /api/v1.',
    check: askingAt(INDEX, intruders.forgedAtIndex, status(401)),
  },
  {
    id: 'AUTH-1.2',
    section: 'Authentication',
    quotes: [everyEndpoint],
    what: 'A JWT without a signature does not open GET /api/v1.',
    check: askingAt(INDEX, intruders.unsignedAtIndex, status(401)),
  },
  {
    id: 'AUTH-1.3',
    section: 'Authentication',
    quotes: [everyEndpoint],
    what: 'A user JWT with a wrong signature does not open GET /v1/models.',
    check: askingAt(MODELS, intruders.forgedUserAtModels, status(401)),
  },
  {
    id: 'AUTH-1.4',
    section: 'Authentication',
    quotes: [everyEndpoint],
    what: 'A user JWT with a wrong signature does not open POST /v1/chat/completions.',
    check: askingAt(CHAT, intruders.forgedUserAtChat, status(401)),
  },
  {
    id: 'AUTH-1.5',
    section: 'Authentication',
    quotes: [everyEndpoint],
    what: 'A user JWT with a wrong signature does not open GET /api/v1.',
    check: askingAt(INDEX, intruders.forgedUserAtIndex, status(401)),
  },
  {
    id: 'AUTH-1.6',
    section: 'Authentication',
    quotes: [everyEndpoint],
    what: 'A JWT without a signature does not open GET /v1/models.',
    check: askingAt(MODELS, intruders.unsignedAtModels, status(401)),
  },
  {
    id: 'AUTH-1.7',
    section: 'Authentication',
    quotes: [everyEndpoint],
    what: 'A JWT without a signature does not open POST /v1/chat/completions.',
    check: askingAt(CHAT, intruders.unsignedAtChat, status(401)),
  },
  {
    id: 'AUTH-2',
    section: 'Authentication',
    quotes: [
      "The JWT is obtained by signing in with an email and password through the backend's client library (a sign-in-with-password operation taking email and password).",
      'The platform is backed by a self-hosted backend that provides a database and user authentication.',
      'The authentication backend is at {auth_url}.',
    ],
    what: 'Signing in with email and password gives a JWT.',
    needs: ['AUTH-D1'],
    check: asking(signIn, status(200), jsonObject, jwt),
  },
  {
    id: 'AUTH-3.1',
    section: 'Authentication',
    quotes: [bearer],
    what: 'An API key without the word Bearer before it does not open GET /v1/models.',
    check: askingAt(MODELS, intruders.keyAloneAtModels, status(401)),
  },
  {
    id: 'AUTH-3.2',
    section: 'Authentication',
    quotes: [bearer],
    what: 'An anon key with another word than Bearer before it does not open GET /api/v1.',
    check: askingAt(INDEX, intruders.otherSchemeAtIndex, status(401)),
  },
  {
    id: 'AUTH-3.3',
    section: 'Authentication',
    quotes: [bearer],
    what: 'An API key without the word Bearer before it does not open POST /v1/chat/completions.',
    check: askingAt(CHAT, intruders.keyAloneAtChat, status(401)),
  },
  refusal('AUTH-6.1', 'GET /api/v1 without a credential yields 401.', INDEX, true),
  refusal('AUTH-6.2', 'GET /api/v1 with an invalid credential yields 401.', INDEX, false),
  refusal('AUTH-6.3', 'GET /v1/models without a credential yields 401.', MODELS, true),
  refusal('AUTH-6.4', 'GET /v1/models with an invalid credential yields 401.', MODELS, false),
  refusal('AUTH-6.5', 'POST /v1/chat/completions without a credential yields 401.', CHAT, true),
  refusal('AUTH-6.6', 'POST /v1/chat/completions with an invalid credential yields 401.', CHAT, false),
  {
    id: 'AUTH-6.7',
    section: 'Authentication',
    quotes: [missingOrInvalid, row],
    what: 'GET /v1/models with the word Bearer alone yields 401.',
    check: askingAt(MODELS, intruders.schemeAloneAtModels, status(401)),
  },
]

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
): ClauseForm => ({
  ...{ id, section: 'Authentication', quotes: [kinds], what, needs },
  check: askingAt(at, call, status(wanted)),
})

export const credentialClauses: readonly ClauseForm[] = [
  {
    id: 'AUTH-D1',
    section: 'Authentication',
    quotes: [signingIn],
    what: 'Signing in is POST /auth/v1/token?grant_type=password, as at Supabase.',
    check: asking(signIn, signInPath),
  },
  {
    id: 'AUTH-D2',
    section: 'Authentication',
    quotes: [signingIn],
    what: 'A token lives for 3600 seconds, and comes with one for its refresh.',
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
