/** Documented clauses about who may ask. */
import { documentedEndpoints, signIn, strange } from '../calls.js'
import { asking, askingAt, type Clause, type DocumentedEndpoint, type Look } from '../clause.js'
import { intruders } from '../intruders.js'
import { jsonIn, jsonObject, status } from '../looks.js'

const { index: INDEX, models: MODELS, chat: CHAT } = documentedEndpoints

const everyEndpoint =
  'The platform states that every endpoint requires a valid JWT issued by its authentication backend.'
const missingOrInvalid = 'A missing or invalid credential yields HTTP 401 with body containing error.'
const row = '| 401 | Credential missing or invalid | { error: <string> } |'
const bearer = 'Requests carry the header Authorization with the value Bearer followed by a credential.'

const refusal = (id: string, what: string, at: DocumentedEndpoint, isMissing: boolean): Clause => ({
  ...{ id, section: 'Authentication', quotes: [missingOrInvalid, row], what, source: 'documented' },
  check: askingAt(at, strange(at.path, isMissing), status(401)),
})

const jwt: Look = {
  expected: 'an access_token that is a JWT',
  differs({ text }) {
    const { access_token } = jsonIn(text).value as { readonly access_token?: unknown }
    return typeof access_token === 'string' && /^[\w-]+\.[\w-]+\.[\w-]+$/.test(access_token) ? undefined : 'none'
  },
}

export const authenticationClauses: readonly Clause[] = [
  {
    id: 'AUTH-1.1',
    section: 'Authentication',
    quotes: [everyEndpoint],
    what: 'A JWT with a wrong signature does not open GET /api/v1.',
    source: 'documented',
    check: askingAt(INDEX, intruders.forgedAtIndex, status(401)),
  },
  {
    id: 'AUTH-1.2',
    section: 'Authentication',
    quotes: [everyEndpoint],
    what: 'A JWT without a signature does not open GET /api/v1.',
    source: 'documented',
    check: askingAt(INDEX, intruders.unsignedAtIndex, status(401)),
  },
  {
    id: 'AUTH-1.3',
    section: 'Authentication',
    quotes: [everyEndpoint],
    what: 'A user JWT with a wrong signature does not open GET /v1/models.',
    source: 'documented',
    check: askingAt(MODELS, intruders.forgedUserAtModels, status(401)),
  },
  {
    id: 'AUTH-1.4',
    section: 'Authentication',
    quotes: [everyEndpoint],
    what: 'A user JWT with a wrong signature does not open POST /v1/chat/completions.',
    source: 'documented',
    check: askingAt(CHAT, intruders.forgedUserAtChat, status(401)),
  },
  {
    id: 'AUTH-1.5',
    section: 'Authentication',
    quotes: [everyEndpoint],
    what: 'A user JWT with a wrong signature does not open GET /api/v1.',
    source: 'documented',
    check: askingAt(INDEX, intruders.forgedUserAtIndex, status(401)),
  },
  {
    id: 'AUTH-1.6',
    section: 'Authentication',
    quotes: [everyEndpoint],
    what: 'A JWT without a signature does not open GET /v1/models.',
    source: 'documented',
    check: askingAt(MODELS, intruders.unsignedAtModels, status(401)),
  },
  {
    id: 'AUTH-1.7',
    section: 'Authentication',
    quotes: [everyEndpoint],
    what: 'A JWT without a signature does not open POST /v1/chat/completions.',
    source: 'documented',
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
    what: 'Whoever signs in with email and password gets a JWT.',
    source: 'documented',
    needs: ['AUTH-D1'],
    check: asking(signIn, status(200), jsonObject, jwt),
  },
  {
    id: 'AUTH-3.1',
    section: 'Authentication',
    quotes: [bearer],
    what: 'An API key without the word Bearer before it does not open GET /v1/models.',
    source: 'documented',
    check: askingAt(MODELS, intruders.keyAloneAtModels, status(401)),
  },
  {
    id: 'AUTH-3.2',
    section: 'Authentication',
    quotes: [bearer],
    what: 'An anon key with another word than Bearer before it does not open GET /api/v1.',
    source: 'documented',
    check: askingAt(INDEX, intruders.otherSchemeAtIndex, status(401)),
  },
  {
    id: 'AUTH-3.3',
    section: 'Authentication',
    quotes: [bearer],
    what: 'An API key without the word Bearer before it does not open POST /v1/chat/completions.',
    source: 'documented',
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
    source: 'documented',
    check: askingAt(MODELS, intruders.schemeAloneAtModels, status(401)),
  },
]
