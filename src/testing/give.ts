/** Has the model say something from now on. */
import type { Platform } from '../platform.js'
import type { Awaitable } from './journal.js'
import { type ReplyInput, type ReplyOptions, ruleFrom } from './reply.js'

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

export type Reply<G extends SharedGiven = Given> = (said: ReplyInput, options?: ReplyOptions) => Promise<G>

/** Requests that come from now on wait until a rule is in its place, whether or not whoever adds it does. */
export function giving({ rules, forTests }: Pick<Platform, 'rules' | 'forTests'>, scope?: string): Reply {
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
