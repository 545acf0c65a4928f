/** The clauses of the contract, in the order in which they are checked. */
import { check } from '../check/check.js'
import type { Violation } from '../check/finding.js'
import { isObject, jsonOf } from '../core/json.js'
import { CHAT, documentedPaths, HEALTH, MODELS } from '../core/paths.js'
import { listedIndexAnswer, NOT_DONE, NOT_EVENTS } from './answers.js'
import {
  type CallFor,
  chat,
  fieldsIn,
  get,
  health,
  index,
  lastListedModel,
  listedModels,
  models,
  notJson,
  unknownModel,
  wrongChat,
  wrongContentType,
  wrongMessage,
} from './calls.js'
import {
  type AnswerCheck,
  asking,
  type Clause,
  type ClauseRow,
  isAbout,
  jsonObject,
  status,
  without,
} from './clause.js'
import { credentialClauses, errorClauses } from './clauses-about-errors.js'
import { placeInDocument } from './document.js'
import { CallNotMade } from './target.js'

/** Any refusal except one about credentials. */
const refused: AnswerCheck = {
  expected: 'a status from 400 to 499 other than 401',
  differs: ({ status }) => (status >= 400 && status < 500 && status !== 401 ? undefined : `status ${status}`),
}

const isDocumented = ({ source }: Violation) => source === 'documented'
const isDecided = ({ source }: Violation) => source === 'decided'

const anyJson = without('one JSON response, with Content-Type: application/json', isDocumented)
const completion = without("OpenAI's chat.completion", isDecided)

/** The error mentions this word. Skipped for errors in another form, which ERR-5 is about. */
const naming = (word: string): AnswerCheck => ({
  expected: `an error that names ${word}`,
  differs(answered) {
    const { error } = fieldsIn(answered)
    if (typeof error !== 'string')
      throw new CallNotMade('the status is right, but the body is not an error object (ERR-5)')
    return error.includes(word) ? undefined : `the error ${JSON.stringify(error)}`
  },
})

/** A list of any form that contains some text. Its fields are not documented. */
const someName: AnswerCheck = {
  expected: 'a list that names at least one model',
  differs: ({ text }) => (hasListedText(jsonOf(text), false) ? undefined : 'no name in any list'),
}

function hasListedText(value: unknown, isListed: boolean): boolean {
  if (typeof value === 'string') return isListed && value !== ''
  if (Array.isArray(value)) return value.some(item => hasListedText(item, true))
  return isObject(value) && Object.values(value).some(item => hasListedText(item, isListed))
}

/** Standin's own form of the index. */
const listedEndpoints: AnswerCheck = {
  expected: 'elements with method, path and credential',
  differs({ text }) {
    const checked = check(listedIndexAnswer, jsonOf(text), { firstOnly: true, whole: 'The body' })
    return 'mistakes' in checked ? checked.mistakes[0]?.sentence : undefined
  },
}

const documentedRoutes = documentedPaths.map(path => `${path === CHAT ? 'POST' : 'GET'} ${path}`)

const allEndpoints: AnswerCheck = {
  expected: `the endpoints ${documentedRoutes.join(', ')}`,
  differs(answered) {
    const endpoints = fieldsIn(answered).endpoints as readonly { readonly method: string; readonly path: string }[]
    const listed = endpoints.map(({ method, path }) => `${method} ${path}`)
    const missing = documentedRoutes.filter(endpoint => !listed.includes(endpoint))
    return missing.length === 0 ? undefined : `no ${missing.join(', no ')}`
  },
}

const sameList: AnswerCheck = {
  expected: 'the whole list, whatever the query',
  async differs(answered, target) {
    const { data } = fieldsIn(answered)
    const whole = (await listedModels(target)).length
    const count = Array.isArray(data) ? data.length : 'no'
    return count === whole ? undefined : `${count} of ${whole} models`
  },
}

const endpointClauses: readonly ClauseRow[] = [
  ['EP-1', '', 'GET /health below the base address answers with status 200.', asking(health, status(200))],
  ['HEALTH-1', 'EP-1', 'The health response is a JSON object.', asking(health, jsonObject)],
  [
    'HEALTH-2',
    'HEALTH-1',
    'The health response has the status ok.',
    asking(health, without('the status "ok"', isAbout('status'))),
  ],
  [
    'HEALTH-3',
    'HEALTH-1',
    'The health response has a version: a string of three numbers separated by dots.',
    asking(health, without('a version such as 1.0.0', isAbout('version'))),
  ],
  ['HEALTH-D1', 'EP-1', 'The health check needs no credential.', asking(get(HEALTH), status(200))],
  ['EP-2', '', 'GET /api/v1 with the anon key answers with status 200.', asking(index, status(200))],
  ['INDEX-1', 'EP-2', 'The API index is a JSON object.', asking(index, jsonObject)],
  [
    'INDEX-2',
    'INDEX-1',
    'The API index has the status ok.',
    asking(index, without('the status "ok"', isAbout('status'))),
  ],
  [
    'INDEX-3',
    'INDEX-1',
    'The API index has an array of endpoints.',
    asking(index, without('an array of endpoints', isAbout('endpoints'))),
  ],
  [
    'INDEX-D1',
    'INDEX-2 INDEX-3',
    'Each endpoint in the API index has a method, a path and the kinds of credential that it accepts.',
    asking(index, listedEndpoints),
  ],
  ['INDEX-D2', 'INDEX-D1', 'The API index lists each documented endpoint.', asking(index, allEndpoints)],
  ['EP-4', '', 'GET /v1/models with an API key answers with status 200.', asking(models, status(200))],
  ['MODELS-1', 'EP-4', 'The model list is JSON.', asking(models, anyJson)],
  ['MODELS-2', 'MODELS-1', 'The model list names at least one model.', asking(models, someName)],
  [
    'MODELS-D1',
    'MODELS-2',
    "The model list has OpenAI's format.",
    asking(models, without("OpenAI's list of models", isDecided)),
  ],
  [
    'MODELS-D2',
    'MODELS-D1',
    'The model list has no pages: it is always complete, and a limit in the query is ignored.',
    asking(get(`${MODELS}?limit=1`, 'apiKey'), status(200), sameList),
  ],
]

const messages = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'Say hi.' },
]

const stream = chat({ stream: true })

const chatClauses: readonly ClauseRow[] = [
  [
    'EP-3',
    '',
    'POST /v1/chat/completions with an API key and a listed model answers with status 200.',
    asking(chat(), status(200)),
  ],
  ['CHAT-1', 'EP-3', 'With stream false the reply is one JSON response.', asking(chat(), anyJson)],
  ['CHAT-2.1', 'EP-3', 'A model that is not in the model list is refused.', asking(unknownModel, refused)],
  [
    'CHAT-2.2',
    'EP-3 MODELS-D1',
    'The last model in the list is accepted, not only the first.',
    asking(lastListedModel, status(200)),
  ],
  [
    'CHAT-3',
    'EP-3',
    'A conversation with a system and a user message is accepted.',
    asking(chat({ messages }), status(200)),
  ],
  ['CHAT-4', 'EP-3', 'A chat request with a temperature is accepted.', asking(chat({ temperature: 0.5 }), status(200))],
  ['CHAT-5', 'EP-3', 'A chat request with stream true is accepted.', asking(stream, status(200))],
  ['CHAT-D1', 'CHAT-1', "A completion has OpenAI's format.", asking(chat(), completion)],
  [
    'CHAT-D2',
    'CHAT-5',
    'A stream consists of server-sent events.',
    asking(
      stream,
      without('Content-Type: text/event-stream', ({ sentence }) => sentence === NOT_EVENTS),
    ),
  ],
  [
    'CHAT-D3',
    'CHAT-D2',
    "The events of a stream have OpenAI's format.",
    asking(
      stream,
      without(
        "events that are each a chat.completion.chunk, as in OpenAI's streams",
        ({ sentence, severity }) => sentence !== NOT_DONE && severity !== 'info',
      ),
    ),
  ],
  [
    'CHAT-D4',
    'CHAT-D2',
    'A stream ends with data: [DONE].',
    asking(
      stream,
      without('data: [DONE] as the last event', ({ sentence }) => sentence === NOT_DONE),
    ),
  ],
  // With max_tokens, whether or not the target accepts it.
  [
    'CHAT-D5',
    'EP-3',
    "Fields that OpenAI's clients send beyond the documented ones, such as max_tokens, are accepted.",
    asking(wrongChat({}), status(200)),
  ],
  [
    'CHAT-D20',
    'CHAT-1',
    'Without stream the reply is one JSON object, as with stream false.',
    asking(chat({ stream: undefined }), status(200), anyJson),
  ],
]

/** Chat requests that are refused with status 400 and an error that names the field: all but the first are wrong there. */
const invalidFields: readonly (readonly [id: string, what: string, named: string, call: CallFor])[] = [
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
]

const listsModels: AnswerCheck = {
  expected: 'an error that names the models in the list',
  async differs(answered, target) {
    const { error } = fieldsIn(answered)
    const missing = (await listedModels(target)).filter(id => !String(error).includes(id))
    return missing.length === 0 ? undefined : `no mention of ${missing.join(', ')}`
  },
}

const chatRefusalClauses: readonly ClauseRow[] = [
  ...invalidFields.map(
    ([id, what, named, call]): ClauseRow => [id, '', what, asking(call, status(400), naming(named))],
  ),
  [
    'CHAT-D16',
    'CHAT-2.1',
    'A model that is not in the model list is refused with status 400.',
    asking(unknownModel, status(400)),
  ],
  [
    'CHAT-D17',
    'CHAT-D16 MODELS-D1 ERR-5',
    'The error for a model that is not in the model list names the models in it.',
    asking(unknownModel, listsModels),
  ],
  ['CHAT-D18', '', 'A body that is not JSON is refused with status 400.', asking(notJson, status(400))],
  [
    'CHAT-D19',
    '',
    'A body with a content type other than JSON is refused with status 415.',
    asking(wrongContentType, status(415)),
  ],
]

/** All clauses, in the order in which they are checked. */
export const clauses: readonly Clause[] = [
  ...endpointClauses,
  ...chatClauses,
  ...chatRefusalClauses,
  ...credentialClauses,
  ...errorClauses,
].map(([id, needs, what, check]) => ({
  id,
  ...placeInDocument(id),
  source: /-D\d/.test(id) ? 'decided' : 'documented',
  what,
  needs: needs.split(' ').filter(one => one !== ''),
  check,
}))
