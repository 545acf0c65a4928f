/** The state of a platform: users, sessions, keys and messages, starting with the configured ones. */
import { randomUUID } from 'node:crypto'
import { ProblemsError, StartError } from '../check/problem.js'
import type { LoadedConfig } from '../config/load.js'
import type { Clock } from '../core/clock.js'
import { isStateUnavailable, PlatformError } from '../core/errors.js'
import type { Scopes } from '../core/scope.js'
import { type State, TakenError } from '../core/state.js'
import { once } from '../core/work.js'
import type { ApiKeys } from '../keys/api-keys.js'
import type { Snapshot } from '../state/index.js'
import type { UserSeed } from '../supabase/seeds.js'
import type { ResetOptions } from './part.js'
import { hasResources, resourcesOf } from './resources.js'

export interface StateOrigin {
  /** The process that holds the state in memory; null for a state that survives a restart. */
  readonly run: string | null
  /** How often a reset has replaced the state as a whole. */
  readonly replaced: number
}

interface Dependencies {
  readonly loaded: LoadedConfig
  readonly clock: Clock
  /** Collects the times when keys were used. They are written before the state is replaced. */
  readonly apiKeys: ApiKeys
  readonly scopes: Pick<Scopes, 'byKey'>
  readonly warn: (sentence: string) => void
  readonly report: (error: unknown) => void
  /** Called when a session, user or key has ended. */
  readonly onRevoked: () => void
}

export function createStatePart({ loaded, clock, apiKeys, scopes, warn, report, onRevoked }: Dependencies) {
  /** The current configuration, and when its users and keys were added to the state. */
  let seeded: SeededConfig = { loaded, atMs: 0 }
  const initialState = createInitialState(loaded.dir)
  const isInMemory = loaded.config.state === 'memory'
  const get = once(async () => {
    const opened = await openSeeded(loaded, clock.now, warn)
    seeded = opened.seeded
    opened.state.onRevoked(onRevoked)
    return opened.state
  })
  const run = isInMemory ? randomUUID() : null
  let replaced = 0

  /** Restores the configured users and keys. Keys of scopes stay, unless they belong to a user, expire or were revoked. */
  async function restore(): Promise<void> {
    const initial = await initialState(seeded)
    await apiKeys.flush()
    const { restoreRows } = await loadState()
    const isChanged = await (await get()).write(async tables => {
      const unowned = await tables.api_keys.find({ user_id: null, expires_at: null, revoked_at: null })
      // The newest first, as in any snapshot.
      const api_keys = [...unowned.filter(({ id }) => scopes.byKey.has(id)), ...initial.api_keys]
      return restoreRows(tables, { ...initial, api_keys })
    })
    if (isChanged) replaced++
  }

  return {
    /** The state, opened by the first call. */
    get,
    open: get,
    /** By this, a signed-in client knows whether its session can still exist. */
    origin: (): StateOrigin => ({ run, replaced }),
    async prepare(next: LoadedConfig) {
      const put = await seedState(await get(), next, clock.now())
      return () => {
        seeded = put
      }
    },
    async reset({ scope, state = true }: ResetOptions) {
      // A reset leaves a persistent state alone, since other processes may share it.
      if (scope === undefined && state && isInMemory) await restore()
      // The rows of a scope belong to one test, so they are reset in any kind of state.
      if (scope !== undefined && hasResources(seeded.loaded)) await forgetRows(await get(), scope)
    },
    close: () => closeState(get, apiKeys, { report, keys: isInMemory ? [] : [...scopes.byKey.keys()] }),
  }
}

/** Opens the state with the configured users and keys in it. */
async function openSeeded(loaded: LoadedConfig, now: () => number, warn: Dependencies['warn']) {
  const { openState } = await loadState()
  let tell = warn
  const state = await openState(loaded.config.state, { dir: loaded.dir, warn: sentence => tell(sentence) })
  // A problem that ends the start is reported once, by its error.
  let warning = ''
  tell = sentence => {
    warning = sentence
  }
  try {
    const seeded = await seedState(state, loaded, now())
    tell = warn
    return { state, seeded }
  } catch (error) {
    await state.close()
    throw isStateUnavailable(error) ? new StartError(warning) : error
  }
}

async function forgetRows(state: State, scope: string): Promise<void> {
  const { removeScope: forgetScope } = await import('../resources/seeds.js')
  await forgetScope(state, scope)
}

const loadState = () => import('../state/index.js')

interface SeededConfig {
  readonly loaded: LoadedConfig
  readonly atMs: number
}

/** The initial state of this configuration, created on first use by a start with it. */
function createInitialState(dir: string) {
  let cached: { readonly seeded: SeededConfig; readonly rows: Snapshot } | undefined
  return async (seeded: SeededConfig): Promise<Snapshot> => {
    if (cached?.seeded === seeded) return cached.rows
    const { openState, snapshotOf } = await loadState()
    const state = await openState('memory', { dir })
    await seedState(state, seeded.loaded, seeded.atMs)
    cached = { seeded, rows: await snapshotOf(state) }
    return cached.rows
  }
}

/** Adds the configured users and keys to the state. Rejects with a ProblemsError if they conflict with it. */
async function seedState(state: State, loaded: LoadedConfig, atMs: number): Promise<SeededConfig> {
  const { plantSeeds } = await import('../supabase/seeds.js')
  await plantSeeds(state, loaded.config, atMs).catch(error => {
    const isConflict = error instanceof TakenError || (error instanceof PlatformError && !isStateUnavailable(error))
    if (!isConflict) throw error
    const sentence = `users and apiKeys conflict with what the state already has. ${error.message}`
    throw new ProblemsError([{ origin: loaded.originOf(['users']), sentence }])
  })
  if (hasResources(loaded)) {
    const { seedResources: plantResources } = await import('../resources/seeds.js')
    await plantResources(state, (await resourcesOf(loaded)).resources, atMs)
  }
  return { loaded, atMs }
}

interface Closing {
  /** The keys of scopes: only this process knows their scopes, so they end with it. */
  readonly keys: readonly string[]
  readonly report: (error: unknown) => void
}

/** Closes the state, and does not wait long for an unreachable database. What was acknowledged is already stored. */
async function closeState(get: () => Promise<State>, apiKeys: ApiKeys, { report, keys }: Closing) {
  const timeout = new Promise<void>(resolve => void setTimeout(resolve, CLOSE_MS).unref())
  await Promise.race([flushAndClose(get, apiKeys, keys).catch(report), timeout])
}

const CLOSE_MS = 1000

/** Writes what is still pending, if the state was opened. */
async function flushAndClose(get: () => Promise<State>, apiKeys: ApiKeys, keys: Closing['keys']): Promise<void> {
  const opened = await get().catch(() => undefined)
  if (!opened) return
  try {
    await apiKeys.flush()
    if (keys.length > 0)
      await opened.write(async ({ api_keys }) => {
        for (const id of keys) await api_keys.remove({ id })
      })
  } finally {
    await opened.close()
  }
}

/** The configured user with this address. The development user is not configured, and stays unchanged. */
export const configuredUser = ({ config: { users }, originOf }: LoadedConfig, email: string): UserSeed | undefined =>
  originOf(['users']) === 'default' ? undefined : users.find(seed => seed.email?.toLowerCase() === email)
