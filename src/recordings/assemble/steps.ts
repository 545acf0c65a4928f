/** Takes a choice of a whole completion apart, into what the events of a stream say of it. */
import type { Call, Choice, Fields } from './forms.js'
import { logprobsBefore, surePieces } from './logprobs.js'
import { wordsOf } from './pieces.js'

/** How the texts begin that are told in pieces; thoughts are not mentioned before there are any. */
const beginnings = { reasoning_content: undefined, reasoning: undefined, content: '', refusal: null }
const spoken = ['reasoning_content', 'reasoning', 'content', 'refusal'] as const

/** The choices of the events: the role, thoughts, words, calls, the end. What else a vendor says stands in the first or the last. */
export function stepsOf({ index, message, logprobs, finish_reason = null, ...others }: Choice): readonly Fields[] {
  const { tool_calls, function_call, ...told } = message
  const texts = spoken.filter(name => told[name])
  const step = (delta: Fields, sure: Fields | null = null): Fields => ({
    ...{ index, delta },
    ...(logprobs !== undefined && { logprobs: sure }),
    finish_reason: null,
  })
  const first = {
    ...told,
    ...Object.fromEntries(texts.map(name => [name, beginnings[name]])),
    // Null, or a list of none.
    ...(!tool_calls?.length && { tool_calls }),
    ...(!function_call && { function_call }),
  }
  return [
    step(first, logprobsBefore(logprobs, texts)),
    ...texts.flatMap(name =>
      surePieces(name, told[name] ?? '', logprobs).map(({ text, logprobs }) => step({ [name]: text }, logprobs)),
    ),
    ...(tool_calls ?? []).flatMap(callDeltas).map(call => step({ tool_calls: [call] })),
    ...(function_call ? inPieces(function_call, 'arguments') : []).map(call => step({ function_call: call })),
    { ...step({}), finish_reason, ...others },
  ]
}

/** First who is called, then what it is told in pieces. */
function callDeltas({ index: _, function: called, custom, ...others }: Call, index: number): readonly Fields[] {
  const parts = [
    ...(called ? inPieces(called, 'arguments').map(part => ({ function: part })) : []),
    ...(custom ? inPieces(custom, 'input').map(part => ({ custom: part })) : []),
  ]
  return [{ index, ...others, ...parts[0] }, ...parts.slice(1).map(part => ({ index, ...part }))]
}

function inPieces(called: Fields, name: 'arguments' | 'input'): readonly Fields[] {
  const text = called[name]
  if (typeof text !== 'string') return [called]
  return [{ ...called, [name]: '' }, ...wordsOf(text).map(piece => ({ [name]: piece }))]
}
