/** Brings a platform back to how it was when it started. */
import * as v from 'valibot'
import { closed, optional } from '../check/check.js'
import type { Platform } from '../platform.js'
import { checking } from './checked.js'

export interface TestReset {
  /**
   * False to keep users, sessions, keys and the outbox as they are. A state that is not in memory may be somebody else's too, and
   * always stays as it is.
   */
  readonly state?: boolean
}

export const resetOptions = checking(
  'reset',
  closed({ state: optional(v.boolean('true or false'), 'Whether users, keys and messages go as well.') }),
)

export interface Resetting {
  reset(options?: TestReset): Promise<void>
}

export function createResetting({ reset }: Platform): Resetting {
  return { reset: (options = {}) => reset({ state: resetOptions(options).state }) }
}
