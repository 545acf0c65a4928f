/** Clauses about POST /v1/chat/completions. */

import { completionAnswer } from '../../completions/completion.js'
import {
  anyJson,
  chunks,
  endsDone,
  eventStream,
  fitting,
  jsonIn,
  jsonObject,
  naming,
  refused,
  status,
} from '../answer-checks.js'
import {
  chat,
  chatWithoutStream,
  lastListedModel,
  listedModels,
  notJson,
  shortestChat,
  unknownModel,
  wrongChat,
  wrongContentType,
  wrongMessage,
} from '../calls.js'
import { type AnswerCheck, asking, type CallFor, type ClauseForm } from '../clause.js'

const messages = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'Say hi.' },
]

const model =
  '| model | string | Identifier of a model, <model_id>. Valid identifiers are those the model listing returns. |'

export const chatClauses: readonly ClauseForm[] = [
  {
    id: 'EP-3',
    section: 'Endpoints',
    quotes: [
      '| POST | /v1/chat/completions | JSON chat completion request; header Content-Type: application/json | Chat completion result (JSON) |',
      'A chat completion operation for a hosted large language model (messages in, generated reply out).',
      'Chat completion and model listing carry the header Authorization: Bearer <API_KEY>.',
    ],
    what: 'POST /v1/chat/completions with an API key and a listed model answers with status 200.',
    check: asking(chat(), status(200)),
  },
  {
    id: 'CHAT-1',
    section: 'Endpoints',
    quotes: [
      'When stream is false, the reply is one JSON response.',
      '| stream | boolean | false requests a single, non-streamed response. |',
    ],
    what: 'With stream false the reply is one JSON response.',
    needs: ['EP-3'],
    check: asking(chat(), anyJson),
  },
  {
    id: 'CHAT-2.1',
    section: 'Resources and their fields',
    quotes: [model],
    what: 'A model that is not in the model list is refused.',
    needs: ['EP-3'],
    check: asking(unknownModel, refused),
  },
  {
    id: 'CHAT-2.2',
    section: 'Resources and their fields',
    quotes: [model],
    what: 'The last model in the list is accepted, not only the first.',
    needs: ['EP-3', 'MODELS-D1'],
    check: asking(lastListedModel, status(200)),
  },
  {
    id: 'CHAT-3',
    section: 'Resources and their fields',
    quotes: [
      '| messages | array of message objects | Conversation, in order. |',
      '| messages[].role | string | Values used: system, user. |',
      '| messages[].content | string | Text of the message. |',
    ],
    what: 'A conversation with a system and a user message is accepted.',
    needs: ['EP-3'],
    check: asking(chat({ messages }), status(200)),
  },
  {
    id: 'CHAT-4',
    section: 'Resources and their fields',
    quotes: ['| temperature | number | Sampling temperature. |'],
    what: 'A chat request with a temperature is accepted.',
    needs: ['EP-3'],
    check: asking(chat({ temperature: 0.5 }), status(200)),
  },
  {
    id: 'CHAT-5',
    section: 'Resources and their fields',
    quotes: ['| stream | boolean | false requests a single, non-streamed response. |'],
    what: 'A chat request with stream true is accepted.',
    needs: ['EP-3'],
    check: asking(chat({ stream: true }), status(200)),
  },
]

const streams = 'Streaming response format when stream is true: not shown.'
const stream = chat({ stream: true })

export const chatFormClauses: readonly ClauseForm[] = [
  {
    id: 'CHAT-D1',
    section: 'Resources and their fields',
    quotes: ['Chat completion response fields: not shown.'],
    what: "A completion has OpenAI's format.",
    needs: ['CHAT-1'],
    check: asking(chat(), fitting(completionAnswer, "OpenAI's chat.completion")),
  },
  {
    id: 'CHAT-D2',
    section: 'Endpoints',
    quotes: [streams],
    what: 'A stream consists of server-sent events.',
    needs: ['CHAT-5'],
    check: asking(stream, eventStream),
  },
  {
    id: 'CHAT-D3',
    section: 'Endpoints',
    quotes: [streams],
    what: "The events of a stream have OpenAI's format.",
    needs: ['CHAT-D2'],
    check: asking(stream, chunks),
  },
  {
    id: 'CHAT-D4',
    section: 'Endpoints',
    quotes: [streams],
    what: 'A stream ends with data: [DONE].',
    needs: ['CHAT-D2'],
    check: asking(stream, endsDone),
  },
  {
    id: 'CHAT-D5',
    section: 'Resources and their fields',
    quotes: ['Required or optional status, defaults and bounds of request fields: not shown.'],
    what: "Fields that OpenAI's clients send beyond the documented ones, such as max_tokens, are accepted.",
    needs: ['EP-3'],
    check: asking(shortestChat, status(200)),
  },
  {
    id: 'CHAT-D20',
    section: 'Resources and their fields',
    quotes: ['Required or optional status, defaults and bounds of request fields: not shown.'],
    what: 'Without stream the reply is one JSON object, as with stream false.',
    needs: ['CHAT-1'],
    check: asking(chatWithoutStream, status(200), jsonObject),
  },
]

const bounds = 'Required or optional status, defaults and bounds of request fields: not shown.'
const bodies = 'Error codes other than 404 and 401, and error bodies for invalid chat requests: not shown.'

/** Status 400, and an error that names the field. */
const invalid = (id: string, what: string, named: string, call: CallFor, quotes = [bounds, bodies]): ClauseForm => ({
  ...{ id, what, quotes, section: 'Resources and their fields' },
  check: asking(call, status(400), naming(named)),
})

const listsModels: AnswerCheck = {
  expected: 'an error that names the models in the list',
  async differs({ text }, target) {
    const { error } = jsonIn(text).value as { readonly error: string }
    const missing = (await listedModels(target)).filter(id => !error.includes(id))
    return missing.length === 0 ? undefined : `no mention of ${missing.join(', ')}`
  },
}

export const chatRefusalClauses: readonly ClauseForm[] = [
  invalid('CHAT-D6', 'A chat request without a model is refused.', 'model', wrongChat({ model: undefined })),
  invalid('CHAT-D7', 'A chat request without messages is refused.', 'messages', wrongChat({ messages: undefined })),
  invalid(
    'CHAT-D8',
    'A chat request with an empty list of messages is refused.',
    'messages',
    wrongChat({ messages: [] }),
  ),
  invalid('CHAT-D9', 'A temperature higher than 2 is refused.', 'temperature', wrongChat({ temperature: 2.1 })),
  invalid('CHAT-D10', 'A model that is not a string is refused.', 'model', wrongChat({ model: 1 })),
  invalid('CHAT-D11', 'Messages that are not an array are refused.', 'messages', wrongChat({ messages: 'Say hi.' })),
  invalid('CHAT-D12', 'A role that is not a string is refused.', 'role', wrongMessage({ role: 1 })),
  invalid('CHAT-D13', 'Content that is not text is refused.', 'content', wrongMessage({ content: 1 })),
  invalid(
    'CHAT-D14',
    'A temperature that is not a number is refused.',
    'temperature',
    wrongChat({ temperature: 'warm' }),
  ),
  invalid('CHAT-D15', 'A stream that is not a boolean is refused.', 'stream', wrongChat({ stream: 'yes' })),
  {
    id: 'CHAT-D16',
    section: 'Errors',
    quotes: [bodies],
    what: 'A model that is not in the model list is refused with status 400.',
    needs: ['CHAT-2.1'],
    check: asking(unknownModel, status(400)),
  },
  {
    id: 'CHAT-D17',
    section: 'Errors',
    quotes: [bodies],
    what: 'The error for a model that is not in the model list names the models in it.',
    needs: ['CHAT-D16', 'MODELS-D1', 'ERR-5'],
    check: asking(unknownModel, listsModels),
  },
  {
    id: 'CHAT-D18',
    section: 'Errors',
    quotes: [bodies],
    what: 'A body that is not JSON is refused with status 400.',
    check: asking(notJson, status(400)),
  },
  {
    id: 'CHAT-D19',
    section: 'Errors',
    quotes: [bodies],
    what: 'A body with a content type other than JSON is refused with status 415.',
    check: asking(wrongContentType, status(415)),
  },
]
