/**
 * Creates completions, with a fast path for those that are a single plain text, which is nearly all of them. It builds
 * their frames as text: only the id, the time, the model and the words differ, and JSON.stringify for each event of a
 * stream takes seven times as long.
 */
import { type ChatRequest, mostTokens } from '../../completions/request.js'
import { promptTokens, type Tokenizer } from '../../completions/tokens/index.js'
import { isPaced, type Pace } from '../../core/pace.js'
import { once } from '../../core/work.js'
import type { Generation } from '../../replies/index.js'
import { type ByteTemplate, createByteTemplate } from './byte-template.js'
import { createAnyCompletions } from './completion.js'
import {
  FINGERPRINT,
  type Form,
  frame,
  type Opening,
  openingOf,
  plainUsage,
  start,
  streamForm,
  streamText,
  TokenCount,
  withPace,
} from './frame.js'

/** The prepared forms of a text that is sent repeatedly, computed on first use. */
class PreparedText {
  /** The text as a JSON string. */
  readonly json: string
  /** The part of a whole completion between its model and its usage. */
  readonly choices: string
  /** The pieces of the text, each as a JSON string. */
  readonly pieces: () => readonly string[]
  readonly ascii: () => boolean
  /** The bytes of the last whole stream. */
  template: ByteTemplate | undefined
  private tokenCount: number | undefined

  constructor(
    private readonly text: string,
    private readonly tokenizer: Tokenizer,
  ) {
    this.json = JSON.stringify(text)
    this.choices =
      `"choices":[{"index":0,"message":{"role":"assistant","content":${this.json},"refusal":null},` +
      `"logprobs":null,"finish_reason":"stop"}],"usage":`
    this.pieces = once(() => tokenizer.pieces(text).map(piece => JSON.stringify(piece)))
    this.ascii = once(() => isAscii(text))
  }

  get tokens(): number {
    this.tokenCount ??= this.tokenizer.count(this.text)
    return this.tokenCount
  }
}

/**
 * Creates completions. Their tokens are counted by `tokenizer`. The prepared forms of a plain text are cached for as
 * long as the reply is in use.
 */
export function createCompletions(tokenizer: Tokenizer) {
  const plainText = createPlainText(tokenizer)
  const any = createAnyCompletions(tokenizer)
  return {
    /** The completion as one JSON object. */
    whole(request: ChatRequest, generation: Generation): Form {
      const own = plainText(request, generation)
      if (!own) return any.whole(request, generation)
      const tokens = { prompt: promptTokens(request, tokenizer), completion: own.tokens }
      return {
        contentType: 'application/json',
        body: `${start(openingOf(request), 'chat.completion')}${own.choices}${plainUsage(tokens)}${wholeEnd}`,
        tokens,
      }
    },

    /** The completion as server-sent events: at the speed of `pace`, or complete at once without one. */
    streamed(request: ChatRequest, generation: Generation, pace: Pace): Form {
      const own = plainText(request, generation)
      if (!own) return any.streamed(request, generation, pace)
      const opening = openingOf(request)
      // An estimate is made now, so that a stream does not keep its request only to count it at the end.
      const tokens =
        tokenizer.name === 'estimate'
          ? { prompt: promptTokens(request, tokenizer), completion: own.tokens }
          : new TokenCount(request, undefined, tokenizer, own)
      const total = request.stream_options?.include_usage ? plainUsage(tokens) : undefined
      if (!isPaced(pace)) return completeStream(own, opening, total, tokens)
      const ascii = own.ascii() && isAscii(opening.model)
      return {
        ...streamForm,
        body: { ...withPace(events(own, opening, total), pace, request), isLatin1: ascii },
        tokens,
      }
    },
  }
}

/**
 * Returns the function that gives the prepared text of a generation; `undefined` if there is more than text, or if the
 * request needs it to be processed.
 */
function createPlainText(tokenizer: Tokenizer) {
  const cache = new WeakMap<Generation, PreparedText>()
  return (request: ChatRequest, generation: Generation): PreparedText | undefined => {
    const { n, stop, logprobs } = request
    if ((n ?? 1) !== 1 || (stop ?? null) !== null || logprobs) return undefined
    let prepared = cache.get(generation)
    if (!prepared) {
      const text = onlyText(generation)
      if (text === undefined) return undefined
      prepared = new PreparedText(text, tokenizer)
      cache.set(generation, prepared)
    }
    // Most requests limit the length of the answer, and most answers are shorter.
    const most = request.max_tokens ?? request.max_completion_tokens ?? null
    return most === null || prepared.tokens <= mostTokens(request) ? prepared : undefined
  }
}

const wholeEnd = `,"system_fingerprint":"${FINGERPRINT}"}`

/** Longer texts could make an answer that is too large. */
const LONGEST_PLAIN = 500_000

/** The text, if the generation consists of nothing else. */
function onlyText({ usage, choices }: Generation): string | undefined {
  const [choice] = choices
  if (usage !== undefined || !choice) return undefined
  const { text, toolCalls, refusal, reasoning, finishReason } = choice
  if (text && text.length > LONGEST_PLAIN) return undefined
  return toolCalls?.length || (refusal ?? reasoning ?? finishReason) !== undefined ? undefined : (text ?? undefined)
}

const isAscii = (text: string) => Buffer.byteLength(text) === text.length

/**
 * Without a pace the stream is sent in one piece, which is many times faster than one event at a time, and clients see
 * no difference. Within a second, two streams with the same words differ only in the id, so the last one serves as a
 * template.
 */
function completeStream(own: PreparedText, opening: Opening, total: string | undefined, tokens: Form['tokens']): Form {
  const { id, created, model } = opening
  const sameAs = `${created} ${total} ${model}`
  if (own.template?.key !== sameAs)
    own.template = createByteTemplate(sameAs, id, streamText(events(own, opening, total)))
  const { body, framedBody, onSent, regenerate } = own.template.fill(id)
  const { contentType, headers } = streamForm
  return { contentType, headers, body, framedBody, onSent, regenerate, tokens }
}

/** The events around the pieces of a plain text, each without its beginning up to the id. */
interface Frame {
  /** The frame can be used for streams with the same value. */
  readonly sameAs: string
  readonly role: string
  readonly piece: string
  readonly after: string
  readonly finish: string
  /** The usage and the end, if usage was requested. */
  readonly total: string | undefined
}

const beforeId = 'data: {"id":"'
let lastFrame: Frame | undefined

/**
 * Streams of the same second and model differ only in their id. They share all other texts, since these would be most
 * of what thousands of open streams keep.
 */
function frameOf(opening: Opening, total: string | undefined): Frame {
  const sameAs = `${opening.created} ${total} ${opening.model}`
  if (lastFrame?.sameAs === sameAs) return lastFrame
  const { before, after, end } = frame({ ...opening, id: '' }, total)
  const choice = (delta: string, finish: string) =>
    afterId(before, `{"index":0,"delta":${delta},"logprobs":null,"finish_reason":${finish}}`, after)
  lastFrame = {
    sameAs,
    role: choice('{"role":"assistant","content":"","refusal":null}', 'null'),
    piece: afterId(before, '{"index":0,"delta":{"content":'),
    after: ['},"logprobs":null,"finish_reason":null}', after].join(''),
    finish: choice('{}', '"stop"') + (total === undefined ? end : ''),
    total: total === undefined ? undefined : afterId(end),
  }
  return lastFrame
}

/** `join` creates one flat string. Concatenation would keep all parts in memory, and traverse them for each event. */
const afterId = (...parts: readonly string[]) => parts.join('').slice(beforeId.length)

function events(own: PreparedText, opening: Opening, total: string | undefined) {
  const { role, piece, after, finish, total: usage } = frameOf(opening, total)
  const begin = beforeId + opening.id
  return {
    head: begin + role,
    before: begin + piece,
    pieces: own.pieces(),
    after,
    tail: usage === undefined ? begin + finish : begin + finish + begin + usage,
  }
}
