/** Has the next requests fail. */
import type { Fault, FaultCallInput } from '../core/fault.js'
import type { Platform } from '../platform.js'
import type { RuleInput } from '../replies/index.js'

/** Which requests a fault is for. */
export interface FailOptions extends Omit<FaultCallInput, 'fault' | 'when'> {
  readonly when?: RuleInput['when']
}

export type FailNext<R = void> = (fault: Fault, options?: FailOptions) => R

export const failing =
  (platform: Pick<Platform, 'failNext'>, scope?: string): FailNext =>
  (fault, { when, ...options } = {}) =>
    platform.failNext({ ...(scope !== undefined && { scope }), ...options, ...(when && { when: { ...when } }), fault })
