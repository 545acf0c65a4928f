/** The forms of a chat completion: one JSON object, or the events of a stream (OpenAI's; the document does not show them). */
import { randomBytes } from 'node:crypto'
import { type ChatMessage, type ChatRequest, textOf } from '../core/chat.js'
import type { Pace, Reply } from '../core/exchange.js'
import type { CannedReply } from '../replies/index.js'
import { createMold, type Mold } from './mold.js'

/** The part of a reply that depends on its form. */
type Form = Omit<Reply, 'kind' | 'status' | 'source'>

/** Work on a text that is the same each time it is said. */
interface Prepared {
  /** The text as a JSON string. */
  readonly json: string
  /** The text in pieces, each as a JSON string. */
  readonly pieces: readonly string[]
  readonly ascii: boolean
  readonly tokens: number
  /** The whole stream as it last left. */
  mold: Mold | undefined
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
  const preparedTexts = new WeakMap<CannedReply, Prepared>()
  const nextId = createIds()

  function prepared(canned: CannedReply): Prepared {
    const known = preparedTexts.get(canned)
    if (known) return known
    const { text } = canned
    const made = {
      json: JSON.stringify(text),
      pieces: inPieces(text),
      ascii: isAscii(text),
      tokens: estimatedTokens(text),
      mold: undefined,
    }
    preparedTexts.set(canned, made)
    return made
  }

  /** The completion as one JSON object. */
  function whole({ model, messages }: ChatRequest, canned: CannedReply): Form {
    const { json, tokens } = prepared(canned)
    const body =
      `${start(nextId(), 'chat.completion', seconds(), model)}"choices":[{"index":0,` +
      `"message":{"role":"assistant","content":${json},"refusal":null},"logprobs":null,"finish_reason":"stop"}],` +
      `"usage":${usage(messages, tokens)},"system_fingerprint":"${FINGERPRINT}"}`
    return { contentType: 'application/json', body }
  }

  /** The completion as server-sent events: the role, the pieces, the end, the usage where it was asked for, `[DONE]`. */
  function streamed({ model, messages, stream_options }: ChatRequest, canned: CannedReply): Form {
    const own = prepared(canned)
    const total = stream_options?.include_usage ? usage(messages, own.tokens) : undefined
    const opening = { id: nextId(), created: seconds(), model, usage: total }
    const form = { contentType: 'text/event-stream', headers: streamHeaders }
    return { ...form, ...(isPaced(canned.pace) ? paced(own, opening, canned.pace) : atOnce(own, opening)) }
  }

  return { whole, streamed }
}

const isPaced = ({ firstTokenMs, tokensPerSecond }: Pace) => firstTokenMs > 0 || tokensPerSecond > 0

const paced = ({ pieces, ascii }: Prepared, opening: Opening, pace: Pace) => ({
  body: { ...frame(opening), pieces, pace, ascii: ascii && isAscii(opening.model) },
})

const isAscii = (text: string) => Buffer.byteLength(text) === text.length

/**
 * Without a pace the stream leaves in one piece: many times faster than an event at a time, and no client can tell. Within a second
 * two streams of the same words differ in nothing but the id, so the last one serves as a mold.
 */
function atOnce(own: Prepared, opening: Opening) {
  const { id, created, model, usage } = opening
  const sameAs = `${created} ${usage} ${model}`
  if (own.mold?.sameAs !== sameAs) own.mold = createMold(sameAs, id, inOnePiece(frame(opening), own.pieces))
  return own.mold.cast(id)
}

const seconds = () => Math.floor(Date.now() / 1000)

/** Ids that no other start and no other completion has; all of one length. */
function createIds(): () => string {
  const prefix = `chatcmpl-${randomBytes(9).toString('base64url').replace(/[-_]/g, 'x')}`
  let count = 0
  return () => prefix + (count++).toString(36).padStart(8, '0')
}

/** How every object of a completion begins. */
const start = (id: string, object: string, created: number, model: string) =>
  `{"id":"${id}","object":"${object}","created":${created},"model":${JSON.stringify(model)},`

/** What the events of a stream have in common. */
interface Opening {
  readonly id: string
  /** Seconds since 1970. */
  readonly created: number
  readonly model: string
  /** The usage as JSON, where it was asked for. */
  readonly usage: string | undefined
}

/** What stands around the pieces of a stream. */
function frame({ id, created, model, usage }: Opening) {
  const begin = `data: ${start(id, 'chat.completion.chunk', created, model)}"system_fingerprint":"${FINGERPRINT}","choices":[`
  // With include_usage every chunk has the key, and it is null but in the last (OpenAI's reference, "stream_options").
  const end = usage === undefined ? ']}\n\n' : '],"usage":null}\n\n'
  const choice = (delta: string, finish: string) =>
    `${begin}{"index":0,"delta":${delta},"logprobs":null,"finish_reason":${finish}}${end}`
  const total = usage === undefined ? '' : `${begin}],"usage":${usage}}\n\n`
  return {
    head: choice('{"role":"assistant","content":"","refusal":null}', 'null'),
    before: `${begin}{"index":0,"delta":{"content":`,
    after: `},"logprobs":null,"finish_reason":null}${end}`,
    tail: `${choice('{}', '"stop"')}${total}data: [DONE]\n\n`,
  }
}

function inOnePiece({ head, before, after, tail }: ReturnType<typeof frame>, pieces: readonly string[]): string {
  const middle = pieces.length === 0 ? '' : before + pieces.join(after + before) + after
  return head + middle + tail
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
