/** How a run used its recordings: the receipt, misses, and what to do about them. */
import { readdirSync } from 'node:fs'
import path from 'node:path'
import { missText as textOf } from '../check/miss-text.js'
import { UsageError } from '../check/problem.js'
import type { LoadedConfig } from '../config/load.js'
import { usesRecordings } from '../core/exchange.js'
import { quoted } from '../journal/index.js'
import type { Platform } from '../platform.js'
import type { Miss, Receipt } from '../recordings/index.js'
import { type Colors, harmless } from './output.js'

/** At most this many unused recordings are listed by name. */
const NAMED = 10

/** The receipt for people. */
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

/** What `--strict` checks. */
export type Strict = false | 'misses' | 'unused'

/** Whether `--strict` has failed. */
export const hasFailed = (receipt: Receipt, strict: Strict): boolean =>
  strict !== false &&
  (receipt.missed > 0 || (strict === 'unused' && receipt.unused.length > 0 && !hasOnlyAsked(receipt)))

/** A run that only records plays nothing back, so its unused recordings do not count. */
const hasOnlyAsked = ({ served, missed, passed }: Receipt) => passed > 0 && served + missed === 0

/** Throws a UsageError if `--strict` makes no sense because no mode uses recordings. */
export function requireStrictFits(strict: Strict, { mode, modes }: Pick<Platform, 'mode' | 'modes'>): void {
  if (strict === false || [mode, ...Object.values(modes)].some(usesRecordings)) return
  throw new UsageError(`--strict is about recordings, and the mode is ${mode}. Add --mode replay.`)
}

/** A miss as a terminal shows it, and what to do about it. */
export const missText = (miss: Miss, { red, dim }: Colors): string => textOf(miss, { title: red, faint: dim, harmless })

/** Advice on misses in `standin exec`. Names the folder by its full path, as it may not be the intended one, and says if it is empty. */
export function missAdvice({ config, dir }: LoadedConfig, command: readonly string[], { cyan }: Colors): string {
  const { recordings, upstream } = config
  const folder = path.resolve(dir, recordings.dir)
  const state = isEmpty(folder) ? `${folder} has no recordings` : `The recordings are in ${folder}`
  const record = [
    'standin exec --mode record',
    ...(upstream.baseUrl === '' ? ['--upstream URL'] : []),
    '--',
    // Ready to copy: words with spaces or shell characters are quoted.
    ...command.map(word => (/^[\w@%+=:,./-]+$/.test(word) ? word : quoted(word))),
  ]
  const emulate = recordings.onMiss === 'fail' ? '\n  Or have answers made up: --on-miss emulate.' : ''
  return cyan(`→ ${harmless(state)}. Record what is missing:\n    ${harmless(record.join(' '))}${emulate}`)
}

function isEmpty(folder: string): boolean {
  try {
    return !readdirSync(folder, { recursive: true }).some(name => String(name).endsWith('.yaml'))
  } catch {
    return true
  }
}
