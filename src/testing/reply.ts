/** Makes rules and faults of what a test asks for. */
import type { Fault, FaultCallInput } from '../core/fault.js'
import type { Platform } from '../platform.js'
import type { RuleInput } from '../replies/index.js'
import type { Awaitable } from './journal.js'

/** What the model says, as in a rule. */
export type ReplySchema = NonNullable<RuleInput['reply']>

/** A text, what is said in the form of a rule's `reply`, several of those that are said in turn, or a whole rule. */
export type ReplyInput = string | ReplySchema | readonly (string | ReplySchema)[] | RuleInput

/** When it is said, and how. */
export type ReplyOptions = Omit<RuleInput, 'reply' | 'replies'>

/** Rules are told by these; what is said has none of them. */
const ofRules = ['reply', 'replies', 'when', 'name', 'times', 'priority', 'scenario', 'pace', 'then']

/** A rule is not checked here: whoever takes it does that. */
export function ruleFrom(input: ReplyInput, options: ReplyOptions = {}): RuleInput {
  if (Array.isArray(input)) return { ...options, replies: input.map(formOf) }
  if (typeof input === 'object' && input !== null && ofRules.some(key => key in input))
    return { ...(input as RuleInput), ...options }
  return { ...options, reply: formOf(input as string | ReplySchema) }
}

const formOf = (said: string | ReplySchema): ReplySchema => (typeof said === 'string' ? { text: said } : said)

/** Which requests a fault is for. */
export interface FailOptions extends Omit<FaultCallInput, 'fault' | 'when'> {
  readonly when?: RuleInput['when']
}

export type FailNext<R = void> = (fault: Fault, options?: FailOptions) => R

/** Has the next requests fail. */
export const failing =
  (platform: Pick<Platform, 'failNext'>, scope?: string): FailNext =>
  (fault, { when, ...options } = {}) =>
    platform.failNext({ ...(scope !== undefined && { scope }), ...options, ...(when && { when: { ...when } }), fault })

/** What the model was given to say. */
export interface SharedGiven {
  readonly id: string
  /** How often it was said. */
  readonly count: Awaitable<number>
  /** It is said no more. */
  remove(): Promise<void>
}

/** The same where the platform is in this process. */
export interface Given extends SharedGiven {
  readonly count: number
}

/** Has the model say something from now on. */
export type ReplyWith<G extends SharedGiven = Given> = (said: ReplyInput, options?: ReplyOptions) => Promise<G>

/** Requests that come from now on wait until a rule is in its place, whether or not whoever adds it does. */
export function giving({ rules, forTests }: Pick<Platform, 'rules' | 'forTests'>, scope?: string): ReplyWith {
  const { hold } = forTests.traffic
  return async (said, options) => {
    const { id, answered } = await hold(() => rules.add(ruleFrom(said, options), { scope }))
    return {
      id,
      get count() {
        return answered()
      },
      remove: () => hold(async () => void (await rules.remove({ id }))),
    }
  }
}
