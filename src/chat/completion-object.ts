/** A completion as one JSON object, and as the events of a stream. */

import type {
  Completion,
  CompletionChoice,
  CompletionMessage,
  CompletionUsage,
  Logprobs,
  TokenLogprob,
} from './completion.js'
import { type Events, FINGERPRINT, frame, type Opening } from './frame.js'
import type { ToolCall } from './generation.js'
import type { VendorChoice } from './reader.js'
import { type ChatRequest, callsFunctions } from './request.js'
import type { Tokenizer } from './tokens/index.js'
import type { TrimmedChoice } from './trim.js'
import { stepsOf } from './writer.js'

interface Parts {
  readonly opening: Opening
  readonly choices: readonly TrimmedChoice[]
  /** Present if it is sent. */
  readonly usage: CompletionUsage | undefined
  readonly tokenizer: Tokenizer
  /** Returns an id for a call that has none. */
  readonly nextCallId: () => string
}

/** Builds the completion that answers `request` with these choices. */
export function completionObject(
  request: ChatRequest,
  { opening: { id, created, model }, choices, usage, tokenizer, nextCallId }: Parts,
): Completion {
  const choiceOf = (choice: TrimmedChoice, index: number): CompletionChoice => ({
    index,
    message: {
      role: 'assistant',
      content: choice.text,
      ...(choice.reasoning !== undefined && { reasoning_content: choice.reasoning }),
      ...callsOf(choice.calls, callsFunctions(request), nextCallId),
      refusal: choice.refusal,
    },
    logprobs: request.logprobs ? logprobs(choice, tokenizer) : null,
    finish_reason: choice.finishReason,
  })
  return {
    id,
    object: 'chat.completion',
    created,
    model,
    choices: choices.map(choiceOf),
    ...(usage && { usage }),
    system_fingerprint: FINGERPRINT,
  }
}

/** The calls of a message; empty if there are none. */
function callsOf(calls: readonly ToolCall[], asFunctions: boolean, nextId: () => string): Partial<CompletionMessage> {
  const [first] = calls
  if (!first) return {}
  if (asFunctions) return { function_call: { name: first.name, arguments: first.arguments } }
  return {
    tool_calls: calls.map(({ id = nextId(), kind, name, arguments: said }) =>
      kind === 'custom'
        ? { id, type: 'custom', custom: { name, input: said } }
        : { id, type: 'function', function: { name, arguments: said } },
    ),
  }
}

/** For text only, since OpenAI has none for tool calls. */
function logprobs({ text, refusal }: TrimmedChoice, { pieces }: Tokenizer): Logprobs | null {
  if (text === null && refusal === null) return null
  return {
    content: text === null ? null : logprobsOf(pieces(text)),
    refusal: refusal === null ? null : logprobsOf(pieces(refusal)),
  }
}

/** The events of the same completion: the choices alternate, and end one after the other. */
export function streamEvents({ choices, usage, ...opening }: Completion, { pieces: cut }: Tokenizer): Events {
  const { before, after, end } = frame(opening, usage ? JSON.stringify(usage) : undefined)
  // It has the form of any vendor's completion, except that its lists are readonly.
  const tracks = choices.map(choice => stepsOf(choice as VendorChoice, cut))
  const rounds = Math.max(...tracks.map(({ length }) => length))
  function written(from: number, to: number): readonly string[] {
    const events: string[] = []
    for (let turn = from; turn < to; turn++) {
      for (const track of tracks) if (turn < track.length) events.push(JSON.stringify(track[turn]))
    }
    return events
  }
  const framed = (events: readonly string[]) => events.map(event => before + event + after).join('')
  return {
    // OpenAI sends no logprobs with the role.
    head: framed(tracks.map(([first]) => JSON.stringify({ ...first, logprobs: null }))),
    ...{ before, after },
    pieces: written(1, rounds - 1),
    tail: framed(written(rounds - 1, rounds)) + end,
  }
}

/** The logprobs of consecutive tokens. No alternatives are made up: the list may be shorter than requested. */
function logprobsOf(tokens: readonly string[]): readonly TokenLogprob[] {
  return tokens.map((token, at) => {
    // More than half, so that nothing else is likelier.
    const chance = 0.99 - 0.48 * (randomFor(token, at) / 2 ** 32) ** 2
    const logprob = Number(Math.log(chance).toFixed(8))
    return { token, logprob, bytes: [...Buffer.from(token)], top_logprobs: [] }
  })
}

/**
 * A number from 0 to 2^32 - 1 that is always the same for the same token and position (FNV-1a, with the finalizer of
 * Murmur3).
 */
function randomFor(token: string, at: number): number {
  let mixed = 0x811c9dc5 ^ at
  for (let i = 0; i < token.length; i++) mixed = Math.imul(mixed ^ token.charCodeAt(i), 0x01000193)
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return (mixed ^ (mixed >>> 16)) >>> 0
}
