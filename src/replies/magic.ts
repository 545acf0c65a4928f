/** Magic words in a prompt, which cause an error, a tool call or a slow stream without any rule. */
import { didYouMean } from '../check/suggest.js'
import { type ChatRequest, textOf } from '../completions/request.js'
import { noToolOffered, toolNotOffered, unknownMagic } from '../core/errors.js'
import type { Fault } from '../core/fault.js'
import type { PaceInput } from '../core/pace.js'
import { type OfferedTool, offeredTools } from './called-tool.js'
import type { Choice, Generation, ToolCall } from './generation.js'
import * as texts from './magic-texts.js'

/** The prefix of all magic words. */
export const MAGIC_PREFIX = 'standin:'

/** The effect of a magic word. Anything that it does not set stays unchanged. */
interface Effect {
  readonly choice?: Partial<Choice>
  /** The tool to call. */
  readonly calls?: OfferedTool
  readonly fault?: Fault
  readonly pace?: PaceInput
}

/** The combined effect of the magic words in a prompt. */
export interface Magic extends Required<Omit<Effect, 'calls'>>, Pick<Effect, 'calls'> {
  readonly words: readonly string[]
}

/** More than there are different words. Further words in a prompt are ignored. */
export const MOST_WORDS = 50

interface MagicWord {
  readonly word: string
  readonly meaning: string
  /** The pattern, if the word has parameters, and an example. */
  readonly form?: RegExp
  readonly example?: string
  /** For a word with parameters, `detail` is the part that its form has captured. */
  readonly effect: Effect | ((request: ChatRequest, detail: string | undefined) => Effect)
}

/** Words without parameters. */
const plainWords: readonly (readonly [word: string, meaning: string, effect: Effect])[] = [
  [
    'slow',
    'Streams 5 pieces a second after a pause of one second.',
    { pace: { firstTokenMs: 1000, tokensPerSecond: 5 } },
  ],
  ['stall', 'Stalls after 3 chunks of the stream.', { fault: { stallAfterChunks: 3 } }],
  ['cut', 'Closes the connection after 3 chunks of the stream.', { fault: { cutAfterChunks: 3 } }],
  ['hang', 'Never answers.', { fault: { hang: true } }],
  ['reset', 'Resets the connection before any byte of the answer.', { fault: { reset: 'before' } }],
  ['malformed', 'Breaks the JSON of the second chunk.', { fault: { malformedChunk: 2 } }],
  ['no-done', 'Leaves out the [DONE] of the stream.', { fault: { done: 'missing' } }],
  [
    'error-event',
    'Sends an error event after 3 chunks of the stream, and ends it.',
    { fault: { errorAfterChunks: 3 } },
  ],
  ['length', 'Stops in the middle of a word, with finish_reason length.', { choice: { finishReason: 'length' } }],
  ['filter', 'Stops with finish_reason content_filter.', { choice: { finishReason: 'content_filter' } }],
  ['refusal', 'Refuses, with a refusal in the message.', { choice: { refusal: texts.refusal } }],
  ['empty', 'Answers with an empty text.', { choice: { text: '' } }],
  ['json', 'Answers with a JSON object.', { choice: { text: texts.json } }],
  ['long', 'Answers with about 2,000 words.', { choice: { text: texts.long } }],
  ['markdown', 'Answers with Markdown: headings, lists, a table, code.', { choice: { text: texts.markdown } }],
  [
    'unicode',
    'Answers with emoji, Chinese, Japanese, Korean, right-to-left text and combining characters.',
    { choice: { text: texts.unicode } },
  ],
  ['reasoning', 'Reasons before it answers.', { choice: { reasoning: texts.reasoning } }],
]

/** All magic words, in the order in which they are listed. */
export const magicWords: readonly MagicWord[] = [
  {
    word: 'help',
    meaning: 'Lists these words.',
    effect: () => ({
      choice: { text: magicWords.map(({ word, meaning }) => `${MAGIC_PREFIX}${word} ${meaning}`).join('\n') },
    }),
  },
  {
    word: 'error-NNN',
    meaning: 'Answers with the status NNN, 400 to 599; 429 and 503 with Retry-After: 1.',
    form: /^error-([45]\d\d)$/,
    example: 'error-500',
    effect: (_, detail) => ({ fault: statusFault(Number(detail)) }),
  },
  {
    word: 'tool',
    meaning:
      'Calls the first tool that the request offers; tool:get_weather calls that tool. A request with the result gets text.',
    form: /^tool(?::(.+))?$/,
    effect: toolCall,
  },
  ...plainWords.map(([word, meaning, effect]) => ({ word, meaning, effect })),
]

/** A word may be part of a sentence, in brackets or followed by a full stop. A word in quotes is only mentioned. */
const written = /(?<![^\s([])standin:(\S{1,200})/g

/** Whether a prompt contains a magic word, or a text that is probably a misspelt one. */
export const hasMagic = (lastUserText: string) =>
  lastUserText.includes(MAGIC_PREFIX) && lastUserText.search(written) >= 0

/**
 * The combined effect of the magic words in the last user message. If two words set the same thing, the first one wins.
 * Throws a PlatformError for an unknown word, and for a tool that is not offered.
 */
export function magicOf(request: ChatRequest, lastUserText: string): Magic | undefined {
  const words = wordsIn(lastUserText)
  if (words.length === 0) return undefined
  const effects = words.map(word => effectOf(word, request)).reverse()
  const { choice, calls, fault, pace } = effects.reduce<Effect>(
    (all, { choice, calls = all.calls, fault, pace }) => ({
      choice: { ...all.choice, ...choice },
      ...(calls && { calls }),
      fault: { ...all.fault, ...fault },
      pace: { ...all.pace, ...pace },
    }),
    {},
  )
  return {
    ...{ choice: consistent({ ...choice }, calls), fault: { ...fault }, pace: { ...pace } },
    ...(calls && { calls }),
    words,
  }
}

/** Each word once. */
function wordsIn(text: string): readonly string[] {
  const words = new Set<string>()
  for (const [, word = ''] of text.matchAll(written)) {
    words.add(word.replace(/[.,;:!?)"'\]}]+$/, ''))
    if (words.size === MOST_WORDS) break
  }
  return [...words]
}

/** Whether nothing of the usual reply would remain, so that it need not be generated. */
export const replacesReply = ({ choice, fault }: Magic) => choice.text !== undefined || fault.status !== undefined

/** Applies magic words to the usual reply. */
export function withMagic(usual: Generation, { choice, fault, pace, words }: Magic): Generation {
  // A text of its own replaces the usual reply, including its tool calls and token counts.
  const { usage, pace: usualPace, ...others } = usual
  const replacesText = choice.text !== undefined
  return {
    ...others,
    ...(usage && !replacesText && { usage }),
    choices: replacesText ? [choice as Choice] : usual.choices.map(usualChoice => ({ ...usualChoice, ...choice })),
    ...(hasFields(fault) && { fault }),
    ...((usualPace || hasFields(pace)) && { pace: { ...usualPace, ...pace } }),
    answeredBy: { kind: 'magic', words },
  }
}

const hasFields = (part: object) => Object.keys(part).length > 0

function effectOf(written: string, request: ChatRequest): Effect {
  for (const { word, form, effect } of magicWords) {
    const found = form ? form.exec(written) : word === written && [word]
    if (found) return typeof effect === 'function' ? effect(request, found[1]) : effect
  }
  const examples = magicWords.map(({ word, example = word }) => MAGIC_PREFIX + example)
  const near = didYouMean(MAGIC_PREFIX + written.slice(0, 40), examples, MAGIC_PREFIX)
  throw unknownMagic(
    MAGIC_PREFIX + written,
    near,
    magicWords.map(({ word }) => word),
  )
}

/** A consistent choice. */
function consistent(choice: Partial<Choice>, calls: OfferedTool | undefined): Partial<Choice> {
  const { text, refusal, finishReason } = choice
  if (text === undefined && (calls || refusal !== undefined)) return { ...choice, text: null }
  if (finishReason !== 'length') return choice
  return { ...choice, text: text === undefined ? texts.cutOff : text && firstHalf(text) }
}

/** By code points, so that no surrogate pair is split. */
function firstHalf(text: string): string {
  const points = [...text]
  return points.slice(0, Math.ceil(points.length / 2)).join('')
}

function statusFault(status: number): Fault {
  const message = `Status ${status}, because the prompt says ${MAGIC_PREFIX}error-${status}.`
  return status === 429 || status === 503 ? { status, message, retryAfter: 1 } : { status, message }
}

function toolCall(request: ChatRequest, detail: string | undefined): Effect {
  const last = request.messages.at(-1)
  // A request with a tool result repeats the same prompt, which would otherwise be answered with tool calls forever.
  if (last?.role === 'tool' || last?.role === 'function') return { choice: { text: `The tool says: ${textOf(last)}` } }
  const tools = offeredTools(request)
  const tool = detail === undefined ? tools[0] : tools.find(({ name }) => name === detail)
  if (tool) return { calls: tool }
  if (tools.length === 0) throw noToolOffered(`${MAGIC_PREFIX}tool`)
  const names = tools.map(({ name }) => name)
  throw toolNotOffered(detail ?? '', didYouMean(detail ?? '', names), names)
}

/** The call that magic words ask for, with valid arguments for the tool. */
export async function callOf(
  { kind, name, parameters }: OfferedTool,
  sample: (schema: unknown) => Promise<unknown>,
): Promise<ToolCall> {
  if (kind === 'custom') return { kind, name, arguments: 'Some input.' }
  return { kind, name, arguments: JSON.stringify(await sample(parameters ?? { type: 'object' })) }
}
