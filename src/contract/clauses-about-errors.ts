/** Clauses about credentials, errors, limits and calls from web pages. */
import type { Violation } from '../check/finding.js'
import { CHAT, INDEX, MODELS } from '../core/paths.js'
import {
  type Authorization,
  callAs,
  fieldsIn,
  get,
  invalidRequests,
  localPage,
  preflight,
  signIn,
  tooLarge,
  unknownPaths,
  unknownPathWithoutCredential,
  withDistinctKeys,
  wrongMethod,
} from './calls.js'
import { type AnswerCheck, asking, askingEach, type ClauseRow, isAbout, jsonObject, status, without } from './clause.js'
import type { ReceivedAnswer } from './target.js'

/** Credentials that must be refused. The rest of each sentence follows the method and the path. */
const refusals: readonly (readonly [id: string, path: string, by: Authorization | undefined, what: string])[] = [
  ['AUTH-1.1', INDEX, 'forged', 'rejects a JWT with a wrong signature'],
  ['AUTH-1.2', INDEX, 'unsigned', 'rejects a JWT without a signature'],
  ['AUTH-1.3', MODELS, 'forgedUser', 'rejects a user JWT with a wrong signature'],
  ['AUTH-1.4', CHAT, 'forgedUser', 'rejects a user JWT with a wrong signature'],
  ['AUTH-1.5', INDEX, 'forgedUser', 'rejects a user JWT with a wrong signature'],
  ['AUTH-1.6', MODELS, 'unsigned', 'rejects a JWT without a signature'],
  ['AUTH-1.7', CHAT, 'unsigned', 'rejects a JWT without a signature'],
  ['AUTH-3.1', MODELS, 'keyAlone', 'rejects an API key without the word Bearer before it'],
  ['AUTH-3.2', INDEX, 'otherScheme', 'rejects an anon key with a scheme other than Bearer'],
  ['AUTH-3.3', CHAT, 'keyAlone', 'rejects an API key without the word Bearer before it'],
  ['AUTH-6.1', INDEX, undefined, 'without a credential yields 401'],
  ['AUTH-6.2', INDEX, 'unknownKey', 'with an invalid credential yields 401'],
  ['AUTH-6.3', MODELS, undefined, 'without a credential yields 401'],
  ['AUTH-6.4', MODELS, 'unknownKey', 'with an invalid credential yields 401'],
  ['AUTH-6.5', CHAT, undefined, 'without a credential yields 401'],
  ['AUTH-6.6', CHAT, 'unknownKey', 'with an invalid credential yields 401'],
  ['AUTH-6.7', MODELS, 'schemeAlone', 'with the word Bearer alone yields 401'],
]

/** The clause that says that a documented endpoint exists. */
const existence = new Map([
  [INDEX, 'EP-2'],
  [MODELS, 'EP-4'],
  [CHAT, 'EP-3'],
])

const refusalClauses = refusals.map(([id, path, by, what]): ClauseRow => {
  const method = path === CHAT ? 'POST' : 'GET'
  return [id, existence.get(path) ?? '', `${method} ${path} ${what}.`, asking(callAs(path, by), status(401))]
})

const jwt: AnswerCheck = {
  expected: 'an access_token that is a JWT',
  differs(answered) {
    const { access_token: token } = fieldsIn(answered)
    return typeof token === 'string' && /^[\w-]+\.[\w-]+\.[\w-]+$/.test(token) ? undefined : 'none'
  },
}

const signInPath: AnswerCheck = {
  expected: 'a sign-in at /auth/v1/token',
  differs: ({ status }) => (status === 404 || status === 405 ? `status ${status}` : undefined),
}

const session: AnswerCheck = {
  expected: 'token_type "bearer", expires_in 3600 and a refresh_token',
  differs(answered) {
    const { token_type, expires_in, refresh_token } = fieldsIn(answered)
    if (token_type !== 'bearer') return 'another token_type'
    if (expires_in !== 3600) return `expires_in ${JSON.stringify(expires_in)}`
    return typeof refresh_token === 'string' && refresh_token !== '' ? undefined : 'no refresh_token'
  },
}

export const credentialClauses: readonly ClauseRow[] = [
  ...refusalClauses,
  ['AUTH-2', 'AUTH-D1', 'Signing in with email and password returns a JWT.', asking(signIn, status(200), jwt)],
  [
    'AUTH-D1',
    '',
    'The sign-in endpoint is POST /auth/v1/token?grant_type=password, as in Supabase.',
    asking(signIn, signInPath),
  ],
  [
    'AUTH-D2',
    'AUTH-2',
    'An access token is valid for 3600 seconds and comes with a refresh token.',
    asking(signIn, session),
  ],
  ['AUTH-D3', 'EP-2 AUTH-2', 'GET /api/v1 accepts a user JWT.', asking(get(INDEX, 'userToken'), status(200))],
  ['AUTH-D4', 'EP-4 AUTH-2', 'GET /v1/models accepts a user JWT.', asking(get(MODELS, 'userToken'), status(200))],
  [
    'AUTH-D5',
    'EP-4',
    'GET /v1/models rejects an anon key.',
    asking(withDistinctKeys(get(MODELS, 'anonKey')), status(401)),
  ],
  ['AUTH-D6', 'EP-2', 'GET /api/v1 rejects an API key.', asking(withDistinctKeys(get(INDEX, 'apiKey')), status(401))],
]

/** A gateway may check JWTs and keys in different places, with different errors. */
const strangers = refusals.map(([, path, by]) => callAs(path, by))

const isNotFound = ({ status }: ReceivedAnswer) => status === 404

const isAboutError = ({ path }: Violation) => path === '' || path.startsWith('error')
const errorObject = without('a JSON object with a short message in its field error', isAboutError)

const withoutQuery: AnswerCheck = {
  expected: 'the path without the query',
  differs(answered) {
    const { path } = fieldsIn(answered)
    return String(path).includes('?') ? `path ${JSON.stringify(path)}` : undefined
  },
}

const allowsPost: AnswerCheck = {
  expected: 'an Allow header that names POST',
  differs({ headers }) {
    const allow = headers.get('allow')
    if (allow === null) return 'no such header'
    return /\bPOST\b/.test(allow) ? undefined : `Allow: ${allow}`
  },
}

const onlyError: AnswerCheck = {
  expected: 'a body with error, and nothing else',
  differs(answered) {
    const others = Object.keys(fieldsIn(answered)).filter(name => name !== 'error')
    return others.length === 0 ? undefined : `also ${others.join(', ')}`
  },
}

const localOrigin: AnswerCheck = {
  expected: 'Access-Control-Allow-Origin for a page on this machine',
  differs({ headers }) {
    const origin = headers.get('access-control-allow-origin')
    return origin === '*' || origin === localPage ? undefined : (origin ?? 'no such header')
  },
}

export const errorClauses: readonly ClauseRow[] = [
  ['ERR-1.1', '', 'An unknown path below /v1 yields 404.', asking(unknownPaths.language, status(404))],
  ['ERR-1.2', '', 'An unknown path below /api/v1 yields 404.', asking(unknownPaths.platform, status(404))],
  [
    'ERR-1.3',
    '',
    'An unknown path outside of /v1 and /api/v1 yields 404.',
    asking(unknownPaths.elsewhere, status(404)),
  ],
  ['ERR-1.4', '', 'An unknown path below /health yields 404.', asking(unknownPaths.below, status(404))],
  ['ERR-1.5', '', 'A POST to an unknown path yields 404 as well.', asking(unknownPaths.posted, status(404))],
  [
    'ERR-2',
    '',
    'The body of each 404 is a JSON object with an error.',
    askingEach(Object.values(unknownPaths), isNotFound, 'no call was answered with 404', errorObject),
  ],
  [
    'ERR-3',
    'ERR-2',
    'The body of each 404 has the requested path.',
    askingEach(
      Object.values(unknownPaths),
      isNotFound,
      'no call was answered with 404',
      without('the path as it was requested', isAbout('path')),
    ),
  ],
  [
    'ERR-4',
    '',
    'The body of each 401 is a JSON object with an error.',
    askingEach(strangers, ({ status }) => status === 401, 'no call was answered with 401', errorObject),
  ],
  [
    'ERR-5',
    '',
    'The body of every other error is a JSON object with an error.',
    askingEach(invalidRequests, ({ status }) => status >= 400, 'there was no other error', errorObject),
  ],
  [
    'ERR-D1',
    'ERR-1.3',
    'An unknown path yields 404 even without a credential.',
    asking(unknownPathWithoutCredential, status(404)),
  ],
  [
    'ERR-D2',
    'ERR-3 ERR-D1',
    'The path in a 404 does not include the query.',
    asking(unknownPathWithoutCredential, jsonObject, withoutQuery),
  ],
  ['ERR-D3', '', 'The wrong method on a path that exists yields 405.', asking(wrongMethod, status(405))],
  [
    'ERR-D4',
    'ERR-D3',
    'The Allow header of a 405 names the methods that the path accepts.',
    asking(wrongMethod, allowsPost),
  ],
  [
    'ERR-D5',
    'ERR-2 ERR-4 ERR-5',
    'The body of an error has only the field error; that of a 404 also has the path.',
    askingEach(
      [...strangers, ...invalidRequests],
      ({ status }) => status >= 400 && status !== 404,
      'there was no error',
      onlyError,
    ),
  ],
  ['LIMIT-D1', '', 'A body of more than 4 MB is refused with status 413.', asking(tooLarge, status(413))],
  [
    'CORS-D1',
    '',
    'Web pages on the same machine, such as http://localhost:3000, may call the platform.',
    asking(preflight, localOrigin),
  ],
]
