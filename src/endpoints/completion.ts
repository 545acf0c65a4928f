/** The forms of a chat completion: one JSON object, or the events of a stream (OpenAI's; the document does not show them). */
import { randomBytes } from 'node:crypto'
import { type ChatMessage, type ChatRequest, textOf } from '../core/chat.js'
import type { Paced, Rhythm } from '../core/exchange.js'

/** What is said, and how fast. */
interface Said {
  readonly text: string
  readonly rhythm: Rhythm
}

/** The part of a reply that depends on its form. */
interface Form {
  readonly contentType: string
  readonly body: string | Paced
  readonly headers?: readonly string[]
}

/** Work on a text that is the same each time it is said. */
interface Prepared {
  /** The text as a JSON string. */
  readonly json: string
  /** The text in pieces, each as a JSON string. */
  readonly pieces: readonly string[]
  readonly tokens: number
}

// A proxy in between must neither keep nor collect a stream.
const streamHeaders = ['cache-control', 'no-cache', 'x-accel-buffering', 'no'] as const

/** Which back end made the answer, as OpenAI names it. There is only one here. */
const FINGERPRINT = 'fp_standin'

/**
 * Makes completions. Their frames are put together as text: all that differs from one to the next is the id, the time,
 * the model and the words, and JSON.stringify for each event of a stream takes seven times as long.
 */
export function createCompletions() {
  const preparedTexts = new WeakMap<Said, Prepared>()
  const prefix = `chatcmpl-${randomBytes(9).toString('base64url').replace(/[-_]/g, 'x')}`
  let count = 0

  function prepared(said: Said): Prepared {
    const known = preparedTexts.get(said)
    if (known) return known
    const made = { json: JSON.stringify(said.text), pieces: inPieces(said.text), tokens: estimatedTokens(said.text) }
    preparedTexts.set(said, made)
    return made
  }

  /** `"id":…,"object":…,"created":…,"model":…`: how every object of a completion begins. */
  function start(object: string, model: string): string {
    const id = prefix + (count++).toString(36).padStart(8, '0')
    return `{"id":"${id}","object":"${object}","created":${Math.floor(Date.now() / 1000)},"model":${JSON.stringify(model)},`
  }

  /** The completion as one JSON object. */
  function whole({ model, messages }: ChatRequest, said: Said): Form {
    const { json, tokens } = prepared(said)
    const body =
      `${start('chat.completion', model)}"choices":[{"index":0,"message":{"role":"assistant","content":${json},"refusal":null},` +
      `"logprobs":null,"finish_reason":"stop"}],"usage":${usage(messages, tokens)},"system_fingerprint":"${FINGERPRINT}"}`
    return { contentType: 'application/json', body }
  }

  /** The completion as server-sent events: the role, the pieces, the end, the usage where it was asked for, `[DONE]`. */
  function streamed({ model, messages, stream_options }: ChatRequest, said: Said): Form {
    const { pieces, tokens } = prepared(said)
    const withUsage = stream_options?.include_usage === true
    const begin = `data: ${start('chat.completion.chunk', model)}"system_fingerprint":"${FINGERPRINT}","choices":[`
    // With include_usage every chunk has the key, and it is null but in the last (OpenAI's reference, "stream_options").
    const end = withUsage ? '],"usage":null}\n\n' : ']}\n\n'
    const choice = (delta: string, finish: string) =>
      `${begin}{"index":0,"delta":${delta},"logprobs":null,"finish_reason":${finish}}${end}`

    const head = choice('{"role":"assistant","content":"","refusal":null}', 'null')
    const before = `${begin}{"index":0,"delta":{"content":`
    const after = `},"logprobs":null,"finish_reason":null}${end}`
    const total = withUsage ? `${begin}],"usage":${usage(messages, tokens)}}\n\n` : ''
    const tail = `${choice('{}', '"stop"')}${total}data: [DONE]\n\n`

    const { rhythm } = said
    const contentType = 'text/event-stream'
    if (rhythm.firstTokenMs > 0 || rhythm.tokensPerSecond > 0) {
      return { contentType, headers: streamHeaders, body: { head, before, pieces, after, tail, rhythm } }
    }
    // Without a pace the stream is one piece of text: many times faster than an event at a time, and no client can tell.
    const middle = pieces.length === 0 ? '' : before + pieces.join(after + before) + after
    return { contentType, headers: streamHeaders, body: head + middle + tail }
  }

  return { whole, streamed }
}

/** Words with the space before them, long ones in parts, as tokens would come; together they are the text. */
function inPieces(text: string): readonly string[] {
  return (text.match(/\s*\S{1,12}|\s+$/gu) ?? []).map(piece => JSON.stringify(piece))
}

/** OpenAI's rule of thumb for English, four characters a token: cheap, and some 12 % off. */
const estimatedTokens = (text: string) => Math.ceil(text.length / 4)

/** A few tokens frame each message (OpenAI's cookbook counts four), and three begin the answer. */
function promptTokens(messages: readonly ChatMessage[]): number {
  return messages.reduce((sum, message) => sum + 4 + estimatedTokens(textOf(message)), 3)
}

function usage(messages: readonly ChatMessage[], completion: number): string {
  const prompt = promptTokens(messages)
  return `{"prompt_tokens":${prompt},"completion_tokens":${completion},"total_tokens":${prompt + completion}}`
}
