/** Splits a whole completion into the chunks of a stream, and reads such a stream. */
import { jsonOf } from '../core/json.js'
import { characterStart, dataOf, eventsIn } from './events.js'
import {
  chunkIn,
  createSum,
  hasDelta,
  type JsonFields,
  type VendorCall,
  type VendorChoice,
  type VendorChunk,
  type VendorCompletion,
} from './reader.js'
import { estimated } from './tokens/index.js'

/** The first values of texts that are sent in pieces. Reasoning is left out until there is some. */
const firstValues = { reasoning_content: undefined, reasoning: undefined, content: '', refusal: null }
const textFields = ['reasoning_content', 'reasoning', 'content', 'refusal'] as const

/** Splits a text into pieces like a model's tokens. */
type SplitText = (text: string) => readonly string[]

/**
 * The events of one choice: role, reasoning, text, calls, end. Other fields of a vendor are in the first or the last
 * event. If there are logprobs, texts are cut at the ends of tokens.
 */
export function stepsOf(
  { index, message, logprobs, finish_reason = null, ...others }: VendorChoice,
  cut: SplitText = estimated.pieces,
): readonly JsonFields[] {
  const { tool_calls, function_call, ...plain } = message
  const texts = textFields.filter(name => plain[name])
  const step = (delta: JsonFields, pieceLogprobs: JsonFields | null = null): JsonFields => ({
    index,
    delta,
    ...(logprobs !== undefined && { logprobs: pieceLogprobs }),
    finish_reason: null,
  })
  const first = {
    ...plain,
    ...Object.fromEntries(texts.map(name => [name, firstValues[name]])),
    // Null, or an empty list.
    ...(!tool_calls?.length && { tool_calls }),
    ...(!function_call && { function_call }),
  }
  return [
    step(first, logprobsBefore(logprobs, texts)),
    ...texts.flatMap(name =>
      piecesWithLogprobs(name, plain[name] ?? '', logprobs, cut).map(({ text, logprobs }) =>
        step({ [name]: text }, logprobs),
      ),
    ),
    ...(tool_calls ?? []).flatMap((call, at) => callDeltas(call, at, cut)).map(call => step({ tool_calls: [call] })),
    ...(function_call ? inPieces(function_call, 'arguments', cut) : []).map(call => step({ function_call: call })),
    { ...step({}), finish_reason, ...others },
  ]
}

/** First the name of the call, then its input in pieces. */
function callDeltas(
  { index: _, function: called, custom, ...others }: VendorCall,
  index: number,
  cut: SplitText,
): readonly JsonFields[] {
  const parts = [
    ...(called ? inPieces(called, 'arguments', cut).map(part => ({ function: part })) : []),
    ...(custom ? inPieces(custom, 'input', cut).map(part => ({ custom: part })) : []),
  ]
  return [{ index, ...others, ...parts[0] }, ...parts.slice(1).map(part => ({ index, ...part }))]
}

function inPieces(called: JsonFields, name: 'arguments' | 'input', cut: SplitText): readonly JsonFields[] {
  const text = called[name]
  if (typeof text !== 'string') return [called]
  return [{ ...called, [name]: '' }, ...cut(text).map(piece => ({ [name]: piece }))]
}

type VendorLogprobs = VendorChoice['logprobs']

const logprobLists = ['content', 'refusal'] as const
const isList = (name: string): name is (typeof logprobLists)[number] => logprobLists.includes(name as 'content')

/** The logprobs without the tokens of these texts, which follow piece by piece. */
const logprobsBefore = (logprobs: VendorLogprobs, texts: readonly string[]): JsonFields | null =>
  logprobs ? { ...logprobs, ...emptyLists(logprobs, texts) } : null

/** The pieces of the text with this name, and the logprobs of their tokens. */
function piecesWithLogprobs(name: string, text: string, logprobs: VendorLogprobs, cut: SplitText) {
  const tokens = isList(name) ? logprobs?.[name] : undefined
  if (!logprobs || !tokens?.length) return cut(text).map(text => ({ text, logprobs: null }))
  const others = emptyLists(logprobs, logprobLists)
  return tokenPieces(text, tokens).map(({ text, tokens }) => ({ text, logprobs: { ...others, [name]: tokens } }))
}

/** The lists with these names that exist, emptied. */
const emptyLists = (logprobs: JsonFields, names: readonly string[]): JsonFields =>
  Object.fromEntries(names.filter(name => isList(name) && name in logprobs).map(name => [name, logprobs[name] && []]))

/**
 * Cuts a text at the ends of its tokens. Characters that consist of several tokens stay whole, and so does a text that
 * does not match its tokens.
 */
function tokenPieces(text: string, tokens: readonly unknown[]) {
  const bytes = Buffer.from(text)
  const parts = tokens.map(bytesOf)
  if (!Buffer.concat(parts).equals(bytes) || bytes.toString('utf8') !== text) return [{ text, tokens }]
  const pieces: { readonly text: string; readonly tokens: readonly unknown[] }[] = []
  let [start, end, first] = [0, 0, 0]
  for (const [i, part] of parts.entries()) {
    end += part.length
    const isLast = i === parts.length - 1
    if (characterStart(bytes, end) !== end || (end === bytes.length && !isLast)) continue
    pieces.push({ text: bytes.toString('utf8', start, end), tokens: tokens.slice(first, i + 1) })
    start = end
    first = i + 1
  }
  return pieces
}

/** A token that is part of a character cannot be sent as text, so its bytes are used. */
function bytesOf(entry: unknown): Buffer {
  const { token, bytes } = (entry ?? {}) as { readonly token?: unknown; readonly bytes?: unknown }
  return Array.isArray(bytes) ? Buffer.from(bytes) : Buffer.from(typeof token === 'string' ? token : '')
}

const isDone = (data: string) => data.trim() === '[DONE]'

/** Returns the chunk in an event, if there is one. */
export function chunkOf(event: Buffer): VendorChunk | undefined {
  const data = dataOf(event)
  return data === undefined ? undefined : chunkIn(jsonOf(data))
}

/**
 * What a stream sent before it ended or failed: a completion if it is one, and whether it is entire: nothing but chunks,
 * no error, and `[DONE]` or the finish_reason of each choice at its end, since not every server sends `[DONE]`.
 */
export function readStream(body: Buffer): {
  readonly completion: VendorCompletion | undefined
  readonly isEntire: boolean
} {
  const sum = createSum()
  let hasDeltas = false
  const result = (isEntire: boolean) => ({ isEntire, completion: hasDeltas ? sum.completion() : undefined })
  for (const event of eventsIn(body)) {
    const data = dataOf(event)
    if (data === undefined) continue
    if (isDone(data)) return result(true)
    const chunk = namesError(event) ? undefined : chunkIn(jsonOf(data))
    if (!chunk || (chunk.error ?? null) !== null) return result(false)
    hasDeltas ||= hasDelta(chunk)
    sum.add(chunk)
  }
  return result(hasDeltas && sum.completion().choices.every(({ finish_reason: reason }) => reason))
}

const namesError = (event: Buffer) => /^event: ?error\r?$/m.test(event.toString('latin1'))
