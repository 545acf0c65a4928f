/** The state of a platform, with the users and keys of its configuration in it. */
import type { ApiKeys } from '../auth/api-keys.js'
import { ProblemsError } from '../check/problem.js'
import type { LoadedConfig } from '../config/load.js'
import type { Clock } from '../core/clock.js'
import { PlatformError } from '../core/errors.js'
import { type State, TakenError } from '../core/state.js'

/** The state with the users and keys of the configuration in it. */
export async function openSeededState(
  loaded: LoadedConfig,
  clock: Clock,
  warn?: (sentence: string) => void,
): Promise<State> {
  const { config, dir } = loaded
  const { openState } = await import('../state/index.js')
  const state = await openState(config.state, { dir, warn })
  try {
    await plant(state, loaded, clock)
    return state
  } catch (error) {
    await state.close()
    throw error
  }
}

/** Puts users and keys of the configuration into the state. Rejects with a ProblemsError when they do not fit what is there. */
export async function plant(state: State, { config, originOf }: LoadedConfig, { now }: Clock): Promise<void> {
  const { plantSeeds } = await import('../auth/seeds.js')
  await plantSeeds(state, config, now).catch(error => {
    if (!(error instanceof TakenError || error instanceof PlatformError)) throw error
    const sentence = `users and apiKeys do not fit what is kept in the state already. ${error.message}`
    throw new ProblemsError([{ origin: originOf(['users']), sentence }])
  })
}

interface Opened {
  readonly state: () => Promise<State>
  readonly apiKeys: ApiKeys
}

/** Lets go of the state. A database that does not answer any more must not keep anybody from leaving; what was acknowledged is in it already. */
export async function closeState(opened: Opened, report: (error: unknown) => void): Promise<void> {
  const patience = new Promise<void>(resolve => void setTimeout(resolve, CLOSE_MS).unref())
  await Promise.race([flushAndClose(opened).catch(report), patience])
}

const CLOSE_MS = 1000

/** Writes down what is left to be written, if the state could be opened at all. */
async function flushAndClose({ state, apiKeys }: Opened): Promise<void> {
  const opened = await state().catch(() => undefined)
  if (!opened) return
  try {
    await apiKeys.flush()
  } finally {
    await opened.close()
  }
}

interface Opened {
  readonly state: () => Promise<State>
  readonly apiKeys: ApiKeys
}
