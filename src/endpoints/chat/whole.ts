/** A completion as one JSON object. */
import type { ChatRequest } from '../../core/chat.js'
import type { Tokenizer } from '../../tokenizer/index.js'
import type { Completion, CompletionChoice, Logprobs, Usage } from './body.js'
import { FINGERPRINT, type Opening } from './frame.js'
import { logprobsOf } from './logprobs.js'
import { callsFunctions, callsOf, identified } from './tool-calls.js'
import type { Spoken } from './trim.js'

interface Parts {
  readonly opening: Opening
  readonly choices: readonly Spoken[]
  readonly usage: Usage
  readonly tokenizer: Tokenizer
  /** Makes the id of a call that has none of its own. */
  readonly nextCallId: () => string
}

/** The completion that answers `request` with these choices. */
export function wholeCompletion(
  request: ChatRequest,
  { opening: { id, created, model }, choices, usage, tokenizer, nextCallId }: Parts,
): Completion {
  const choiceOf = (spoken: Spoken, index: number): CompletionChoice => ({
    index,
    message: {
      role: 'assistant',
      content: spoken.text,
      ...(spoken.reasoning !== undefined && { reasoning_content: spoken.reasoning }),
      ...callsOf(identified(spoken.calls, nextCallId), callsFunctions(request)),
      refusal: spoken.refusal,
    },
    logprobs: request.logprobs ? logprobs(spoken, request.top_logprobs ?? 0, tokenizer) : null,
    finish_reason: spoken.finishReason,
  })
  return {
    id,
    object: 'chat.completion',
    created,
    model,
    choices: choices.map(choiceOf),
    usage,
    system_fingerprint: FINGERPRINT,
  }
}

/** Only of words: OpenAI has none for the calls of tools. */
function logprobs({ text, refusal }: Spoken, top: number, { pieces }: Tokenizer): Logprobs | null {
  if (text === null && refusal === null) return null
  return {
    content: text === null ? null : logprobsOf(pieces(text), top),
    refusal: refusal === null ? null : logprobsOf(pieces(refusal), top),
  }
}
