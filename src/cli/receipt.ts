/** The receipt of a run: what came of the recordings, for whoever has to trust it. */

import { usesRecordings } from '../core/exchange.js'
import { UsageError } from '../core/start-error.js'
import type { Platform } from '../platform.js'
import type { Receipt } from '../recordings/index.js'
import type { Colors } from './output.js'

/** So many unused recordings are named; of more the number says it. */
const NAMED = 10

/** Lines for a person. */
export function receiptText(receipt: Receipt, colors: Colors): string {
  const { unused, notRecorded } = receipt
  const more = unused.length > NAMED ? [`  … and ${unused.length - NAMED} more`] : []
  return [
    `Recordings: ${countsOf(receipt, colors).join(', ')}.`,
    ...(unused.length > 0 && !hasOnlyAsked(receipt)
      ? ['Unused:', ...unused.slice(0, NAMED).map(file => `  ${file}`), ...more]
      : []),
    ...(notRecorded.length > 0 ? ['Not recorded:', ...notRecorded.map(reason => `  ${reason}`)] : []),
  ].join('\n')
}

function countsOf(receipt: Receipt, colors: Colors): readonly string[] {
  const { served, missed, unused, passed, recorded } = receipt
  const made = `${recorded} recorded`
  const carried = `${passed} passed to the live platform`
  if (hasOnlyAsked(receipt)) return [made, carried]
  const lost = missed > 0 ? colors.red(`${missed} missed`) : '0 missed'
  return [`${served} served`, lost, `${unused.length} unused`, carried, ...(recorded > 0 ? [made] : [])]
}

/** What `--strict` was given for. */
export type Strict = false | 'misses' | 'unused'

/** Whether a run that was to be strict has failed. */
export const hasFailed = (receipt: Receipt, strict: Strict): boolean =>
  strict !== false &&
  (receipt.missed > 0 || (strict === 'unused' && receipt.unused.length > 0 && !hasOnlyAsked(receipt)))

/** A run that only records has played nothing that could be counted, or be unused. */
const hasOnlyAsked = ({ served, missed, passed }: Receipt) => passed > 0 && served + missed === 0

/** Throws a UsageError for a run that cannot be strict: none of its modes has to do with recordings. */
export function requireStrictFits(strict: Strict, { mode, modes }: Pick<Platform, 'mode' | 'modes'>): void {
  if (strict === false || [mode, ...Object.values(modes)].some(usesRecordings)) return
  throw new UsageError(`--strict is about recordings, and the mode is ${mode}. Add --mode replay.`)
}
