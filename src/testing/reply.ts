/** Makes rules of what tests have the model say. */
import type { RuleInput } from '../replies/index.js'

/** What the model says, as in a rule. */
export type ReplyForm = NonNullable<RuleInput['reply']>

/** A text, what is said in the form of a rule's `reply`, several of those that are said in turn, or a whole rule. */
export type ReplyInput = string | ReplyForm | readonly (string | ReplyForm)[] | RuleInput

/** When it is said, and how. */
export type ReplyOptions = Omit<RuleInput, 'reply' | 'replies'>

/** Rules are told by these; what is said has none of them. */
const ofRules = ['reply', 'replies', 'when', 'name', 'times', 'priority', 'scenario', 'pace', 'then']

/** A rule is not checked here: whoever takes it does that. */
export function ruleFrom(input: ReplyInput, options: ReplyOptions = {}): RuleInput {
  if (Array.isArray(input)) return { ...options, replies: input.map(formOf) }
  if (typeof input === 'object' && input !== null && ofRules.some(key => key in input))
    return { ...(input as RuleInput), ...options }
  return { ...options, reply: formOf(input as string | ReplyForm) }
}

const formOf = (said: string | ReplyForm): ReplyForm => (typeof said === 'string' ? { text: said } : said)
