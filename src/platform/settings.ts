/** The pace of streams, limits and random faults: as configured, or as changed at run time. */
import { isDeepStrictEqual } from 'node:util'
import { ProblemsError } from '../check/problem.js'
import { didYouMean } from '../check/suggest.js'
import type { NamedUsage } from '../control/settings-operations.js'
import { type PaceChange, type PaceInput, paceFrom } from '../core/pace.js'
import type { ResetOptions } from '../core/part.js'
import type { Counters, LimitUsage } from '../limits/index.js'
import type { Changeable, Changes, LimitsChange, Setting } from '../limits/options.js'
import type { State, Tables } from '../state/rows.js'
import type { LoadedConfig } from './config/load.js'
import type { Config } from './config/schema.js'
import type { PreparedConfig } from './prepare.js'

type Configured = Pick<Config, 'pace' | 'models' | 'limits' | 'faults'>

const pacesOf = ({ models }: Pick<Config, 'models'>): Readonly<Record<string, PaceInput>> =>
  Object.fromEntries(models.flatMap(({ id, pace }) => (pace ? [[id, pace]] : [])))

/** The configuration with the changes applied. */
export function settingsInForce(config: Configured, { pace = {}, limits = {}, random }: Changes): Changeable {
  const { models = {}, ...usual } = pace
  return {
    pace: { ...paceFrom(usual, config.pace), models: { ...pacesOf(config), ...models } },
    limits: { ...config.limits, ...withoutUndefined(limits) },
    random: random ?? config.faults.random,
  }
}

const withoutUndefined = (limits: LimitsChange) =>
  Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined)) as Partial<Config['limits']>

/** A changed pace without the models to which it makes no difference, so that undoing a change leaves nothing behind. */
function changedPace({ models = {}, ...usual }: PaceChange, config: Configured): PaceChange {
  const inForce = paceFrom(usual, config.pace)
  const configured = pacesOf(config)
  const changed = Object.entries(models).filter(
    ([id, pace]) => !isDeepStrictEqual(paceFrom(pace, inForce), paceFrom(configured[id], inForce)),
  )
  return changed.length === 0 ? usual : { ...usual, models: Object.fromEntries(changed) }
}

/** The changes that survive a reload. If the configuration of a setting has changed too, the configuration wins. */
function survivingChanges(changes: Changes, before: LoadedConfig, after: LoadedConfig): Changes {
  const [was, is] = [settingsInForce(before.config, {}), settingsInForce(after.config, {})]
  const kept = <Name extends keyof Changes>(name: Name) =>
    isDeepStrictEqual(was[name], is[name]) ? { [name]: changes[name] } : {}
  return { ...kept('pace'), ...kept('limits'), ...kept('random') }
}

function requireModels(pace: PaceChange | undefined, { models }: Pick<Config, 'models'>): void {
  const known = models.map(({ id }) => id)
  const unknown = Object.keys(pace?.models ?? {}).find(id => !known.includes(id))
  if (unknown === undefined) return
  const sentence = `pace.models[${JSON.stringify(unknown.slice(0, 100))}] is no model here.${didYouMean(unknown, known)}`
  throw new ProblemsError([{ origin: 'pace', sentence }])
}

interface Dependencies {
  readonly loaded: () => LoadedConfig
  readonly counters: Counters
  readonly state: State
  readonly apply: (changes: Changes) => void
}

/** Changes apply from the next request on, until a reset, or until their configuration changes. */
export function createSettings({ loaded, counters, state, apply }: Dependencies) {
  let changes: Changes = {}

  /** Throws a ProblemsError for an unknown model. */
  const requireValid = ({ pace }: Changes) => requireModels(pace, loaded().config)

  /** Changes some settings; `undefined` restores the configured value. */
  function change(next: Changes): void {
    const { config } = loaded()
    changes = { ...changes, ...next, ...(next.pace && { pace: changedPace(next.pace, config) }) }
    apply(changes)
  }

  return {
    changes: () => changes,
    setting<Name extends keyof Changeable>(name: Name): Setting<Changeable[Name]> {
      const { config } = loaded()
      const configured = settingsInForce(config, {})[name]
      const current = settingsInForce(config, changes)[name]
      return { inForce: current, configured, isChanged: !isDeepStrictEqual(current, configured) }
    },
    requireValid,
    change,
    /** What each credential has used of its limits in the current minute. */
    usage: () => withNames(state, counters.all()),
    async prepare({ loaded: next }: PreparedConfig) {
      const before = loaded()
      return () => {
        changes = survivingChanges(changes, before, next)
      }
    },
    reset({ scope }: ResetOptions) {
      // The settings apply to all scopes, so the reset of one scope leaves them.
      if (scope !== undefined) return
      counters.forget()
      change({ pace: undefined, limits: undefined, random: undefined })
    },
  }
}

/** Adds the names, and sorts by use, highest first. */
async function withNames(state: State, usages: readonly LimitUsage[]): Promise<readonly NamedUsage[]> {
  if (usages.length === 0) return []
  const all = await state.read(tables => Promise.all(usages.map(usage => usageWithName(tables, usage))))
  return all.toSorted((a, b) => b.requests + b.refused - (a.requests + a.refused))
}

async function usageWithName({ api_keys, users }: Tables, { key, ...usage }: LimitUsage): Promise<NamedUsage> {
  const [kind = '', id] = key.split(' ', 2)
  if (id === undefined) return { kind, ...usage }
  if (kind === 'apiKey') {
    const row = await api_keys.get(id)
    return { kind, id, ...(row && { name: row.name, start: row.start }), ...usage }
  }
  // For a stranger there is only a digest, which does not identify a person.
  if (kind !== 'user') return { kind, ...usage }
  const name = (await users.get(id))?.email
  return { kind, id, ...(name && { name }), ...usage }
}
