/** Describes chat completions for the OpenAPI document. */
import type { AnswerDescription, EndpointDescription, Mode } from '../core/exchange.js'

/** The request fields that platform-api.md names ("Chat completion request"). */
const fields = ['model', 'messages', 'messages[].role', 'messages[].content', 'temperature', 'stream']

export async function describeChat(mode: Mode, modelIds: readonly string[]): Promise<EndpointDescription> {
  const { chatRequest } = await import('./request.js')
  return {
    id: 'createChatCompletion',
    does: 'Creates a chat completion: as one object, or with `stream` as server-sent events.',
    more: 'Answers have the format of OpenAI. A `tool_choice` must name a tool in `tools`, and the schema of a `response_format` must be satisfiable.',
    section: 'Endpoints',
    body: chatRequest,
    fields,
    // In other modes, only the live platform or a recording knows the models.
    ...(mode === 'emulate' && { constraint: { properties: { model: { enum: modelIds } } } }),
    headers: {
      'x-standin-fault': 'A fault for the answer: `status=429; retryAfter=2`.',
      'x-standin-pace': 'The pace of the stream: `tokensPerSecond=50`.',
    },
    answers: { 200: await answers() },
  }
}

async function answers(): Promise<readonly AnswerDescription[]> {
  const { chunkAnswer, completionAnswer, errorEventAnswer } = await import('./completion.js')
  return [
    {
      what: 'The completion.',
      form: ['ChatCompletion', completionAnswer],
      section: 'Endpoints',
      fields: [],
    },
    {
      what: 'With `stream`: the completion in pieces as events, and `[DONE]`.',
      type: 'text/event-stream',
      events: [
        { what: 'A piece of the completion.', data: ['ChatCompletionChunk', chunkAnswer] },
        {
          what: 'An error in the middle of the stream, which ends it.',
          data: ['ErrorEvent', errorEventAnswer],
        },
        { what: 'The last event.', data: '[DONE]' },
      ],
    },
  ]
}
