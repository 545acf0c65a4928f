/** Magic words in a prompt, which work without any rule of the user: those of a rule file in the package, tools, and faults. */
import { fileURLToPath } from 'node:url'
import type { Choice, Generation } from '../chat/generation.js'
import type { ChatRequest } from '../chat/request.js'
import { didYouMean } from '../check/suggest.js'
import { alternatives, quotedStart, refusal } from '../core/errors.js'
import { currentWord, type Fault, faultOfWord, faultWords } from '../core/fault.js'
import { once } from '../core/work.js'
import { ChatInput, toolResultsIn } from './chat/input.js'
import { callsOf, defaultReply, offeredTools } from './default-reply.js'
import { replyAt } from './engine.js'
import { loadRules } from './load.js'

export const MAGIC_PREFIX = 'standin:'

/** As far below the package in src as in dist. */
const file = fileURLToPath(new URL('../../fixtures/magic-words.yaml', import.meta.url))

const magicRules = once(async () => (await loadRules({ patterns: [file], dir: '.', required: true }, 0)).rules)

/** What a word sets. Everything else stays as it is. */
interface Effect extends Pick<Generation, 'pace' | 'fault'> {
  readonly choice?: Partial<Choice>
}

/** More than there are different words. Further words in a prompt are ignored. */
const MOST_WORDS = 50

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
  const effects = await Promise.all(words.map(word => effectOf(word, request, seed)))
  const merged = <T>(parts: readonly (T | undefined)[]): Partial<T> => Object.assign({}, ...parts.toReversed())
  const fault = merged(effects.map(effect => effect.fault))
  const pace = merged(effects.map(effect => effect.pace))
  const choice = merged(effects.map(effect => effect.choice))
  const isSilent = choice.toolCalls !== undefined || choice.refusal !== undefined
  const hasAnswer = isSilent || choice.text !== undefined || fault.status !== undefined
  const usual = hasAnswer ? [{ text: isSilent ? null : '' }] : (await defaultReply(request, seed)).choices
  return {
    choices: usual.map(one => ({ ...one, ...choice })),
    ...(Object.keys(fault).length > 0 && { fault }),
    ...(Object.keys(pace).length > 0 && { pace }),
    answeredBy: { kind: 'magic', words },
  }
}

async function effectOf(written: string, request: ChatRequest, seed: number): Promise<Effect> {
  const word = currentWord(written)
  const [isTool, tool] = /^tool(?::(.+))?$/.exec(word) ?? []
  if (isTool) return toolCalls(request, seed, 1, tool)
  if (word === 'interleave') return { ...(await toolCalls(request, seed, 2)), fault: { interleave: true } }
  const fault = faultOfWord(word)
  if (fault) return { fault: { ...fault, ...whereFrom(word, fault) } }
  const rules = await magicRules()
  const asked = new ChatInput({ ...request, messages: [{ role: 'user', content: MAGIC_PREFIX + word }] })
  const rule = rules.find(({ conditions }) => conditions.every(condition => condition.holds(asked)))
  if (!rule) throw unknownMagic(written, word, ['tool', ...rules.map(({ written: { name = '' } }) => name)])
  const { choices, ...settings } = (await replyAt(rule, 1).generate(asked, 1)) as Generation
  const { text, ...rest } = choices[0] as Choice
  const reply = rule.written.reply ?? {}
  return { ...settings, choice: 'text' in reply || 'json' in reply ? { text, ...rest } : rest }
}

/** The error of a status says where it comes from. */
function whereFrom(word: string, { status }: Fault): Partial<Fault> {
  if (status === undefined) return {}
  const message = `Status ${status}, because the prompt says ${MAGIC_PREFIX}${word}.`
  return { message, ...([429, 503].includes(status) && { retryAfter: 1 }) }
}

/** Calls the first `count` tools, or the wanted one. The result is answered with text, or the calls would never end. */
async function toolCalls(request: ChatRequest, seed: number, count: number, wanted?: string): Promise<Effect> {
  if (toolResultsIn(request.messages).length > 0) return {}
  const tools = offeredTools(request)
  const [first, second = first] = tools.filter(({ name }) => wanted === undefined || name === wanted)
  if (!first || !second) throw toolNotOffered(wanted, tools)
  // Two calls of one tool differ.
  const made = [first, second].slice(0, count).map((tool, i) => callsOf(tool, request, seed + i))
  return { choice: { toolCalls: (await Promise.all(made)).flatMap(([call]) => call?.toolCalls ?? []) } }
}

/** For a word such as `standin:slwo` in a prompt. `word` is what it is called today. */
function unknownMagic(written: string, word: string, others: readonly string[]) {
  const names = [...others, ...faultWords.map(fault => fault.word)]
  const near = didYouMean(
    MAGIC_PREFIX + word.slice(0, 40),
    names.map(name => MAGIC_PREFIX + name),
    MAGIC_PREFIX,
  )
  return refusal(
    400,
    'unknown_magic',
    `The prompt says ${quotedStart(MAGIC_PREFIX + written)}, which is not a magic word.${near} After "standin:" use ${alternatives(names)}.`,
  )
}

function toolNotOffered(wanted = '', tools: readonly { readonly name: string }[]) {
  const names = tools.map(({ name }) => name)
  if (names.length === 0)
    return refusal(400, 'no_tool_offered', 'The prompt asks for a tool call, but the request offers no tool to call.')
  return refusal(
    400,
    'tool_not_offered',
    `The prompt asks for the tool ${quotedStart(wanted)}, which the request does not offer.${didYouMean(wanted, names)} It offers ${alternatives(names)}.`,
  )
}
