/** `--fail-on-violation`: whether a run can find violations, and whether it has found any that count. */
import { UsageError } from '../check/problem.js'
import type { Platform } from '../platform.js'
import type { CommandLine } from './arguments.js'

/** Whether the run must fail because a documented rule was violated. */
export const hasBroken = ({ violations }: Platform, { given }: CommandLine): boolean =>
  given.has('fail-on-violation') && violations.counts().documented > 0

/** Throws a UsageError for a run that cannot find violations. */
export function requireJudging({ mode, modes, loaded }: Platform, { given }: CommandLine): void {
  if (!given.has('fail-on-violation')) return
  if (!loaded.config.contract.check) {
    throw new UsageError('--fail-on-violation needs the option contract.check, which is off.')
  }
  if ([mode, ...Object.values(modes)].some(mode => mode !== 'emulate')) return
  throw new UsageError(
    `--fail-on-violation is about answers of the live platform and of recordings, and the mode is ${mode}. Add --mode.`,
  )
}
