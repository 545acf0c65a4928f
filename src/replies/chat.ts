/** The dialect of rules for chat completions: what the emulated model says, and when. */
import { demandOf } from '../completions/tools.js'
import { alternatives } from '../core/errors.js'
import { chatReplyOf, type ReadyChatReply } from './chat-reply.js'
import type { ChatInput } from './conditions/chat-input.js'
import { compileWhen, userTextOf } from './conditions/compile.js'
import type { Dialect } from './dialect.js'
import { createRuleIndex, WORTH_INDEXING } from './rule-index.js'
import type { ChatRule } from './rules.js'
import { hasTemplate } from './templates.js'

const whenOf = (rule: object) => (rule as ChatRule).when ?? {}

export const chat: Dialect<ChatInput, ReadyChatReply> = {
  conditions: rule => compileWhen(whenOf(rule)),
  compileReply: (form, path, owner, texts) => chatReplyOf(form as NonNullable<ChatRule['reply']>, path, owner, texts),
  index(rules) {
    if (rules.length < WORTH_INDEXING) return {}
    const { candidates } = createRuleIndex(rules, ({ written }) => userTextOf(whenOf(written))?.needles ?? [])
    return { candidates: ({ user }) => candidates(user) }
  },
  objection: toolChoiceObjection,
}

/** A model never does what `tool_choice` rules out. Returns why a reply is skipped for that reason, or `undefined`. */
function toolChoiceObjection(
  { hasContent, calls, suitsEveryRequest }: ReadyChatReply,
  { request }: ChatInput,
): string | undefined {
  if (suitsEveryRequest) return undefined
  const { calls: demand, names } = demandOf(request)
  // The result of a template is not known yet.
  const callable = names ? calls.filter(name => names.includes(name) || hasTemplate(name)) : calls
  if (demand === 'required' && callable.length === 0) {
    return names
      ? `tool_choice asks for ${alternatives(names)}, which it does not call`
      : 'tool_choice is required, and it calls no tool'
  }
  if (hasContent || calls.length === 0) return undefined
  if (demand === 'ruled out') return 'tool_choice is none, and it only calls tools'
  return callable.length > 0
    ? undefined
    : `tool_choice allows ${alternatives(names ?? [])} only, which it does not call`
}
