/** Magic words in a prompt, which cause an error, a tool call or a slow stream without any rule. */

import type { Choice, Generation } from '../chat/generation.js'
import { type ChatRequest, textOf } from '../chat/request.js'
import { didYouMean } from '../check/suggest.js'
import { alternatives, quotedStart, refusal } from '../core/errors.js'
import { currentWord, type Fault, faultOfWord, faultWords } from '../core/fault.js'
import type { PaceInput } from '../core/pace.js'
import { type CalledTool, callsOf, defaultReply, offeredTools } from './default-reply.js'

/** The prefix of all magic words. */
export const MAGIC_PREFIX = 'standin:'

/** The effect of a magic word. Anything that it does not set stays unchanged. */
interface Effect {
  readonly choice?: Partial<Choice>
  /** The tools to call, in parallel. */
  readonly calls?: readonly CalledTool[]
  readonly fault?: Fault
  readonly pace?: PaceInput
}

/** More than there are different words. Further words in a prompt are ignored. */
const MOST_WORDS = 50

type MagicWord = readonly [meaning: string, effect: Effect | ((request: ChatRequest, detail: string) => Effect)]

const refusalText = "I'm sorry, but I can't help with that."
const reasoning = 'The user wants to see how reasoning is shown. First I think about it. Then I say what I came to.'
const sampleJson = JSON.stringify({ ok: true, answer: 42, items: ['one', 'two'], nested: { nothing: null } })
const sentence =
  'words that follow words, for a page that scrolls, a buffer that fills and a client that waits for the end.'
const long = Array.from({ length: 80 }, (_, i) => `Line ${i + 1} of a long answer: ${sentence}`).join('\n')
const markdown = `# A heading\n\nSome **bold**, some *italic*, some \`code\` and [a link](https://example.com).\n
## A list\n\n1. first\n2. second\n   - with a part\n
## A table\n\n| city | degrees |\n| --- | ---: |\n| Berlin | 21 |\n| São Paulo | 28 |\n
## Code\n\n\`\`\`ts\nconst greet = (name: string) => \`Hello, \${name}!\`\n\`\`\`\n\n> A quotation.`
/** Each line contains one kind of text that breaks if bytes are taken for characters. An editor could combine a letter and its accent. */
const unicode = `Emoji: 😀 👍🏽 🇪🇺 👩‍👩‍👧‍👦 ❤️
Chinese, Japanese, Korean: 你好,世界。こんにちは、世界。안녕하세요 세계.
Right to left: שלום עולם, مرحبا بالعالم (and back).
Combining: e\u0301 a\u0308 n\u0303 Z\u0351\u036b\u0343 \u0915\u094d\u0937
Beyond the first plane: 𝒜𝓁𝓅𝒽𝒶 𐍈 𠜎
Invisible: zero\u200bwidth, no\u00a0break, soft\u00adhyphen`

/** All magic words, in the order in which they are listed. What follows a colon is the `detail`. */
export const magicWords: Readonly<Record<string, MagicWord>> = {
  help: ['Lists these words.', () => ({ choice: { text: help() } })],
  tool: [
    'Calls the first tool that the request offers; tool:get_weather calls that tool. A request with the result gets text.',
    chosenToolCall,
  ],
  slow: [
    'Streams 5 pieces a second after a pause of one second.',
    { pace: { firstTokenMs: 1000, tokensPerSecond: 5 } },
  ],
  refusal: ['Refuses, with a refusal in the message.', { choice: { text: null, refusal: refusalText } }],
  empty: ['Answers with an empty text.', { choice: { text: '' } }],
  json: ['Answers with a JSON object.', { choice: { text: sampleJson } }],
  long: ['Answers with about 2,000 words.', { choice: { text: long } }],
  markdown: ['Answers with Markdown: headings, lists, a table, code.', { choice: { text: markdown } }],
  unicode: [
    'Answers with emoji, Chinese, Japanese, Korean, right-to-left text and combining characters.',
    { choice: { text: unicode } },
  ],
  reasoning: ['Reasons before it answers.', { choice: { reasoning } }],
  // The faults, by the names that they have everywhere.
  ...Object.fromEntries(
    faultWords.map(({ word, meaning, fault }): [string, MagicWord] => [
      word,
      [meaning, word === 'interleave' ? request => mixedToolCalls(request) : () => faultEffect(word, fault)],
    ]),
  ),
}

/** A word may be part of a sentence, in brackets or followed by a full stop. A word in quotes is only mentioned. */
const written = /(?<![^\s([])standin:(\S{1,200})/g

/** Whether a prompt contains a magic word, or a text that is probably a misspelt one. */
export const hasMagic = (prompt: string) => prompt.search(written) >= 0

/**
 * The answer to a prompt with magic words. If two words set the same thing, the first one wins. Rejects with a
 * PlatformError for an unknown word, and for a tool that is not offered.
 */
export async function magicReply(request: ChatRequest, prompt: string, seed: number): Promise<Generation> {
  const found = Array.from(prompt.matchAll(written), ([, word = '']) =>
    word.replace(/(?<![.,;:!?)"'\]}])[.,;:!?)"'\]}]+$/, ''),
  )
  const words = [...new Set(found)].slice(0, MOST_WORDS)
  const effects = words.map(word => effectOf(word, request))
  const merged = <T>(parts: readonly (T | undefined)[]): Partial<T> => Object.assign({}, ...parts.toReversed())
  const fault = merged(effects.map(effect => effect.fault))
  const pace = merged(effects.map(effect => effect.pace))
  const tools = effects.find(({ calls }) => calls)?.calls ?? []
  // Two calls of one tool differ.
  const made = await Promise.all(tools.map((tool, i) => callsOf(tool, request, seed + i)))
  const toolCalls = made.flatMap(([call]) => call?.toolCalls ?? [])
  const called = toolCalls.length > 0 ? { text: null, toolCalls } : undefined
  const choice = merged([...effects.map(effect => effect.choice), called])
  const hasAnswer = choice.text !== undefined || fault.status !== undefined
  const usual = hasAnswer ? [{ text: '' }] : (await defaultReply(request, seed)).choices
  return {
    choices: usual.map(one => ({ ...one, ...choice })),
    ...(Object.keys(fault).length > 0 && { fault }),
    ...(Object.keys(pace).length > 0 && { pace }),
    answeredBy: { kind: 'magic', words },
  }
}

function effectOf(written: string, request: ChatRequest): Effect {
  const word = currentWord(written)
  const [, name = word, detail = ''] = /^(tool):(.+)$/.exec(word) ?? []
  const known = Object.hasOwn(magicWords, name) ? magicWords[name] : undefined
  if (known) return typeof known[1] === 'function' ? known[1](request, detail) : known[1]
  const fault = faultOfWord(word)
  if (fault) return faultEffect(word, fault)
  const names = Object.keys(magicWords)
  const near = didYouMean(
    MAGIC_PREFIX + word.slice(0, 40),
    names.map(name => MAGIC_PREFIX + name),
    MAGIC_PREFIX,
  )
  throw unknownMagic(MAGIC_PREFIX + written, near, names)
}

const help = () =>
  Object.entries(magicWords)
    .map(([word, [meaning]]) => `${MAGIC_PREFIX}${word} ${meaning}`)
    .join('\n')

/** The error of a status says where it comes from. */
function faultEffect(word: string, fault: Fault): Effect {
  const { status } = fault
  if (status === undefined) return { fault }
  const message = `Status ${status}, because the prompt says ${MAGIC_PREFIX}${word}.`
  return { fault: { ...fault, message, ...([429, 503].includes(status) && { retryAfter: 1 }) } }
}

function chosenToolCall(request: ChatRequest, wanted: string): Effect {
  const reported = reportedResult(request)
  if (reported) return reported
  const tools = offeredTools(request)
  const tool = wanted === '' ? tools[0] : tools.find(({ name }) => name === wanted)
  if (tool) return { calls: [tool] }
  const names = tools.map(({ name }) => name)
  throw tools.length === 0
    ? noToolOffered(`${MAGIC_PREFIX}tool`)
    : toolNotOffered(wanted, didYouMean(wanted, names), names)
}

function mixedToolCalls(request: ChatRequest): Effect {
  const [first, second = first] = offeredTools(request)
  const reported = reportedResult(request)
  if (reported) return reported
  if (!first || !second) throw noToolOffered(`${MAGIC_PREFIX}interleave`)
  return { calls: [first, second], fault: { interleave: true } }
}

/** A request with a tool result repeats the same prompt, which would otherwise be answered with tool calls forever. */
function reportedResult({ messages }: ChatRequest): Effect | undefined {
  const last = messages.at(-1)
  const isResult = last?.role === 'tool' || last?.role === 'function'
  return isResult ? { choice: { text: `The tool says: ${textOf(last)}` } } : undefined
}

/** For a word such as `standin:slwo` in a prompt. `near` is a sentence that suggests the intended word. */
const unknownMagic = (written: string, near: string, words: readonly string[]) =>
  refusal(
    400,
    'unknown_magic',
    `The prompt says ${quotedStart(written)}, which is not a magic word.${near} After "standin:" use ${alternatives(words)}.`,
  )

const noToolOffered = (written: string) =>
  refusal(400, 'no_tool_offered', `The prompt says "${written}", but the request offers no tool to call.`)

const toolNotOffered = (name: string, near: string, offered: readonly string[]) =>
  refusal(
    400,
    'tool_not_offered',
    `The prompt asks for the tool ${quotedStart(name)}, which the request does not offer.${near} It offers ${alternatives(offered)}.`,
  )
