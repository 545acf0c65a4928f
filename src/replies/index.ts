/** What the emulated model says: the one front door of this part. */
import type { ChatRequest } from '../core/chat.js'
import { noRuleMatches } from '../core/errors.js'
import type { Exchange } from '../core/exchange.js'
import type { Fault } from '../core/fault.js'
import { chatIn } from '../core/read-chat.js'
import { Asked } from './conditions/asked.js'
import { createEngine, createMemory } from './engine.js'
import { seedOf } from './fake.js'
import type { LoadedRules } from './load.js'
import { hasMagic, magicOf, saysItself, withMagic } from './magic.js'
import { nearestSentence } from './nearest.js'
import type { ReadyRule } from './ready-rule.js'
import type { Said } from './said.js'
import { loadStructured } from './structured/index.js'
import { unasked } from './unasked.js'

export { type Finding, lint } from './lint.js'
export { findReplyFiles, joined, type LoadedRules, loadRules, type ReplyFiles, rulesFromCode } from './load.js'
export { magicWords } from './magic.js'
export { type RuleInput, rulesSchema } from './rules.js'
export type { Choice, FinishReason, Said, ToolCall, UsageInput } from './said.js'

/** Who asks, beside what. */
type Circumstances = ConstructorParameters<typeof Asked>[1]

/** Says what the model says. */
export interface Replies {
  /** A promise only where something has to be made up first. Throws a 424 where no rule matches and one has to. */
  answer(request: ChatRequest, circumstances?: Circumstances): Said | Promise<Said>
  /** What a rule says is to go wrong with the answer to an exchange, whoever gives that. */
  faultFor(exchange: Exchange): Promise<Fault | undefined>
  /** Says which rule would answer, without its answering. */
  explain(request: ChatRequest, circumstances?: Circumstances): Explanation
}

/** Which rule answers a request, and why not another. */
export interface Explanation {
  /** `undefined` where none does. */
  readonly rule: ReadyRule | undefined
  /** The rules that were tried before it, each with its reasons: sentences without their ends. */
  readonly passed: readonly { readonly rule: ReadyRule; readonly reasons: readonly string[] }[]
  /** A sentence about the rule that came nearest. */
  readonly nearest: string
}

interface Wanted {
  readonly rules: LoadedRules['rules']
  readonly seed: number
  /** Whether a request that no rule matches is an error. */
  readonly strict: boolean
  /** Whether magic words in a prompt do what they say. */
  readonly magic: boolean
}

/** Answers from the first of `rules` that matches, and where none does from `seed` and the request itself. */
export function createReplies({ rules, seed, strict, magic }: Wanted): Replies {
  const engine = createEngine(rules, createMemory())

  function withoutRule(asked: Asked): Promise<Said> {
    if (strict) throw noRuleMatches(nearestSentence(engine, asked))
    const made = unasked(asked.request, seed)
    if (engine.rules.length === 0) return made
    return made.then(said => ({ ...said, remark: () => nearestSentence(engine, asked) }))
  }

  async function withMagicWords({ request, user }: Asked): Promise<Said> {
    const { sample } = await loadStructured()
    const asked = magicOf(request, user, schema => sample(schema, seedOf(request, seed)))
    if (!asked) return unasked(request, seed)
    return withMagic(saysItself(asked) ? nothing : await unasked(request, seed), asked)
  }

  return {
    answer(request, circumstances) {
      const asked = new Asked(request, circumstances)
      if (magic && hasMagic(asked.user)) return withMagicWords(asked)
      return engine.said(asked) ?? withoutRule(asked)
    },
    explain(request, circumstances) {
      const asked = new Asked(request, circumstances)
      const rule = engine.find(asked)
      const before = engine.rules.slice(0, rule ? engine.rules.indexOf(rule) : undefined)
      const passed = before.map(rule => ({ rule, reasons: engine.reasonsAgainst(rule, asked) }))
      return { rule, passed, nearest: nearestSentence(engine, asked) }
    },
    async faultFor(exchange) {
      if (!engine.rules.some(({ fails }) => fails)) return undefined
      const request = readable(exchange)
      return request && engine.fault(new Asked(request, exchange))
    },
  }
}

/** Stands where what would be said otherwise is of no use. */
const nothing: Said = { choices: [{ text: '' }], source: '' }

/** What is no chat completion request for us may be one for whoever answers. */
function readable(exchange: Exchange): ChatRequest | undefined {
  try {
    return chatIn(exchange)
  } catch {
    return undefined
  }
}
