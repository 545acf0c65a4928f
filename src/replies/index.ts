/** What the emulated model says: the one front door of this part. */
import type { ChatRequest } from '../core/chat.js'
import { check } from '../core/check.js'
import type { Pace } from '../core/exchange.js'
import { ProblemsError } from '../core/problem.js'
import { fakeReply } from './fake.js'
import { type CannedReply, lastUserText, type ReadyRule, type RuleInput, readyRule, rulesSchema } from './rules.js'

export { findReplyFiles, loadRules, type ReplyFiles } from './load.js'
export { type CannedReply, type ReadyRule, type RuleInput, rulesSchema } from './rules.js'

/** Says what the model says. A promise only where the reply has to be made up first. */
export interface Replies {
  answer(request: ChatRequest): CannedReply | Promise<CannedReply>
}

/** Answers from the first of `rules` that matches, and where none does from `seed` and the request itself. */
export function createReplies({
  rules,
  seed,
  pace,
}: {
  rules: readonly ReadyRule[]
  seed: number
  pace: Pace
}): Replies {
  return {
    answer(request) {
      const text = lastUserText(request)
      for (const rule of rules) if (rule.matches(request, text)) return rule.reply
      return fakeReply(request, seed).then(text => ({ text, pace, source: 'canned reply' }))
    },
  }
}

/** Makes rules that were written in code ready. Throws a ProblemsError that names the rule and the field. */
export function rulesFromCode(rules: readonly RuleInput[], pace: Pace): readonly ReadyRule[] {
  const checked = check(rulesSchema, rules, { whole: 'rules' })
  if ('value' in checked) return checked.value.map((rule, i) => readyRule(rule, `rules[${i}]`, pace))
  throw new ProblemsError(checked.mistakes.map(({ sentence }) => ({ origin: 'rules', sentence })))
}
