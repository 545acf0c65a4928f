/** A completion as one JSON object, and as the events of a stream. */
import type {
  Completion,
  CompletionChoice,
  CompletionMessage,
  CompletionUsage,
  Logprobs,
} from '../../completions/completion.js'
import type { VendorChoice } from '../../completions/reader.js'
import { type ChatRequest, callsFunctions } from '../../completions/request.js'
import type { Tokenizer } from '../../completions/tokens/index.js'
import { stepsOf } from '../../completions/writer.js'
import type { ToolCall } from '../../replies/index.js'
import { type Events, FINGERPRINT, frame, type Opening } from './frame.js'
import { logprobsOf } from './logprobs.js'
import type { Spoken } from './trim.js'

interface Parts {
  readonly opening: Opening
  readonly choices: readonly Spoken[]
  /** Where it is sent. */
  readonly usage: CompletionUsage | undefined
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
      ...callsOf(spoken.calls, callsFunctions(request), nextCallId),
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
    ...(usage && { usage }),
    system_fingerprint: FINGERPRINT,
  }
}

/** The calls of a message; nothing where there are none. */
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

/** Only of words: OpenAI has none for the calls of tools. */
function logprobs({ text, refusal }: Spoken, top: number, { pieces }: Tokenizer): Logprobs | null {
  if (text === null && refusal === null) return null
  return {
    content: text === null ? null : logprobsOf(pieces(text), top),
    refusal: refusal === null ? null : logprobsOf(pieces(refusal), top),
  }
}

/** The events of the same completion: the choices take turns, and end one by one. */
export function streamEvents({ choices, usage, ...opening }: Completion, { pieces: cut }: Tokenizer): Events {
  const { before, after, end } = frame(opening, usage ? JSON.stringify(usage) : undefined)
  // It has the form of any vendor's, but for lists that are readonly.
  const tracks = choices.map(choice => stepsOf(choice as VendorChoice, cut))
  const turns = Math.max(...tracks.map(({ length }) => length))
  const written = (turn: number) => tracks.flatMap(track => (track[turn] ? [JSON.stringify(track[turn])] : []))
  const framed = (events: readonly string[]) => events.map(event => before + event + after).join('')
  return {
    // OpenAI sends no logprobs beside the role.
    head: framed(tracks.map(([first]) => JSON.stringify({ ...first, logprobs: null }))),
    ...{ before, after },
    pieces: Array.from({ length: turns - 2 }, (_, i) => written(i + 1)).flat(),
    tail: framed(written(turns - 1)) + end,
  }
}
