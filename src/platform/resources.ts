/** The resources of a configuration. Loaded only if there are any. */
import type { LoadedConfig } from '../config/load.js'
import type { PathSource } from '../core/exchange.js'
import type { State } from '../core/state.js'
import { once } from '../core/work.js'
import type { LoadedResources } from '../resources/load.js'
import type { ResourceRows } from '../resources/manage.js'

export const hasResources = ({ config }: LoadedConfig): boolean => Object.keys(config.resources).length > 0

/** Endpoints and initial rows come from the same reading of the files. */
const read = new WeakMap<LoadedConfig, Promise<LoadedResources>>()

/** Rejects with a ProblemsError that lists all mistakes. */
export function resourcesOf(loaded: LoadedConfig): Promise<LoadedResources> {
  const before = read.get(loaded)
  if (before) return before
  const made = load(loaded)
  read.set(loaded, made)
  return made
}

async function load({ config, dir, placeOf }: LoadedConfig): Promise<LoadedResources> {
  const { loadResources } = await import('../resources/load.js')
  const { idOfUser } = await import('../supabase/seeds.js')
  return loadResources({
    ...{ resources: config.resources, dir, placeOf },
    userIdOf(email) {
      const user = config.users.find(user => user.email?.toLowerCase() === email.toLowerCase())
      return user && idOfUser(user)
    },
  })
}

/** The rows as the control API and tests see them, in the current configuration. */
export const openResourceRows = (current: () => { readonly loaded: LoadedConfig }, { state, clock }: Parts) =>
  once(async (): Promise<ResourceRows> => {
    const { createResourceRows } = await import('../resources/manage.js')
    const resources = async () => (await resourcesOf(current().loaded)).resources
    return createResourceRows({ resources, state: state.get, now: clock.now })
  })

interface Parts {
  readonly state: { get(): Promise<State> }
  readonly clock: { now(): number }
}

/** Opens the source that answers the paths of resources. Loads nothing if there are none. */
export function resourcesOpener(loaded: LoadedConfig, { state, clock }: Parts): readonly (() => Promise<PathSource>)[] {
  if (!hasResources(loaded)) return []
  return [
    async () => {
      const { createResourceSource } = await import('../resources/source.js')
      const { resources, files } = await resourcesOf(loaded)
      return { ...createResourceSource(resources, { state: state.get, now: clock.now }), files }
    },
  ]
}
