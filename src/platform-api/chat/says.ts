/** What the OpenAPI document says of chat completions. */
import type { AnswerDescription, EndpointDescription, Mode } from '../../core/exchange.js'

/** The fields of the request that platform-api.md names ("Chat completion request"). */
const fields = ['model', 'messages', 'messages[].role', 'messages[].content', 'temperature', 'stream']

export async function chatSays(mode: Mode, modelIds: readonly string[]): Promise<EndpointDescription> {
  const { chatRequest } = await import('../../completions/request.js')
  return {
    id: 'createChatCompletion',
    does: 'Messages in, a generated reply out: whole, or with `stream` as server-sent events.',
    more: 'The answers are those of OpenAI. A `tool_choice` has to name what is offered in `tools`, and a `response_format` a schema that something fits.',
    section: 'Endpoints',
    body: chatRequest,
    fields,
    // What others know only the live platform or a recording can say.
    ...(mode === 'emulate' && { narrowed: { properties: { model: { enum: modelIds } } } }),
    headers: {
      'x-standin-fault': 'What is to go wrong with the answer: `status=429; retryAfter=2`.',
      'x-standin-pace': 'The rhythm of the stream: `tokensPerSecond=50`.',
    },
    answers: { 200: await answers() },
  }
}

async function answers(): Promise<readonly AnswerDescription[]> {
  const { chunkAnswer, completionAnswer, errorEventAnswer } = await import('../../completions/completion.js')
  return [
    {
      what: 'The completion.',
      form: ['ChatCompletion', completionAnswer],
      section: 'Endpoints',
      fields: [],
    },
    {
      what: 'With `stream`: its pieces as events, and `[DONE]`.',
      type: 'text/event-stream',
      events: [
        { what: 'A piece of the completion.', data: ['ChatCompletionChunk', chunkAnswer] },
        {
          what: 'What went wrong in the middle of the stream, which it ends.',
          data: ['ErrorEvent', errorEventAnswer],
        },
        { what: 'The last event.', data: '[DONE]' },
      ],
    },
  ]
}
