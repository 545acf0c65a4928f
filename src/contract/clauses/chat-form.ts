/** What Standin has decided about the answers of POST /v1/chat/completions. */
import { completionAnswer } from '../../core/answers.js'
import { chat, chatWithoutStream, shortestChat } from '../calls.js'
import { asking, type Clause } from '../clause.js'
import { chunks, endsDone, eventStream } from '../events.js'
import { fitting, jsonObject, status } from '../looks.js'

const streams = 'Streaming response format when stream is true: not shown.'
const stream = chat({ stream: true })

export const chatFormClauses: readonly Clause[] = [
  {
    id: 'CHAT-D1',
    section: 'Resources and their fields',
    quotes: ['Chat completion response fields: not shown.'],
    what: "A completion has OpenAI's form.",
    source: 'decided',
    needs: ['CHAT-1'],
    check: asking(chat(), fitting(completionAnswer, "OpenAI's chat.completion")),
  },
  {
    id: 'CHAT-D2',
    section: 'Endpoints',
    quotes: [streams],
    what: 'A stream is one of server-sent events.',
    source: 'decided',
    needs: ['CHAT-5'],
    check: asking(stream, eventStream),
  },
  {
    id: 'CHAT-D3',
    section: 'Endpoints',
    quotes: [streams],
    what: "The events of a stream have OpenAI's form.",
    source: 'decided',
    needs: ['CHAT-D2'],
    check: asking(stream, chunks),
  },
  {
    id: 'CHAT-D4',
    section: 'Endpoints',
    quotes: [streams],
    what: 'A stream ends in data: [DONE].',
    source: 'decided',
    needs: ['CHAT-D2'],
    check: asking(stream, endsDone),
  },
  {
    id: 'CHAT-D5',
    section: 'Resources and their fields',
    quotes: ['Required or optional status, defaults and bounds of request fields: not shown.'],
    what: "What OpenAI's clients send beyond the documented fields is taken: max_tokens, for one.",
    source: 'decided',
    needs: ['EP-3'],
    check: asking(shortestChat, status(200)),
  },
  {
    id: 'CHAT-D20',
    section: 'Resources and their fields',
    quotes: ['Required or optional status, defaults and bounds of request fields: not shown.'],
    what: 'Without stream the reply is one JSON object, as with stream false.',
    source: 'decided',
    needs: ['CHAT-1'],
    check: asking(chatWithoutStream, status(200), jsonObject),
  },
]
