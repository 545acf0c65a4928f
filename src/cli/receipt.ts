/** The summary of a run: how recordings were used, and whether --strict or --fail-on-violation makes it fail. */
import { readdirSync } from 'node:fs'
import path from 'node:path'
import {
  type EndpointViolations,
  fromWorst,
  missText as plainMissText,
  type ViolationCounts,
} from '../check/finding.js'
import { changesText, type MissGroup, type MissGroups, repeatText } from '../check/miss-groups.js'
import { UsageError } from '../check/problem.js'
import { type Mode, usesRecordings } from '../core/exchange.js'
import type { LoadedConfig } from '../platform/config/load.js'
import type { Platform } from '../platform.js'
import type { Miss, Receipt } from '../recordings/index.js'
import type { RunFlags } from './command.js'
import { type Colors, inShell, pluralize, printable } from './output.js'
import type { Checks } from './receipt-file.js'
import { findingLine, markedLine } from './report.js'

const MOST_LISTED = 10

const UNUSED = 'Unused (if all tests ran, standin recordings prune --unused removes them):'

/** `listsUnused` is false where unused recordings are listed elsewhere. */
export function receiptText(receipt: Receipt, colors: Colors, listsUnused = true): string {
  const { unused, missed, notRecorded, unreadable, remarks } = receipt
  // After a miss, what follows in its conversation is unused, too.
  const isComplete = listsUnused && missed + changedIn(receipt) === 0 && isJudged(receipt)
  const broken = `${pluralize(unreadable.length, 'recording')} cannot be read (some may be repaired: standin recordings repair):`
  return [
    `Recordings: ${countsOf(receipt, colors).join(', ')}.`,
    ...(unreadable.length > 0 ? [colors.red(broken), ...listedFiles(unreadable)] : []),
    ...(unused.length > 0 && isComplete ? [UNUSED, ...listedFiles(unused)] : []),
    ...(notRecorded.length > 0 ? ['Not recorded:', ...listedFiles(notRecorded)] : []),
    ...remarks.slice(0, MOST_LISTED).map(remark => printable(remark)),
  ].join('\n')
}

const changedIn = ({ changedPrompts, changedMessages }: Receipt) => changedPrompts + changedMessages

/** The first of some recordings, or of sentences about them, each on a line. */
export function listedFiles(files: readonly string[]): readonly string[] {
  const lines = files.slice(0, MOST_LISTED).map(file => `  ${printable(file)}`)
  return files.length > MOST_LISTED ? [...lines, `  … and ${files.length - MOST_LISTED} more`] : lines
}

function countsOf(receipt: Receipt, colors: Colors): readonly string[] {
  const { missed, unused, passed, own, recorded } = receipt
  const forwardedText = `${passed} forwarded to the live platform`
  const ownText = own > 0 ? [`${own} answered by the tests' own replies`] : []
  if (onlyRecorded(receipt)) return [forwardedText, recordedText(receipt, colors), ...ownText]
  const missedText = missed > 0 ? colors.red(`${missed} missed`) : '0 missed'
  return [
    servedText(receipt, colors),
    missedText,
    `${unused.length} unused`,
    forwardedText,
    ...(recorded > 0 ? [recordedText(receipt, colors)] : []),
    ...ownText,
  ]
}

/** `19 served (3 from other tests, 16 changed prompts)`. */
function servedText({ served, others, changedPrompts, changedMessages }: Receipt, { red }: Colors): string {
  const parts = [
    ...(others > 0 ? [`${others} from other tests`] : []),
    ...(changedPrompts > 0 ? [red(pluralize(changedPrompts, 'changed prompt'))] : []),
    ...(changedMessages > 0 ? [red(pluralize(changedMessages, 'changed message'))] : []),
  ]
  return `${served} served${parts.length > 0 ? ` (${parts.join(', ')})` : ''}`
}

/** `37 recorded (20 unchanged), of them 11 errors: 429 (9), 503 (2)`. */
function recordedText({ recorded, unchanged, errors }: Receipt, { red }: Colors): string {
  const count = `${recorded} recorded${unchanged > 0 ? ` (${unchanged} unchanged)` : ''}`
  const kinds = Object.entries(errors)
  if (kinds.length === 0) return count
  const total = kinds.reduce((sum, [, number]) => sum + number, 0)
  const list = kinds.map(([kind, number]) => `${kind} (${number})`).join(', ')
  return `${count}, of them ${red(`${pluralize(total, 'error')}: ${list}`)}`
}

/** A run that only records replays nothing, so its unused recordings do not count. */
const onlyRecorded = ({ served, missed, passed }: Receipt) => passed > 0 && served + missed === 0

/** Whether unused recordings count. */
export const isJudged = (receipt: Receipt) => !onlyRecorded(receipt)

/** Whether --strict or --strict-unused makes the run fail. */
export const failsStrict = (receipt: Receipt | null, { strict, strictUnused }: Checks): boolean =>
  receipt !== null && ((strict && receipt.missed > 0) || (strictUnused && hasUnused(receipt)))

/** Whether recordings are left over that a run should have used. */
export const hasUnused = (receipt: Receipt): boolean => receipt.unused.length > 0 && isJudged(receipt)

/** Throws a UsageError for --strict or --fail-on-violation if the modes of this run give it nothing to check. */
export function requireUsedFlags({ mode, modes }: Platform, flags: RunFlags): void {
  const someMode = (test: (mode: Mode) => boolean) => [mode, ...Object.values(modes)].some(test)
  if ((flags.strict || flags['strict-unused']) && !someMode(usesRecordings)) {
    throw new UsageError(`--strict checks recordings, and mode ${mode} uses none. Add --mode replay.`)
  }
  if (!flags['fail-on-violation']) return
  if (someMode(mode => mode !== 'emulate')) return
  throw new UsageError(
    `--fail-on-violation checks answers of the live platform and of recordings, and mode ${mode} has none. Add --mode.`,
  )
}

/** Throws a UsageError for --prune if this run does not record. */
export function requireRecording({ mode, modes, loaded }: Platform): void {
  const { onMiss } = loaded.config.recordings
  const records = (mode: Mode) => mode === 'record' || (mode === 'replay' && onMiss === 'record')
  if ([mode, ...Object.values(modes)].some(records)) return
  throw new UsageError(
    `--prune removes recordings that a recording run did not ask for, and mode ${mode} records nothing. After a replay: standin recordings prune --unused.`,
  )
}

/** At most this many violations of an answer are printed; the journal has all of them. */
const MOST_VIOLATIONS = 3

/** An answer that breaks the contract. Its findings get no path, because the sentence of a violation names the field. */
export function violatingAnswerText(
  { endpoint, method, status, violations }: EndpointViolations,
  colors: Colors,
): string {
  const findings = fromWorst(violations)
    .slice(0, MOST_VIOLATIONS)
    .map(finding => ({ ...finding, path: '', sentence: `${finding.sentence} (${finding.source})` }))
  const note =
    violations.length > MOST_VIOLATIONS ? `(the worst ${MOST_VIOLATIONS} of ${violations.length})` : undefined
  const head = markedLine('broken', [`${endpoint ?? method} ${status}`, 'violates the contract', note], colors)
  return [head, ...findings.map(finding => `  ${findingLine(finding, colors)}`)].join('\n')
}

export function violationCountsText({ documented, decided, unjudged }: ViolationCounts, colors: Colors): string {
  const more = unjudged > 0 ? ` ${unjudged} answers were not checked, because there were too many at once.` : ''
  return `Contract violations: ${colors.red(`${documented} documented`)}, ${decided} decided.${more}`
}

const paintWith = ({ red, dim, cyan }: Colors) => ({ title: red, faint: dim, advice: cyan, harmless: printable })

export const missText = (miss: Omit<Miss, 'changed'>, colors: Colors): string => plainMissText(miss, paintWith(colors))

/** A difference that several requests had, of which only the first was printed. */
export const repeatedMissText = (group: MissGroup, colors: Colors): string => repeatText(group, paintWith(colors))

/** What has changed in requests that the nearest recordings answered, and how to accept it. */
export const changedText = (changed: MissGroups, acceptCommand: string, colors: Colors): string =>
  changesText(changed, paintWith(colors), acceptCommand)

/** The command that accepts what has changed in a run with these flags. */
export const acceptCommandOf = (flags: PlaceFlags & { readonly 'on-miss': string | undefined }): string =>
  [
    'standin recordings accept',
    ...(flags['on-miss'] === 'any' ? ['--any'] : []),
    ...placesIn(flags, ['config', 'recordings']),
  ].join(' ')

type PlaceFlags = Readonly<Record<'config' | 'upstream' | 'recordings', string | undefined>>

/** Those of the flags that are set, as they are written. */
const placesIn = (flags: PlaceFlags, names: readonly (keyof PlaceFlags)[]) =>
  names.flatMap(name => (flags[name] === undefined ? [] : [`--${name} ${inShell(flags[name])}`]))

/** Advice on misses in `standin exec`, with the full path of the folder, as it may not be the intended one. */
export function missAdvice(
  { config, dir }: LoadedConfig,
  program: readonly string[],
  flags: PlaceFlags,
  { nearest }: Miss,
  { cyan }: Colors,
): string {
  const { recordings, upstream } = config
  const folder = path.resolve(dir, recordings.dir)
  const command = (start: string, names: readonly (keyof PlaceFlags)[], more: readonly string[]) =>
    printable([start, ...placesIn(flags, names), ...more].join(' '))
  const exec = (mode: string, names: readonly (keyof PlaceFlags)[], more: readonly string[] = []) =>
    command(`standin exec --mode ${mode}`, names, [...more, '--', ...program.map(inShell)])
  const record = exec('record', ['config', 'upstream', 'recordings'], upstream.baseUrl === '' ? ['--upstream URL'] : [])
  if (nearest?.sameConversation && recordings.onMiss === 'fail')
    return cyan(`→ Only the prompt differs, so the recorded answers may do. Look at what they change, and accept it:
    ${exec('replay', ['config', 'recordings'], ['--on-miss nearest'])}
    ${command('standin recordings accept', ['config', 'recordings'], [])}
  Or record again:
    ${record}`)
  const state = isEmpty(folder) ? `${folder} has no recordings` : `The recordings are in ${folder}`
  const emulate = recordings.onMiss === 'fail' ? '\n  Or emulate missing answers: --on-miss emulate.' : ''
  return cyan(`→ ${printable(state)}. Record what is missing:\n    ${record}${emulate}`)
}

function isEmpty(folder: string): boolean {
  try {
    return !readdirSync(folder, { recursive: true }).some(name => /\.ya?ml$/.test(String(name)))
  } catch {
    return true
  }
}
