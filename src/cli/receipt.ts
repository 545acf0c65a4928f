/** The receipt of a run: what came of the recordings, for whoever has to trust it. */
import type { Receipt } from '../platform/taping.js'
import type { Colors } from './output.js'

/** So many unused recordings are named; of more the number says it. */
const NAMED = 10

/** Lines for a person. */
export function receiptText(receipt: Receipt, colors: Colors): string {
  const { unused, notRecorded, served } = receipt
  const more = unused.length > NAMED ? [`  … and ${unused.length - NAMED} more`] : []
  return [
    `Recordings: ${countsOf(receipt, colors).join(', ')}.`,
    ...(served > 0 && unused.length > 0
      ? ['Unused:', ...unused.slice(0, NAMED).map(file => `  ${file}`), ...more]
      : []),
    ...(notRecorded.length > 0 ? ['Not recorded:', ...notRecorded.map(reason => `  ${reason}`)] : []),
  ].join('\n')
}

function countsOf({ served, missed, unused, passed, recorded }: Receipt, colors: Colors): readonly string[] {
  const made = `${recorded} recorded`
  const carried = `${passed} passed to the live platform`
  // A run that only records has played nothing that could be counted.
  if (passed > 0 && served + missed === 0) return [made, carried]
  const lost = missed > 0 ? colors.red(`${missed} missed`) : '0 missed'
  return [`${served} served`, lost, `${unused.length} unused`, carried, ...(recorded > 0 ? [made] : [])]
}

/** What `--strict` was given for. */
export type Strict = false | 'misses' | 'unused'

/** Whether a run that was to be strict has failed. */
export const hasFailed = ({ missed, unused }: Receipt, strict: Strict): boolean =>
  strict !== false && (missed > 0 || (strict === 'unused' && unused.length > 0))
