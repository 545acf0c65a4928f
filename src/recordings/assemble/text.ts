/** Tells what a model said, in a form for people. */
import { atOnce, type Sliced } from '../../core/work.js'
import { bodyOf, isStream, type RecordedResponse } from '../recording.js'
import { hear, speaks } from './events.js'
import { type Call, type Completion, completionIn, type Message } from './forms.js'
import { sumUp } from './sum.js'

/** `assembleText` in one go. */
export const assembledText = (response: RecordedResponse): string | undefined => atOnce(assembleText(response))

/**
 * The words of every choice, the calls of tools as `name(arguments)`, refusals and thoughts with a mark in front; of a stream that
 * broke off what there is. `undefined` where it is no chat completion. Never throws.
 */
export function* assembleText(response: RecordedResponse): Sliced<string | undefined> {
  const choices = (yield* completionOf(response))?.choices
  return choices
    ?.map(({ message }, i) => [...(choices.length > 1 ? [`[choice ${i}]`] : []), ...linesOf(message)].join('\n'))
    .join('\n\n')
}

function* completionOf(response: RecordedResponse): Sliced<Completion | undefined> {
  if (!isStream(response)) return completionIn(bodyOf(response))
  const { chunks } = yield* hear(response)
  return speaks(chunks) ? yield* sumUp(chunks) : undefined
}

const linesOf = (message: Message): readonly string[] => [
  ...marked('[reasoning] ', message.reasoning_content || message.reasoning),
  ...marked('', message.content),
  ...marked('[refusal] ', message.refusal),
  ...(message.tool_calls ?? []).map(called),
  ...(message.function_call ? [called({ function: message.function_call })] : []),
]

const marked = (mark: string, text: string | null | undefined) => (text ? [mark + text] : [])

const called = ({ function: by, custom }: Call) =>
  `${by?.name ?? custom?.name ?? ''}(${by?.arguments ?? custom?.input ?? ''})`
