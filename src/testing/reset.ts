/** Brings a platform back to how it was when it started. */
import { isDeepStrictEqual } from 'node:util'
import * as v from 'valibot'
import { closed, optional } from '../check/check.js'
import type { StateDocument } from '../core/state-document.js'
import type { Platform } from '../platform.js'
import { checking } from './checked.js'
import type { Keys } from './keys.js'

export interface ResetOptions {
  /**
   * False to keep users, sessions, keys and the outbox as they are. A state that is not in memory may be somebody else's too, and
   * always stays as it is.
   */
  readonly state?: boolean
}

const optionsOf = checking(
  'reset',
  closed({ state: optional(v.boolean('true or false'), 'Whether users, keys and messages go as well.') }),
)

export interface Resetting {
  reset(options?: ResetOptions): Promise<void>
}

/** Takes a platform that has just started. */
export async function createResetting(platform: Platform, keys: Keys): Promise<Resetting> {
  const { clock, forTests, loaded } = platform
  const first = loaded.config.state === 'memory' ? await platform.exportState() : undefined

  async function restore(document: StateDocument): Promise<void> {
    if (isDeepStrictEqual(await platform.exportState(), document)) return
    await platform.importState(document)
    await keys.plantAgain()
  }

  async function reset(options: ResetOptions = {}): Promise<void> {
    const { state = true } = optionsOf(options)
    const { mode, modes } = forTests.configuredModes()
    await platform.reset()
    clock.reset()
    platform.switchMode(mode, modes)
    if (state && first) await restore(first)
  }

  // Nobody is to meet a platform that is half reset.
  return { reset: options => forTests.traffic.hold(() => reset(options)) }
}
