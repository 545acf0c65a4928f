import type { ChatCompletion, ChatCompletionChunk } from 'openai/resources/chat/completions'
import { estimated } from '../../src/chat/tokens/index.js'
import type { Exchange } from '../../src/core/exchange.js'
import { unpaced } from '../../src/core/pace.js'
import type { Reply } from '../../src/core/reply.js'
import { chatCompletions } from '../../src/endpoints/chat-completions.js'
import type { Generation } from '../../src/replies/index.js'
import { hello } from '../scene.js'

/** What DeepSeek adds to OpenAI's message or delta. */
interface Reasoned {
  readonly reasoning_content?: string
}

/** An endpoint whose model generates this. */
export function modelReplying(said: Partial<Generation>) {
  const complete: Generation = {
    choices: [{ text: 'Hi there!' }],
    pace: unpaced,
    answeredBy: { kind: 'canned', form: 'reply' },
    ...said,
  }
  const reply = chatCompletions.replyWith({
    models: [hello.model].map(id => ({ id })),
    usedModels: new Set(),
    replies: { answer: () => complete },
    pace: unpaced,
    tokenizer: estimated,
    requests: 'warn',
  })
  const answer = (body: Buffer) => reply({ body, headers: {} } as Exchange) as Reply
  const replyTo = (request: object) => answer(Buffer.from(JSON.stringify({ ...hello, ...request })))
  return {
    answer,
    /** The reply to `hello` with these fields. */
    replyTo,
    whole: (request: object = {}): ChatCompletion => JSON.parse(textOf(replyTo(request))),
    /** The objects of the stream's events; `[DONE]` is checked and left out. */
    chunks(request: object = {}): readonly ChatCompletionChunk[] {
      const events = textOf(replyTo({ ...request, stream: true })).split('\n\n')
      const done = events.splice(-2)
      if (done.join() !== 'data: [DONE],') throw new Error(`The stream ends with ${done.join()}`)
      return events.map(event => JSON.parse(event.replace(/^data: /, '')))
    },
  }
}

function textOf({ body }: Reply): string {
  if (typeof body === 'string') return body
  if (Buffer.isBuffer(body)) return body.toString()
  const { head, before, pieces, after, tail } = body
  return head + pieces.map(piece => before + piece + after).join('') + tail
}

/** A choice of a whole completion, or one assembled from the chunks of a stream. */
interface Assembled {
  content: string | null
  reasoning: string
  refusal: string
  calls: { id: string | undefined; name: string; arguments: string }[]
  tokens: string[]
  finish: string | null
}

/** The choices of a whole completion. */
export const choicesOf = ({ choices }: ChatCompletion): readonly Assembled[] =>
  choices.map(({ message, logprobs, finish_reason }) => {
    const { tool_calls = [], function_call } = message
    const calls = tool_calls.map(call =>
      call.type === 'custom'
        ? { id: call.id, name: call.custom.name, arguments: call.custom.input }
        : { id: call.id, name: call.function.name, arguments: call.function.arguments },
    )
    return {
      content: message.content,
      reasoning: (message as Reasoned).reasoning_content ?? '',
      refusal: message.refusal ?? '',
      calls: function_call ? [{ id: undefined, ...function_call }] : calls,
      tokens: [...(logprobs?.content ?? []), ...(logprobs?.refusal ?? [])].map(token => JSON.stringify(token)),
      finish: finish_reason,
    }
  })

/** The choices assembled from the chunks of a stream. */
export function assembled(chunks: readonly ChatCompletionChunk[]): readonly Assembled[] {
  const choices: Assembled[] = []
  for (const { index, delta, logprobs, finish_reason } of chunks.flatMap(({ choices }) => choices)) {
    choices[index] ??= { content: null, reasoning: '', refusal: '', calls: [], tokens: [], finish: null }
    const choice = choices[index]
    if (choice.finish !== null) throw new Error(`Choice ${index} goes on after its finish reason.`)
    if (typeof delta.content === 'string') choice.content = (choice.content ?? '') + delta.content
    choice.reasoning += (delta as Reasoned).reasoning_content ?? ''
    choice.refusal += delta.refusal ?? ''
    for (const piece of [...(logprobs?.content ?? []), ...(logprobs?.refusal ?? [])]) {
      choice.tokens.push(JSON.stringify(piece))
    }
    for (const call of callsIn(delta)) {
      choice.calls[call.index] ??= { id: call.id, name: call.name ?? '', arguments: '' }
      const known = choice.calls[call.index]
      if (known) known.arguments += call.arguments ?? ''
    }
    choice.finish = finish_reason
  }
  return choices
}

interface CallPiece {
  readonly index: number
  readonly id?: string | undefined
  readonly name?: string | undefined
  readonly arguments?: string | undefined
}

/** OpenAI's types know only functions in the deltas of a stream. */
interface CustomDelta {
  readonly custom?: { readonly name?: string; readonly input?: string }
}

function callsIn({ tool_calls = [], function_call }: ChatCompletionChunk.Choice.Delta): readonly CallPiece[] {
  if (function_call) return [{ index: 0, ...function_call }]
  return tool_calls.map(({ index, id, function: called, ...rest }) => {
    const { custom } = rest as CustomDelta
    return { index, id, name: called?.name ?? custom?.name, arguments: called?.arguments ?? custom?.input }
  })
}
