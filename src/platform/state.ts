/** The state of a platform: users, sessions, keys and messages, starting with the configured ones. */
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { ProblemsError, StartError } from '../check/problem.js'
import type { Clock } from '../core/clock.js'
import { isStateUnavailable, PlatformError } from '../core/errors.js'
import type { ResetOptions } from '../core/part.js'
import type { ApiKeys } from '../keys/api-keys.js'
import { removeScope, seedResources } from '../resources/seeds.js'
import type { Scopes } from '../scopes/index.js'
import type { UserIdentity } from '../scopes/users.js'
import { openState, restoreRows, type Snapshot, snapshotOf } from '../state/index.js'
import { type State, TakenError } from '../state/rows.js'
import { plantSeeds, type UserSeed } from '../supabase/seeds.js'
import type { LoadedConfig } from './config/load.js'
import type { PreparedConfig } from './prepare.js'

export interface StateOrigin {
  /** The process that holds the state in memory; null for a state that survives a restart. */
  readonly run: string | null
  /** How often a reset has replaced the state as a whole. */
  readonly replaced: number
}

interface Dependencies {
  readonly opened: OpenedState
  readonly clock: Clock
  /** Collects the times when keys were used. They are written before the state is replaced. */
  readonly apiKeys: ApiKeys
  readonly scopes: Pick<Scopes, 'byKey'>
  readonly report: (error: unknown) => void
}

export function createStatePart({ opened: { state, seeded: first }, clock, apiKeys, scopes, report }: Dependencies) {
  /** The current configuration, and when its users and keys were added to the state. */
  let seeded = first
  const initialState = createInitialState(first.loaded.dir)
  const isInMemory = first.loaded.config.state === 'memory'
  const run = isInMemory ? randomUUID() : null
  let replaced = 0

  /** Restores the configured users and keys. Keys of scopes stay, unless they belong to a user, expire or were revoked. */
  async function restore(): Promise<void> {
    const initial = await initialState(seeded)
    await apiKeys.flush()
    const isChanged = await state.write(async tables => {
      const unowned = await tables.api_keys.find({ user_id: null, expires_at: null, revoked_at: null })
      // The newest first, as in any snapshot.
      const api_keys = [...unowned.filter(({ id }) => scopes.byKey.has(id)), ...initial.api_keys]
      return restoreRows(tables, { ...initial, api_keys })
    }, isOfReset)
    if (isChanged) replaced++
  }

  return {
    state,
    /** By this, a signed-in client knows whether its session can still exist. */
    origin: (): StateOrigin => ({ run, replaced }),
    async prepare(next: PreparedConfig) {
      const put = await seedState(state, next, clock.now())
      return () => {
        seeded = put
      }
    },
    async reset({ scope, state: isIncluded = true }: ResetOptions) {
      // A reset leaves a persistent state alone, since other processes may share it.
      if (scope === undefined && isIncluded && isInMemory) await restore()
      // The rows of a scope belong to one test, so they are reset in any kind of state.
      if (scope !== undefined && seeded.resources.length > 0) await removeScope(state, scope)
    },
    close: () => closeState(state, apiKeys, { report, keys: isInMemory ? [] : [...scopes.byKey.keys()] }),
  }
}

export interface OpenedState {
  readonly state: State
  readonly seeded: SeededConfig
}

/** Opens the state, and adds the configured users, keys and rows. */
export async function openSeededState(
  prepared: Seeds,
  now: () => number,
  warn: (sentence: string) => void,
): Promise<OpenedState> {
  const { config, dir } = prepared.loaded
  let tell = warn
  const state = await openState(config.state, { dir, warn: sentence => tell(sentence) })
  // A problem that ends the start is reported once, by its error.
  let warning = ''
  tell = sentence => {
    warning = sentence
  }
  try {
    const seeded = await seedState(state, prepared, now())
    tell = warn
    return { state, seeded }
  } catch (error) {
    await state.close()
    throw isStateUnavailable(error) ? new StartError(warning) : error
  }
}

type Seeds = Pick<PreparedConfig, 'loaded' | 'resources'>

interface SeededConfig extends Seeds {
  readonly atMs: number
}

/** The tables restore their own rows, among which are the users. */
const isOfReset = { isQuiet: true }

/** The initial state of this configuration, created on first use by a start with it. */
function createInitialState(dir: string) {
  let cached: { readonly seeded: SeededConfig; readonly rows: Snapshot } | undefined
  return async (seeded: SeededConfig): Promise<Snapshot> => {
    if (cached?.seeded === seeded) return cached.rows
    const state = await openState('memory', { dir })
    await seedState(state, seeded, seeded.atMs)
    cached = { seeded, rows: await snapshotOf(state) }
    return cached.rows
  }
}

/** Adds the configured users, keys and rows to the state. Rejects with a ProblemsError if they conflict with it. */
async function seedState(state: State, { loaded, resources }: Seeds, atMs: number): Promise<SeededConfig> {
  await plantSeeds(state, loaded.config, atMs).catch(error => {
    const isConflict = error instanceof TakenError || (error instanceof PlatformError && !isStateUnavailable(error))
    if (!isConflict) throw error
    const sentence = `users and apiKeys conflict with what the state already has. ${error.message}`
    throw new ProblemsError([{ origin: loaded.originOf(['users']), sentence }])
  })
  if (resources.length > 0) await seedResources(state, resources, atMs)
  return { loaded, resources, atMs }
}

const CLOSE_MS = 1000

interface Closing {
  /** The keys of scopes: only this process knows their scopes, so they end with it. */
  readonly keys: readonly string[]
  readonly report: (error: unknown) => void
}

/** Writes what is still pending, and closes the state. Does not wait long for an unreachable database: what was acknowledged is already stored. */
async function closeState(state: State, apiKeys: ApiKeys, { report, keys }: Closing): Promise<void> {
  async function flushAndClose(): Promise<void> {
    try {
      await apiKeys.flush()
      if (keys.length > 0)
        await state.write(async ({ api_keys }) => {
          for (const id of keys) await api_keys.remove({ id })
        })
    } finally {
      await state.close()
    }
  }
  await Promise.race([flushAndClose().catch(report), pause(CLOSE_MS, undefined, { ref: false })])
}

/** The configured user with this address. The development user is not configured, and stays unchanged. */
export const configuredUser = ({ config: { users }, originOf }: LoadedConfig, email: string): UserSeed | undefined =>
  originOf(['users']) === 'default' ? undefined : users.find(seed => seed.email?.toLowerCase() === email)

/** The users with these ids or addresses. */
export const findUsers = (
  state: State,
  wanted: readonly UserIdentity[],
): Promise<readonly (UserIdentity | undefined)[]> =>
  state.read(({ users }) =>
    Promise.all(
      wanted.map(async ({ id, email }) => {
        const user = (id && (await users.get(id))) || (email ? (await users.find({ email }))[0] : undefined)
        return user && { id: user.id, email: user.email ?? undefined }
      }),
    ),
  )
