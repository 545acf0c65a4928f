/** Changes the pace of streams, limits and faults by chance while the platform runs. */
import { isDeepStrictEqual } from 'node:util'
import type { Changeable, Standing } from '../core/changes.js'
import type { Assembly, Lasting } from './assembly.js'
import { type Changes, inForce, requireModels } from './changes.js'
import { type NamedUsage, named } from './named-usage.js'

/** Everything holds from the next request on, until the configuration says something else, or it is reset. */
export interface Steering {
  /** What holds now. */
  standing<Name extends keyof Changeable>(name: Name): Standing<Changeable[Name]>
  /** Changes some of it; `undefined` goes back to the configuration. Throws a ProblemsError for a model that there is not. */
  change(changes: Changes): void
  /** What each credential has used of its limits in its minute. */
  usage(): Promise<readonly NamedUsage[]>
  /** Goes back to the configuration in everything, and forgets what was used. */
  reset(): void
}

/** `renew` puts the line together again. */
export function createSteering(assembly: () => Assembly, lasting: Lasting, renew: () => void): Steering {
  const { counters, state } = lasting

  function change(changes: Changes): void {
    const { loaded, steer } = assembly()
    const known = loaded.config.models.map(({ id }) => id)
    requireModels(changes.pace, known)
    lasting.changes = { ...lasting.changes, ...changes }
    steer(lasting.changes)
    renew()
  }

  return {
    standing(name) {
      const { config } = assembly().loaded
      const configured = inForce(config, {})[name]
      const current = inForce(config, lasting.changes)[name]
      return { inForce: current, configured, isChanged: !isDeepStrictEqual(current, configured) }
    },
    change,
    usage: () => named(state, counters.all()),
    reset() {
      counters.forget()
      change({ pace: undefined, limits: undefined, random: undefined })
    },
  }
}
