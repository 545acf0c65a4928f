/** Creates rules and faults from the arguments of a test. */
import type { FaultCallInput, FaultInput } from '../core/fault.js'
import type { Platform } from '../platform.js'
import type { ChatRuleInput, RuleInput } from '../replies/index.js'
import type { Awaitable } from './journal.js'

type ReplySchema = NonNullable<ChatRuleInput['reply']>

/** A text, an object like a rule's `reply`, a list of these for successive answers, or a rule. */
export type ReplyInput = string | ReplySchema | readonly (string | ReplySchema)[] | RuleInput

/** The other fields of a rule: when the reply is used, and how. */
export type ReplyOptions = Omit<ChatRuleInput, 'reply' | 'replies'>

/** Keys that make an object a rule; a reply has none of them. */
const ruleKeys = ['on', 'reply', 'replies', 'when', 'name', 'times', 'priority', 'scenario', 'pace', 'then']

/** Returns the rule without validating it. It is validated when it is added. */
export function ruleFrom(input: ReplyInput, options: ReplyOptions = {}): RuleInput {
  if (Array.isArray(input)) return { ...options, replies: input.map(replyFrom) }
  if (typeof input === 'object' && input !== null && ruleKeys.some(key => key in input))
    return { ...(input as RuleInput), ...options }
  return { ...options, reply: replyFrom(input as string | ReplySchema) }
}

const replyFrom = (reply: string | ReplySchema): ReplySchema => (typeof reply === 'string' ? { text: reply } : reply)

/** Which requests a fault applies to. */
export interface FailOptions extends Omit<FaultCallInput, 'fault' | 'when'> {
  readonly when?: ChatRuleInput['when'] | undefined
}

export type FailNext<R = void> = (fault: FaultInput, options?: FailOptions) => R

export const createFailNext =
  (platform: Pick<Platform, 'failNext'>, scope?: string): FailNext =>
  (fault, { when, ...options } = {}) =>
    platform.failNext({ ...(scope !== undefined && { scope }), ...options, ...(when && { when: { ...when } }), fault })

/** A reply that was added. */
export interface SharedAddedReply {
  readonly id: string
  /** How often it was used. */
  readonly count: Awaitable<number>
  /** Removes the reply. */
  remove(): Promise<void>
}

export interface AddedReply extends SharedAddedReply {
  readonly count: number
}

/** Adds a reply for the model. */
export type AddReply<R extends SharedAddedReply = AddedReply> = (
  reply: ReplyInput,
  options?: ReplyOptions,
) => Promise<R>

/** Later requests wait until the rule is in place, even if the caller does not await it. */
export function createAddReply({ rules, forTests }: Pick<Platform, 'rules' | 'forTests'>, scope?: string): AddReply {
  const { hold } = forTests.traffic
  return async (reply, options) => {
    const { id, answered } = await hold(() => rules.add(ruleFrom(reply, options), { scope }))
    return {
      id,
      get count() {
        return answered()
      },
      remove: () => hold(async () => void rules.remove({ id })),
    }
  }
}
