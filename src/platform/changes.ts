/** What somebody has changed since the configuration was read: the pace of streams, limits, and faults by chance. */
import { isDeepStrictEqual } from 'node:util'
import { ProblemsError } from '../check/problem.js'
import { didYouMean } from '../check/suggest.js'
import type { LimitsChange } from '../config/limit-options.js'
import type { LoadedConfig } from '../config/load.js'
import type { Config } from '../config/schema.js'
import type { Changeable } from '../core/changes.js'
import type { RandomFault } from '../core/fault.js'
import { type PaceChange, type PaceInput, paceFrom } from '../core/pace.js'

/** Nothing where the configuration holds. */
export interface Changes {
  readonly pace?: PaceChange | undefined
  readonly limits?: LimitsChange | undefined
  readonly random?: readonly RandomFault[] | undefined
}

type Configured = Pick<Config, 'pace' | 'models' | 'limits' | 'faults'>

const pacesOf = ({ models }: Pick<Config, 'models'>): Readonly<Record<string, PaceInput>> =>
  Object.fromEntries(models.flatMap(({ id, pace }) => (pace ? [[id, pace]] : [])))

/** What holds: the configuration, with what somebody has changed. */
export function inForce(config: Configured, { pace = {}, limits = {}, random }: Changes): Changeable {
  const { models = {}, ...usual } = pace
  return {
    pace: { ...paceFrom(usual, config.pace), models: { ...pacesOf(config), ...models } },
    limits: { ...config.limits, ...said(limits) },
    random: random ?? config.faults.random,
  }
}

const said = (limits: LimitsChange) =>
  Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined)) as Partial<Config['limits']>

/** What is left of changes when the configuration is read anew: whatever it says otherwise than before wins over them. */
export function keptChanges(changes: Changes, before: LoadedConfig, after: LoadedConfig): Changes {
  const [was, is] = [inForce(before.config, {}), inForce(after.config, {})]
  const kept = <Name extends keyof Changes>(name: Name) =>
    isDeepStrictEqual(was[name], is[name]) ? { [name]: changes[name] } : {}
  return { ...kept('pace'), ...kept('limits'), ...kept('random') }
}

/** Throws a ProblemsError for a model that there is not. */
export function requireModels(pace: PaceChange | undefined, known: readonly string[]): void {
  const unknown = Object.keys(pace?.models ?? {}).find(id => !known.includes(id))
  if (unknown === undefined) return
  const sentence = `models[${JSON.stringify(unknown.slice(0, 100))}] is no model here.${didYouMean(unknown, known)}`
  throw new ProblemsError([{ origin: 'pace', sentence }])
}
