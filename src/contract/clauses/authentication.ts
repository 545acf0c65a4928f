/** Clauses about signing in, and about which endpoint accepts which credential. */

import { jsonIn, jsonObject, status } from '../answer-checks.js'
import {
  documentedEndpoints,
  intruders,
  signIn,
  withAnonKey,
  withApiKey,
  withBadCredential,
  withDistinctKeys,
  withUserToken,
} from '../calls.js'
import {
  type AnswerCheck,
  asking,
  askingAt,
  type CallFor,
  type ClauseForm,
  type DocumentedEndpoint,
} from '../clause.js'

const { index: INDEX, models: MODELS, chat: CHAT } = documentedEndpoints

const everyEndpoint =
  'The platform states that every endpoint requires a valid JWT issued by its authentication backend.'
const missingOrInvalid = 'A missing or invalid credential yields HTTP 401 with body containing error.'
const row = '| 401 | Credential missing or invalid | { error: <string> } |'
const bearer = 'Requests carry the header Authorization with the value Bearer followed by a credential.'

/** A credential that an endpoint must reject, according to the document. */
const refusing =
  (...quotes: readonly string[]) =>
  (id: string, what: string, at: DocumentedEndpoint, call: CallFor): ClauseForm => ({
    ...{ id, section: 'Authentication', quotes, what },
    check: askingAt(at, call, status(401)),
  })

const unsigned = refusing(everyEndpoint)
const withoutBearer = refusing(bearer)
const refused = refusing(missingOrInvalid, row)

const missing = ({ path }: DocumentedEndpoint) => withBadCredential(path, 'missing')
const invalid = ({ path }: DocumentedEndpoint) => withBadCredential(path, 'invalid')

const jwt: AnswerCheck = {
  expected: 'an access_token that is a JWT',
  differs({ text }) {
    const { access_token } = jsonIn(text).value as { readonly access_token?: unknown }
    return typeof access_token === 'string' && /^[\w-]+\.[\w-]+\.[\w-]+$/.test(access_token) ? undefined : 'none'
  },
}

export const authenticationClauses: readonly ClauseForm[] = [
  unsigned('AUTH-1.1', 'GET /api/v1 rejects a JWT with a wrong signature.', INDEX, intruders.forgedAtIndex),
  unsigned('AUTH-1.2', 'GET /api/v1 rejects a JWT without a signature.', INDEX, intruders.unsignedAtIndex),
  unsigned(
    'AUTH-1.3',
    'GET /v1/models rejects a user JWT with a wrong signature.',
    MODELS,
    intruders.forgedUserAtModels,
  ),
  unsigned(
    'AUTH-1.4',
    'POST /v1/chat/completions rejects a user JWT with a wrong signature.',
    CHAT,
    intruders.forgedUserAtChat,
  ),
  unsigned('AUTH-1.5', 'GET /api/v1 rejects a user JWT with a wrong signature.', INDEX, intruders.forgedUserAtIndex),
  unsigned('AUTH-1.6', 'GET /v1/models rejects a JWT without a signature.', MODELS, intruders.unsignedAtModels),
  unsigned('AUTH-1.7', 'POST /v1/chat/completions rejects a JWT without a signature.', CHAT, intruders.unsignedAtChat),
  {
    id: 'AUTH-2',
    section: 'Authentication',
    quotes: [
      "The JWT is obtained by signing in with an email and password through the backend's client library (a sign-in-with-password operation taking email and password).",
      'The platform is backed by a self-hosted backend that provides a database and user authentication.',
      'The authentication backend is at {auth_url}.',
    ],
    what: 'Signing in with email and password returns a JWT.',
    needs: ['AUTH-D1'],
    check: asking(signIn, status(200), jsonObject, jwt),
  },
  withoutBearer(
    'AUTH-3.1',
    'GET /v1/models rejects an API key without the word Bearer before it.',
    MODELS,
    intruders.keyAloneAtModels,
  ),
  withoutBearer(
    'AUTH-3.2',
    'GET /api/v1 rejects an anon key with a scheme other than Bearer.',
    INDEX,
    intruders.otherSchemeAtIndex,
  ),
  withoutBearer(
    'AUTH-3.3',
    'POST /v1/chat/completions rejects an API key without the word Bearer before it.',
    CHAT,
    intruders.keyAloneAtChat,
  ),
  refused('AUTH-6.1', 'GET /api/v1 without a credential yields 401.', INDEX, missing(INDEX)),
  refused('AUTH-6.2', 'GET /api/v1 with an invalid credential yields 401.', INDEX, invalid(INDEX)),
  refused('AUTH-6.3', 'GET /v1/models without a credential yields 401.', MODELS, missing(MODELS)),
  refused('AUTH-6.4', 'GET /v1/models with an invalid credential yields 401.', MODELS, invalid(MODELS)),
  refused('AUTH-6.5', 'POST /v1/chat/completions without a credential yields 401.', CHAT, missing(CHAT)),
  refused('AUTH-6.6', 'POST /v1/chat/completions with an invalid credential yields 401.', CHAT, invalid(CHAT)),
  refused('AUTH-6.7', 'GET /v1/models with the word Bearer alone yields 401.', MODELS, intruders.schemeAloneAtModels),
]

const signingIn = 'Sign-in endpoint paths, token lifetime, refresh, and scopes of API keys: not shown.'
const kinds = 'Which credential type is accepted on which endpoint beyond the rules above: not shown.'

const signInPath: AnswerCheck = {
  expected: 'a sign-in at /auth/v1/token',
  differs: ({ status }) => (status === 404 || status === 405 ? `status ${status}` : undefined),
}

const session: AnswerCheck = {
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
    what: 'The sign-in endpoint is POST /auth/v1/token?grant_type=password, as in Supabase.',
    check: asking(signIn, signInPath),
  },
  {
    id: 'AUTH-D2',
    section: 'Authentication',
    quotes: [signingIn],
    what: 'An access token is valid for 3600 seconds and comes with a refresh token.',
    needs: ['AUTH-2'],
    check: asking(signIn, session),
  },
  opening('AUTH-D3', 'GET /api/v1 accepts a user JWT.', [INDEX, withUserToken('/api/v1'), 200], ['AUTH-2']),
  opening('AUTH-D4', 'GET /v1/models accepts a user JWT.', [MODELS, withUserToken('/v1/models'), 200], ['AUTH-2']),
  opening(
    'AUTH-D5',
    'GET /v1/models rejects an anon key.',
    [MODELS, withDistinctKeys(withAnonKey('/v1/models')), 401],
    [],
  ),
  opening('AUTH-D6', 'GET /api/v1 rejects an API key.', [INDEX, withDistinctKeys(withApiKey('/api/v1')), 401], []),
]
