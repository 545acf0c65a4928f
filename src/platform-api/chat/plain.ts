/**
 * The forms of a completion that is one plain text, as nearly all are. Their frames are put together as text: all that differs from
 * one to the next is the id, the time, the model and the words, and JSON.stringify for each event of a stream takes seven times as long.
 */
import type { ChatRequest } from '../../completions/request.js'
import type { Tokenizer } from '../../completions/tokens/index.js'
import { isPaced, type Pace } from '../../core/pace.js'
import { once } from '../../core/work.js'
import type { Choice, Generation } from '../../replies/index.js'
import {
  type Cost,
  FINGERPRINT,
  type Form,
  frame,
  inOnePiece,
  type Opening,
  plainUsage,
  start,
  streamForm,
} from './frame.js'
import { createMold, type Mold } from './mold.js'
import { paced } from './rhythm.js'
import { mostTokens } from './trim.js'

/** Work on a text that is the same each time it is sent; done when it is first needed. */
export class Prepared {
  /** The text as a JSON string. */
  readonly json: string
  /** The text in pieces, each as a JSON string. */
  readonly pieces: () => readonly string[]
  readonly ascii: () => boolean
  /** The whole stream as it last left. */
  mold: Mold | undefined
  private counted: number | undefined

  constructor(
    private readonly text: string,
    private readonly tokenizer: Tokenizer,
  ) {
    this.json = JSON.stringify(text)
    this.pieces = once(() => tokenizer.pieces(text).map(piece => JSON.stringify(piece)))
    this.ascii = once(() => isAscii(text))
  }

  get tokens(): number {
    this.counted ??= this.tokenizer.count(this.text)
    return this.counted
  }
}

/** Remembers what was worked out for a text for as long as the reply is in use. */
export function createPlainTexts(tokenizer: Tokenizer) {
  const known = new WeakMap<Generation, Prepared>()

  /** The text, made ready; `undefined` where there is more to say than a text, or the request wants something done to it. */
  return (request: ChatRequest, said: Generation): Prepared | undefined => {
    if (!asksForText(request) || said.usage !== undefined) return undefined
    const [choice] = said.choices
    if (!choice || !isText(choice)) return undefined
    let prepared = known.get(said)
    if (!prepared) {
      prepared = new Prepared(choice.text, tokenizer)
      known.set(said, prepared)
    }
    return fits(prepared, request) ? prepared : undefined
  }
}

const asksForText = ({ n, stop, logprobs }: ChatRequest) => (n ?? 1) === 1 && (stop ?? null) === null && !logprobs

/** Most requests say how long the answer may become, and most answers are shorter. */
const fits = (prepared: Prepared, request: ChatRequest) =>
  (request.max_tokens ?? request.max_completion_tokens ?? null) === null || prepared.tokens <= mostTokens(request)

const isText = (choice: Choice): choice is Choice & { readonly text: string } =>
  choice.text !== null &&
  !choice.toolCalls?.length &&
  choice.refusal === undefined &&
  choice.reasoning === undefined &&
  choice.finishReason === undefined

const isAscii = (text: string) => Buffer.byteLength(text) === text.length

/** The completion as JSON. */
export const plainWhole = (own: Prepared, opening: Opening, cost: Cost) =>
  `${start(opening, 'chat.completion')}"choices":[{"index":0,` +
  `"message":{"role":"assistant","content":${own.json},"refusal":null},"logprobs":null,"finish_reason":"stop"}],` +
  `"usage":${plainUsage(cost)},"system_fingerprint":"${FINGERPRINT}"}`

/** The completion as a stream: in its rhythm, or without a pace complete already. */
export function plainStream(own: Prepared, opening: Opening, request: ChatRequest, pace: Pace, tokens: Cost): Form {
  const total = request.stream_options?.include_usage ? plainUsage(tokens) : undefined
  if (!isPaced(pace)) return atOnce(own, opening, total, tokens)
  const ascii = own.ascii() && isAscii(opening.model)
  return {
    ...streamForm,
    body: { ...paced(events(own, opening, total), pace, request, tokens), bytewise: ascii },
    tokens,
  }
}

/**
 * Without a pace the stream leaves in one piece: many times faster than an event at a time, and clients see no difference. Within a second
 * two streams of the same words differ in nothing but the id, so the last one serves as a mold.
 */
function atOnce(own: Prepared, opening: Opening, total: string | undefined, tokens: Cost): Form {
  const { id, created, model } = opening
  const sameAs = `${created} ${total} ${model}`
  if (own.mold?.sameAs !== sameAs) own.mold = createMold(sameAs, id, inOnePiece(events(own, opening, total)))
  const { body, sent, again } = own.mold.cast(id)
  const { contentType, headers } = streamForm
  return { contentType, headers, body, sent, again, tokens }
}

function events(own: Prepared, opening: Opening, total: string | undefined) {
  const { before, after, end } = frame(opening, total)
  const choice = (delta: string, finish: string) =>
    `${before}{"index":0,"delta":${delta},"logprobs":null,"finish_reason":${finish}}${after}`
  return {
    head: choice('{"role":"assistant","content":"","refusal":null}', 'null'),
    before: `${before}{"index":0,"delta":{"content":`,
    pieces: own.pieces(),
    after: `},"logprobs":null,"finish_reason":null}${after}`,
    tail: choice('{}', '"stop"') + end,
  }
}
