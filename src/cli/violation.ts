/** What answers had against the contract, for whoever watches a run and for whoever has to trust it. */

import { UsageError } from '../core/start-error.js'
import type { Violating, ViolationCounts } from '../core/violation.js'
import type { Platform } from '../platform.js'
import type { CommandLine } from './arguments.js'
import { type Colors, harmless } from './output.js'

/** So many of one answer are said; the journal has all. */
const SAID = 3

/** Lines for a person. */
export function violatingText({ endpoint, method, status, violations }: Violating, colors: Colors): string {
  const more = violations.length > SAID ? [`  … and ${violations.length - SAID} more`] : []
  return [
    colors.yellow(`Against the contract: ${endpoint ?? method} ${status}`),
    ...violations.slice(0, SAID).map(({ sentence, source }) => `  ${harmless(sentence)} (${source})`),
    ...more,
  ].join('\n')
}

/** The same as an object, for --json. */
export const violatingEvent = (violating: Violating) => ({ event: 'violation', ...violating })

/** One line at the end of a run; nothing where all was well. */
export function violationsText({ documented, decided, unjudged }: ViolationCounts, colors: Colors): string | undefined {
  if (documented + decided + unjudged === 0) return undefined
  const more = unjudged > 0 ? ` ${unjudged} answers were not judged: there were too many at once.` : ''
  return `Against the contract: ${colors.red(`${documented} documented`)}, ${decided} decided.${more}`
}

/** Whether a run that was to fail on violations has some of what the platform documents. */
export const hasBroken = ({ violations }: Platform, { given }: CommandLine): boolean =>
  given.has('fail-on-violation') && violations.counts().documented > 0

/** Throws a UsageError for a run in which nothing could be found. */
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
