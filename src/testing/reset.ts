/** Restores the state of a platform at its start. */
import * as v from 'valibot'
import { closed, optional } from '../check/check.js'
import { checking } from './checked.js'

export interface TestReset {
  /**
   * False to keep users, sessions, keys and the outbox. A state that is not in memory may be shared with others and is always
   * kept.
   */
  readonly state?: boolean | undefined
}

export const resetOptions = checking(
  'reset',
  closed({ state: optional(v.boolean('true or false'), 'Whether users, keys and messages are removed as well.') }),
)
