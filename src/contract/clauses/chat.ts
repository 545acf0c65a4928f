/** Documented clauses about POST /v1/chat/completions. */
import { chat, lastListedModel } from '../calls.js'
import { asking, type Clause } from '../clause.js'
import { jsonObject, refused, status } from '../looks.js'
import { unknownModel } from '../mistaken.js'

const messages = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'Say hi.' },
]

const model =
  '| model | string | Identifier of a model, <model_id>. Valid identifiers are those the model listing returns. |'

export const chatClauses: readonly Clause[] = [
  {
    id: 'EP-3',
    section: 'Endpoints',
    quotes: [
      '| POST | /v1/chat/completions | JSON chat completion request; header Content-Type: application/json | Chat completion result (JSON) |',
      'A chat completion operation for a hosted large language model (messages in, generated reply out).',
      'Chat completion and model listing carry the header Authorization: Bearer <API_KEY>.',
    ],
    what: 'POST /v1/chat/completions with an API key and a listed model answers with status 200.',
    source: 'documented',
    check: asking(chat(), status(200)),
  },
  {
    id: 'CHAT-1',
    section: 'Endpoints',
    quotes: [
      'When stream is false, the reply is one JSON response.',
      '| stream | boolean | false requests a single, non-streamed response. |',
    ],
    what: 'With stream false the reply is one JSON object.',
    source: 'documented',
    needs: ['EP-3'],
    check: asking(chat(), jsonObject),
  },
  {
    id: 'CHAT-2.1',
    section: 'Resources and their fields',
    quotes: [model],
    what: 'A model that the listing does not return is refused.',
    source: 'documented',
    needs: ['EP-3'],
    check: asking(unknownModel, refused),
  },
  {
    id: 'CHAT-2.2',
    section: 'Resources and their fields',
    quotes: [model],
    what: 'Not only the first of the listed models is taken, but the last one as well.',
    source: 'documented',
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
    what: 'A conversation of a system and a user message is taken.',
    source: 'documented',
    needs: ['EP-3'],
    check: asking(chat({ messages }), status(200)),
  },
  {
    id: 'CHAT-4',
    section: 'Resources and their fields',
    quotes: ['| temperature | number | Sampling temperature. |'],
    what: 'A chat request with a temperature is taken.',
    source: 'documented',
    needs: ['EP-3'],
    check: asking(chat({ temperature: 0.5 }), status(200)),
  },
  {
    id: 'CHAT-5',
    section: 'Resources and their fields',
    quotes: ['| stream | boolean | false requests a single, non-streamed response. |'],
    what: 'A chat request with stream true is taken.',
    source: 'documented',
    needs: ['EP-3'],
    check: asking(chat({ stream: true }), status(200)),
  },
]
