/** Creates rules and faults from the arguments of a test. */
import { plainJson } from '../check/plain-json.js'
import type { FaultCallInput, FaultInput } from '../core/fault.js'
import { faultCallFromCode } from '../faults/index.js'
import type { ChatRuleInput, RuleInput } from '../replies/index.js'
import type { Door, ScopeQuery } from './door.js'

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

export type FailNext = (fault: FaultInput, options?: FailOptions) => Promise<void>

export const createFailNext =
  ({ control }: Pick<Door, 'control'>, scopeQuery: ScopeQuery): FailNext =>
  async (fault, options = {}) => {
    const call = plainJson({ ...scopeQuery, ...options, fault }, { origin: 'failNext', isRule: true })
    faultCallFromCode(call as FaultCallInput)
    await control('POST /faults', { body: call as never })
  }

/** A reply that was added. */
export interface AddedReply {
  readonly id: string
  /** How often it was used. */
  readonly count: Promise<number>
  /** Removes the reply. */
  remove(): Promise<void>
}

/** Adds a reply for the model. */
export type AddReply = (reply: ReplyInput, options?: ReplyOptions) => Promise<AddedReply>

export const createAddReply =
  ({ control }: Pick<Door, 'control'>, scopeQuery: ScopeQuery): AddReply =>
  async (reply, options) => {
    const rule = plainJson(ruleFrom(reply, options), { origin: 'the rule', isRule: true })
    const { data } = await control('POST /replies', { query: scopeQuery, body: rule as never })
    const id = data[0]?.id ?? ''
    const current = async () => (await control('GET /replies', { query: scopeQuery })).data.find(rule => rule.id === id)
    let latest = 0
    const count = async () => {
      // A rule that is gone keeps its last count.
      latest = (await current())?.answered ?? latest
      return latest
    }
    return {
      id,
      get count() {
        return count()
      },
      async remove() {
        const [, removed] = await Promise.allSettled([count(), control('DELETE /replies/{id}', { id })])
        // A reset may have removed it already.
        if (removed.status === 'rejected' && (await current())) throw removed.reason
      },
    }
  }
