/** The clauses of the contract, in the order in which they are checked. */
import { apiIndex } from '../endpoints/api-index.js'
import { chatCompletions } from '../endpoints/chat-completions.js'
import { health as healthEndpoint } from '../endpoints/health.js'
import { models as modelsEndpoint } from '../endpoints/models.js'
import {
  callAs,
  chat,
  type EachCall,
  get,
  health,
  index,
  invalidRequests,
  lastModel,
  models,
  notJson,
  preflight,
  signIn,
  tooLarge,
  unknownModel,
  unknownPath,
  unknownPaths,
  withDistinctKeys,
  wrongChat,
  wrongMessage,
  wrongMethod,
  wrongType,
} from './calls.js'
import {
  accessToken,
  allEndpoints,
  allowsPost,
  anyJson,
  chunks,
  completion,
  doneAtEnd,
  endpointArray,
  errorObject,
  eventStream,
  jsonObject,
  listedEndpoints,
  localOrigin,
  modelList,
  namesOfModels,
  naming,
  onlyError,
  refused,
  requestedPath,
  sameList,
  session,
  signInPath,
  someName,
  status,
  statusOk,
  versionNumber,
  withoutQuery,
} from './checks.js'
import { type Clause, type ClauseRow, checkOf } from './clause.js'
import { placeInDocument } from './document.js'

const limitedModels = get(`${modelsEndpoint.path}?limit=1`, 'apiKey')

const endpointClauses: readonly ClauseRow[] = [
  ['EP-1', '', 'GET /health below the base address answers with status 200.', health, status(200)],
  ['HEALTH-1', 'EP-1', 'The health response is a JSON object.', health, jsonObject],
  ['HEALTH-2', 'HEALTH-1', 'The health response has the status ok.', health, statusOk],
  [
    'HEALTH-3',
    'HEALTH-1',
    'The health response has a version: a string of three numbers separated by dots.',
    health,
    versionNumber,
  ],
  ['HEALTH-D1', 'EP-1', 'The health check needs no credential.', get(healthEndpoint.path), status(200)],
  ['EP-2', '', 'GET /api/v1 with the anon key answers with status 200.', index, status(200)],
  ['INDEX-1', 'EP-2', 'The API index is a JSON object.', index, jsonObject],
  ['INDEX-2', 'INDEX-1', 'The API index has the status ok.', index, statusOk],
  ['INDEX-3', 'INDEX-1', 'The API index has an array of endpoints.', index, endpointArray],
  ['INDEX-D1', 'INDEX-2 INDEX-3', 'Each listed endpoint has a method, a path and credentials.', index, listedEndpoints],
  ['INDEX-D2', 'INDEX-D1', 'The API index lists each documented endpoint.', index, allEndpoints],
  ['EP-4', '', 'GET /v1/models with an API key answers with status 200.', models, status(200)],
  ['MODELS-1', 'EP-4', 'The model list is JSON.', models, anyJson],
  ['MODELS-2', 'MODELS-1', 'The model list names at least one model.', models, someName],
  ['MODELS-D1', 'MODELS-2', "The model list has OpenAI's format.", models, modelList],
  ['MODELS-D2', 'MODELS-D1', 'The model list has no pages; a limit is ignored.', limitedModels, status(200), sameList],
]

const messages = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'Say hi.' },
]

const plain = chat()
const stream = chat({ stream: true })
const withoutStream = chat({ stream: undefined })
// With max_tokens, whether or not the target accepts it.
const short = wrongChat({})
const warm = chat({ temperature: 0.5 })

const chatClauses: readonly ClauseRow[] = [
  ['EP-3', '', 'POST /v1/chat/completions with an API key and a listed model yields status 200.', plain, status(200)],
  ['CHAT-1', 'EP-3', 'With stream false the reply is one JSON response.', plain, anyJson],
  ['CHAT-2.1', 'EP-3', 'A model that is not in the model list is refused.', unknownModel, refused],
  ['CHAT-2.2', 'EP-3 MODELS-D1', 'The last model in the list is accepted, not only the first.', lastModel, status(200)],
  ['CHAT-3', 'EP-3', 'A conversation with a system and a user message is accepted.', chat({ messages }), status(200)],
  ['CHAT-4', 'EP-3', 'A chat request with a temperature is accepted.', warm, status(200)],
  ['CHAT-5', 'EP-3', 'A chat request with stream true is accepted.', stream, status(200)],
  ['CHAT-D1', 'CHAT-1', "A completion has OpenAI's format.", plain, completion],
  ['CHAT-D2', 'CHAT-5', 'A stream consists of server-sent events.', stream, eventStream],
  ['CHAT-D3', 'CHAT-D2', "The events of a stream have OpenAI's format.", stream, chunks],
  ['CHAT-D4', 'CHAT-D2', 'A stream ends with data: [DONE].', stream, doneAtEnd],
  ['CHAT-D5', 'EP-3', "Other fields of OpenAI's clients, such as max_tokens, are accepted.", short, status(200)],
  ['CHAT-D20', 'CHAT-1', 'Without stream the reply is one JSON object as well.', withoutStream, status(200), anyJson],
]

/** Chat requests that are refused with status 400 and an error that names the field: all but the first are wrong there. */
const invalidFields = [
  ['CHAT-D6', 'A chat request without a model is refused.', 'model', wrongChat({ model: undefined })],
  ['CHAT-D7', 'A chat request without messages is refused.', 'messages', wrongChat({ messages: undefined })],
  ['CHAT-D8', 'A chat request with an empty list of messages is refused.', 'messages', wrongChat({ messages: [] })],
  ['CHAT-D9', 'A temperature higher than 2 is refused.', 'temperature', wrongChat({ temperature: 2.1 })],
  ['CHAT-D10', 'A model that is not a string is refused.', 'model', wrongChat({ model: 1 })],
  ['CHAT-D11', 'Messages that are not an array are refused.', 'messages', wrongChat({ messages: 'Say hi.' })],
  ['CHAT-D12', 'A role that is not a string is refused.', 'role', wrongMessage({ role: 1 })],
  ['CHAT-D13', 'Content that is not text is refused.', 'content', wrongMessage({ content: 1 })],
  ['CHAT-D14', 'A temperature that is not a number is refused.', 'temperature', wrongChat({ temperature: 'warm' })],
  ['CHAT-D15', 'A stream that is not a boolean is refused.', 'stream', wrongChat({ stream: 'yes' })],
] as const

const chatRefusalClauses: readonly ClauseRow[] = [
  ...invalidFields.map(([id, what, named, call]): ClauseRow => [id, '', what, call, status(400), naming(named)]),
  ['CHAT-D16', 'CHAT-2.1', 'A model that is not in the list is refused with status 400.', unknownModel, status(400)],
  [
    'CHAT-D17',
    'CHAT-D16 MODELS-D1 ERR-5',
    'The error for a model that is not in the model list names the models in it.',
    unknownModel,
    namesOfModels,
  ],
  ['CHAT-D18', '', 'A body that is not JSON is refused with status 400.', notJson, status(400)],
  ['CHAT-D19', '', 'A body with a content type other than JSON is refused with status 415.', wrongType, status(415)],
]

/** Credentials that must be refused. The rest of each sentence follows the method and the path. */
const refusals = [
  ['AUTH-1.1', apiIndex, 'forged', 'rejects a JWT with a wrong signature'],
  ['AUTH-1.2', apiIndex, 'unsigned', 'rejects a JWT without a signature'],
  ['AUTH-1.3', modelsEndpoint, 'forgedUser', 'rejects a user JWT with a wrong signature'],
  ['AUTH-1.4', chatCompletions, 'forgedUser', 'rejects a user JWT with a wrong signature'],
  ['AUTH-1.5', apiIndex, 'forgedUser', 'rejects a user JWT with a wrong signature'],
  ['AUTH-1.6', modelsEndpoint, 'unsigned', 'rejects a JWT without a signature'],
  ['AUTH-1.7', chatCompletions, 'unsigned', 'rejects a JWT without a signature'],
  ['AUTH-3.1', modelsEndpoint, 'keyAlone', 'rejects an API key without the word Bearer before it'],
  ['AUTH-3.2', apiIndex, 'otherScheme', 'rejects an anon key with a scheme other than Bearer'],
  ['AUTH-3.3', chatCompletions, 'keyAlone', 'rejects an API key without the word Bearer before it'],
  ['AUTH-6.1', apiIndex, undefined, 'without a credential yields 401'],
  ['AUTH-6.2', apiIndex, 'unknownKey', 'with an invalid credential yields 401'],
  ['AUTH-6.3', modelsEndpoint, undefined, 'without a credential yields 401'],
  ['AUTH-6.4', modelsEndpoint, 'unknownKey', 'with an invalid credential yields 401'],
  ['AUTH-6.5', chatCompletions, undefined, 'without a credential yields 401'],
  ['AUTH-6.6', chatCompletions, 'unknownKey', 'with an invalid credential yields 401'],
  ['AUTH-6.7', modelsEndpoint, 'schemeAlone', 'with the word Bearer alone yields 401'],
] as const

const refusalClauses = refusals.map(
  ([id, endpoint, by, what]): ClauseRow => [
    id,
    endpoint.clause,
    `${endpoint.method} ${endpoint.path} ${what}.`,
    callAs(endpoint, by),
    status(401),
  ],
)

const anonKeyForModels = withDistinctKeys(get(modelsEndpoint.path, 'anonKey'))
const apiKeyForIndex = withDistinctKeys(get(apiIndex.path, 'apiKey'))

const signInClauses: readonly ClauseRow[] = [
  ['AUTH-2', 'AUTH-D1', 'Signing in with email and password returns a JWT.', signIn, status(200), accessToken],
  ['AUTH-D1', '', 'The sign-in is that of Supabase: POST /auth/v1/token?grant_type=password.', signIn, signInPath],
  ['AUTH-D2', 'AUTH-2', 'An access token lasts 3600 seconds and comes with a refresh token.', signIn, session],
  ['AUTH-D3', 'EP-2 AUTH-2', 'GET /api/v1 accepts a user JWT.', get(apiIndex.path, 'userToken'), status(200)],
  ['AUTH-D4', 'EP-4 AUTH-2', 'GET /v1/models accepts a user JWT.', get(modelsEndpoint.path, 'userToken'), status(200)],
  ['AUTH-D5', 'EP-4', 'GET /v1/models rejects an anon key.', anonKeyForModels, status(401)],
  ['AUTH-D6', 'EP-2', 'GET /api/v1 rejects an API key.', apiKeyForIndex, status(401)],
]

/** A gateway may check JWTs and keys in different places, with different errors. */
const strangers = refusals.map(([, path, by]) => callAs(path, by))

const each404: EachCall = {
  calls: Object.values(unknownPaths),
  fits: ({ status }) => status === 404,
  otherwise: 'no call was answered with 404',
}
const each401: EachCall = {
  calls: strangers,
  fits: ({ status }) => status === 401,
  otherwise: 'no call was answered with 401',
}
const eachInvalid: EachCall = {
  calls: invalidRequests,
  fits: ({ status }) => status >= 400,
  otherwise: 'there was no other error',
}
const eachOther: EachCall = {
  calls: [...strangers, ...invalidRequests],
  fits: ({ status }) => status >= 400 && status !== 404,
  otherwise: 'there was no error',
}

const errorClauses: readonly ClauseRow[] = [
  ['ERR-1.1', '', 'An unknown path below /v1 yields 404.', unknownPaths.language, status(404)],
  ['ERR-1.2', '', 'An unknown path below /api/v1 yields 404.', unknownPaths.platform, status(404)],
  ['ERR-1.3', '', 'An unknown path outside of /v1 and /api/v1 yields 404.', unknownPaths.elsewhere, status(404)],
  ['ERR-1.4', '', 'An unknown path below /health yields 404.', unknownPaths.below, status(404)],
  ['ERR-1.5', '', 'A POST to an unknown path yields 404 as well.', unknownPaths.posted, status(404)],
  ['ERR-2', '', 'The body of each 404 is a JSON object with an error.', each404, errorObject],
  ['ERR-3', 'ERR-2', 'The body of each 404 has the requested path.', each404, requestedPath],
  ['ERR-4', '', 'The body of each 401 is a JSON object with an error.', each401, errorObject],
  ['ERR-5', '', 'The body of every other error is a JSON object with an error.', eachInvalid, errorObject],
  ['ERR-D1', 'ERR-1.3', 'An unknown path yields 404 even without a credential.', unknownPath, status(404)],
  ['ERR-D2', 'ERR-3 ERR-D1', 'The path in a 404 does not include the query.', unknownPath, jsonObject, withoutQuery],
  ['ERR-D3', '', 'The wrong method on a path that exists yields 405.', wrongMethod, status(405)],
  ['ERR-D4', 'ERR-D3', 'The Allow header of a 405 names the methods that the path accepts.', wrongMethod, allowsPost],
  ['ERR-D5', 'ERR-2 ERR-4 ERR-5', 'An error has only the field error; a 404 also has the path.', eachOther, onlyError],
  ['LIMIT-D1', '', 'A body of more than 4 MB is refused with status 413.', tooLarge, status(413)],
  [
    'CORS-D1',
    '',
    'Web pages on the same machine, such as http://localhost:3000, may call the platform.',
    preflight,
    localOrigin,
  ],
]

/** All clauses, in the order in which they are checked. */
export const clauses: readonly Clause[] = [
  ...endpointClauses,
  ...chatClauses,
  ...chatRefusalClauses,
  ...refusalClauses,
  ...signInClauses,
  ...errorClauses,
].map(([id, needs, what, calls, ...checks]) => ({
  id,
  ...placeInDocument(id),
  source: /-D\d/.test(id) ? 'decided' : 'documented',
  what,
  needs: needs.split(' ').filter(one => one !== ''),
  check: checkOf(calls, checks),
}))
