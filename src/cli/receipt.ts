/** The summary of a run: what happened with recordings, and whether --strict or --fail-on-violation makes it fail. */
import { readdirSync } from 'node:fs'
import path from 'node:path'
import { type EndpointViolations, fromWorst, type ViolationCounts } from '../check/finding.js'
import { missText as textOf } from '../check/miss-text.js'
import { UsageError } from '../check/problem.js'
import type { LoadedConfig } from '../config/load.js'
import { type Mode, usesRecordings } from '../core/exchange.js'
import { quoted } from '../journal/curl.js'
import type { Platform } from '../platform.js'
import type { Miss, Receipt } from '../recordings/index.js'
import type { RunFlags } from './command.js'
import { type Colors, harmless } from './output.js'
import { itemLines, type ReportItem } from './report/report.js'

/** At most this many unused recordings are listed by name. */
const NAMED = 10

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
  const carried = `${passed} forwarded to the live platform`
  if (hasOnlyAsked(receipt)) return [made, carried]
  const lost = missed > 0 ? colors.red(`${missed} missed`) : '0 missed'
  return [`${served} served`, lost, `${unused.length} unused`, carried, ...(recorded > 0 ? [made] : [])]
}

/** A run that only records replays nothing, so its unused recordings do not count. */
const hasOnlyAsked = ({ served, missed, passed }: Receipt) => passed > 0 && served + missed === 0

/** Whether --strict or --strict-unused makes the run fail. */
export const hasMissed = (receipt: Receipt | undefined, flags: RunFlags): boolean =>
  receipt !== undefined &&
  (((flags.strict || flags['strict-unused']) && receipt.missed > 0) ||
    (flags['strict-unused'] && receipt.unused.length > 0 && !hasOnlyAsked(receipt)))

/** Whether --fail-on-violation makes the run fail. */
export const hasBroken = ({ violations }: Platform, flags: RunFlags): boolean =>
  flags['fail-on-violation'] && violations.counts().documented > 0

/** Throws a UsageError for a flag about recordings or answers that no mode in this run uses. */
export function requireChecks({ mode, modes, loaded }: Platform, flags: RunFlags): void {
  const hasMode = (fits: (mode: Mode) => boolean) => [mode, ...Object.values(modes)].some(fits)
  if ((flags.strict || flags['strict-unused']) && !hasMode(usesRecordings)) {
    throw new UsageError(`--strict is about recordings, and the mode is ${mode}. Add --mode replay.`)
  }
  if (!flags['fail-on-violation']) return
  if (!loaded.config.contract.check) {
    throw new UsageError('--fail-on-violation needs the option contract.check, which is off.')
  }
  if (hasMode(mode => mode !== 'emulate')) return
  throw new UsageError(
    `--fail-on-violation is about answers of the live platform and of recordings, and the mode is ${mode}. Add --mode.`,
  )
}

/** At most this many violations are printed per answer; the journal has all of them. */
const SHOWN = 3

/** An answer that breaks the contract, for people. The sentence of a violation names the field itself. */
export function violatingText({ endpoint, method, status, violations }: EndpointViolations, colors: Colors): string {
  const findings = fromWorst(violations)
    .slice(0, SHOWN)
    .map(finding => ({ ...finding, path: '', sentence: `${finding.sentence} (${finding.source})` }))
  const item: ReportItem = {
    ...{ outcome: 'broken', classname: 'contract', shown: 'always', rows: [] },
    names: [`${endpoint ?? method} ${status}`],
    what: 'is not what the contract says',
    note: violations.length > SHOWN ? `(the worst ${SHOWN} of ${violations.length})` : undefined,
    findings,
  }
  return itemLines(item, 0, colors).join('\n')
}

export function violationsText({ documented, decided, unjudged }: ViolationCounts, colors: Colors): string {
  const more = unjudged > 0 ? ` ${unjudged} answers were not checked, because there were too many at once.` : ''
  return `Against the contract: ${colors.red(`${documented} documented`)}, ${decided} decided.${more}`
}

export const missText = (miss: Miss, { red, dim }: Colors): string => textOf(miss, { title: red, faint: dim, harmless })

/** The flags that say what to record, and where. */
type PlaceFlags = Readonly<Record<'config' | 'upstream' | 'recordings', string | undefined>>

/** Advice on misses in `standin exec`. Names the folder by its full path, as it may not be the intended one, and says if it is empty. */
export function missAdvice(
  { config, dir }: LoadedConfig,
  command: readonly string[],
  flags: PlaceFlags,
  { cyan }: Colors,
): string {
  const { recordings, upstream } = config
  const folder = path.resolve(dir, recordings.dir)
  const state = isEmpty(folder) ? `${folder} has no recordings` : `The recordings are in ${folder}`
  const places = (['config', 'upstream', 'recordings'] as const).flatMap(name => {
    const value = flags[name]
    return value === undefined ? [] : [`--${name} ${inShell(value)}`]
  })
  const record = [
    'standin exec --mode record',
    ...places,
    ...(upstream.baseUrl === '' ? ['--upstream URL'] : []),
    '--',
    ...command.map(inShell),
  ]
  const emulate = recordings.onMiss === 'fail' ? '\n  Or emulate missing answers: --on-miss emulate.' : ''
  return cyan(`→ ${harmless(state)}. Record what is missing:\n    ${harmless(record.join(' '))}${emulate}`)
}

/** Ready to copy: words with spaces or shell characters are quoted. */
const inShell = (word: string) => (/^[\w@%+=:,./-]+$/.test(word) ? word : quoted(word))

function isEmpty(folder: string): boolean {
  try {
    return !readdirSync(folder, { recursive: true }).some(name => String(name).endsWith('.yaml'))
  } catch {
    return true
  }
}
