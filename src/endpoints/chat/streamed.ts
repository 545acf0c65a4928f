/** A completion as server-sent events: the role, the pieces, the end, the usage where it was asked for, `[DONE]`. */
import type { ChatRequest } from '../../core/chat.js'
import type { Tokenizer } from '../../tokenizer/index.js'
import type { ChunkChoice, Delta, Logprobs, TokenLogprob, Usage } from './body.js'
import { type Events, frame, type Opening } from './frame.js'
import { logprobsOf } from './logprobs.js'
import { callDeltas, callsFunctions, identified } from './tool-calls.js'
import type { Spoken } from './trim.js'

interface Parts {
  readonly opening: Opening
  readonly choices: readonly Spoken[]
  /** Where it was asked for. */
  readonly usage: Usage | undefined
  readonly tokenizer: Tokenizer
  /** Makes the id of a call that has none of its own. */
  readonly nextCallId: () => string
}

/** What one event says of a choice. */
type Step = Pick<ChunkChoice, 'delta' | 'logprobs'>

/** The events that answer `request` with these choices. Each piece is an event: the choices take turns, and end one by one. */
export function streamEvents(request: ChatRequest, { opening, choices, usage, tokenizer, nextCallId }: Parts): Events {
  const { before, after, end } = frame(opening, usage && JSON.stringify(usage))
  const event = (index: number, { delta, logprobs }: Step, finish_reason: ChunkChoice['finish_reason'] = null) =>
    JSON.stringify({ index, delta, logprobs, finish_reason } satisfies ChunkChoice)
  const finish = (spoken: Spoken, index: number) => event(index, wordless({}), spoken.finishReason)

  const tracks = choices.map(spoken => stepsOf(spoken, request, tokenizer, nextCallId))
  const turns = Math.max(...tracks.map(({ length }) => length))
  const pieces: string[] = []
  for (let turn = 0; turn < turns; turn++) {
    for (const [index, spoken] of choices.entries()) {
      const steps = tracks[index] as readonly Step[]
      const step = steps[turn]
      if (step) pieces.push(event(index, step))
      else if (turn === steps.length) pieces.push(finish(spoken, index))
    }
  }
  const framed = (events: readonly string[]) => events.map(event => before + event + after).join('')
  const last = choices.flatMap((spoken, index) => (tracks[index]?.length === turns ? [finish(spoken, index)] : []))
  return {
    head: framed(choices.map((spoken, index) => event(index, wordless(beginning(spoken))))),
    ...{ before, pieces, after },
    tail: framed(last) + end,
  }
}

const wordless = (delta: Delta): Step => ({ delta, logprobs: null })

const beginning = ({ text }: Spoken): Delta => ({
  role: 'assistant',
  content: text === null ? null : '',
  refusal: null,
})

/** Thoughts, then words, then calls. */
function stepsOf(
  { reasoning, text, refusal, calls }: Spoken,
  request: ChatRequest,
  tokenizer: Tokenizer,
  nextCallId: () => string,
): readonly Step[] {
  const inPieces = (said: string | null | undefined, step: (piece: string, logprobs: OfOne) => Step) => {
    const pieces = said ? tokenizer.pieces(said) : []
    const logprobs = request.logprobs ? logprobsOf(pieces, request.top_logprobs ?? 0) : []
    return pieces.map((piece, i) => step(piece, logprobs.slice(i, i + 1)))
  }
  return [
    ...inPieces(reasoning, piece => wordless({ reasoning_content: piece })),
    ...inPieces(text, (content, of) => ({ delta: { content }, logprobs: logprobs(of, null) })),
    ...inPieces(refusal, (piece, of) => ({ delta: { refusal: piece }, logprobs: logprobs(null, of) })),
    ...callDeltas(identified(calls, nextCallId), callsFunctions(request), tokenizer).map(wordless),
  ]
}

/** The logprobs of one piece; empty where they were not asked for. */
type OfOne = readonly TokenLogprob[]

const logprobs = (content: OfOne | null, refusal: OfOne | null): Logprobs | null =>
  (content ?? refusal)?.length ? { content, refusal } : null
