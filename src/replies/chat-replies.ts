/** The emulated model's answers to chat completions: by rule, by magic words, or generated. Not in chat.ts, which is loaded to read rules. */

import type { Generation } from '../chat/generation.js'
import type { ChatRequest } from '../chat/request.js'
import { noRuleMatches } from '../core/errors.js'
import type { Exchange } from '../core/exchange.js'
import type { Fault } from '../core/fault.js'
import type { ReadyChatReply } from './chat-reply.js'
import { chat } from './chat-reply.js'
import { type ChatCircumstances, ChatInput, findChat } from './conditions/chat-input.js'
import { defaultReply } from './default-reply.js'
import type { ReadyRule } from './dialect.js'
import { createEngine, type RuleSources } from './engine.js'
import { type Explanation, explanationOf, nearestSentence } from './explain.js'
import { hasMagic, MAGIC_PREFIX, magicReply } from './magic.js'
import { asksForForm, canJudge, loadJudge } from './mismatch.js'

/** How chat completions are answered without a rule. */
export interface ChatSettings {
  readonly seed: number
  /** Whether a request that no rule matches is an error. */
  readonly strict: boolean
}

type Parts = RuleSources & ChatSettings

export function createChatReplies(parts: Parts) {
  const { seed, memory } = parts
  const { rulesFor, take, mayFail } = createEngine(chat, parts)
  return {
    /** A promise only if something has to be generated first. Throws a 424 if no rule matches and one is required. */
    answer(request: ChatRequest, circumstances?: ChatCircumstances): Generation | Promise<Generation> {
      const input = new ChatInput(request, circumstances)
      if (input.user.includes(MAGIC_PREFIX) && hasMagic(input.user)) return magicReply(request, input.user, seed)
      const chosen = take(input)
      if (!chosen) return withoutRule(input, rulesFor(input.scope), parts)
      const generation = chosen.reply.always ?? chosen.reply.generate(input, chosen.count)
      // Most requests ask for no format, and need no call to find that out.
      const needsCheck = (request.response_format != null && asksForForm(request)) || chosen.reply.calls.length > 0
      return needsCheck && !canJudge() ? loadJudge().then(() => generation) : generation
    },
    /** Says which rule would answer, without counting it as an answer. */
    explain(request: ChatRequest, circumstances?: ChatCircumstances): Explanation {
      const input = new ChatInput(request, circumstances)
      const isMagic = hasMagic(input.user)
      const { reply, ...explanation } = explanationOf(input, {
        rules: rulesFor(input.scope),
        memory,
        isMagic,
        letters: input.user.length,
        otherwise: async nearest => (isMagic ? magicReply(request, input.user, seed) : madeUp(input, parts, nearest)),
      })
      // The code that checks replies is loaded with the first reply that needs it.
      return { ...explanation, reply: () => loadJudge().then(reply) }
    },
    /** The fault of the rule that answers an exchange. Counts as an answer. */
    faultFor(exchange: Exchange): Promise<Fault | undefined> | undefined {
      if (!mayFail(exchange.scope)) return undefined
      const request = findChat(exchange)
      return Promise.resolve(request && take(new ChatInput(request, exchange))?.reply.fault)
    },
  }
}

function withoutRule(input: ChatInput, rules: readonly ReadyRule<ReadyChatReply>[], parts: Parts): Promise<Generation> {
  const { memory } = parts
  const nearest = () => nearestSentence(input, { rules, memory, letters: input.user.length })
  const reply = madeUp(input, parts, nearest)
  return rules.length > 0 ? reply.then(generation => ({ ...generation, remark: nearest })) : reply
}

/** Throws a 424 that names the nearest rule if a rule is required. */
function madeUp({ request }: ChatInput, { strict, seed }: Pick<Parts, 'strict' | 'seed'>, nearest: () => string) {
  if (strict) throw noRuleMatches(nearest())
  return defaultReply(request, seed)
}
