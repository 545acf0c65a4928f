/**
 * Reports what happens in a platform: as JSON lines for programs, or as text for people.
 */
import type { EndpointViolations } from '../check/finding.js'
import { createMissGroups } from '../check/miss-groups.js'
import { unknownPathAdvice } from '../core/paths.js'
import { entryOf, type JournalEntry } from '../journal/index.js'
import type { Platform } from '../platform.js'
import type { Miss } from '../recordings/index.js'
import type { RunFlags } from './command.js'
import { type Colors, colorsFor, createOutput, jsonLine, noColors, pluralize, printable } from './output.js'
import {
  changedText,
  failsStrict,
  missText,
  receiptText,
  repeatedMissText,
  violatingAnswerText,
  violationCountsText,
} from './receipt.js'
import type { Checks, PrintedEnd } from './receipt-file.js'
import { messageEvent, messageLine, requestEvent, requestRows } from './request-log.js'

type Flags = Pick<RunFlags, 'json' | 'quiet' | 'verbose'>

type TextFor = (colors: Colors) => string

export type EventLog = Awaited<ReturnType<typeof createEventLog>>

export async function createEventLog({ json, quiet, verbose }: Flags, stream: NodeJS.WriteStream) {
  const output = createOutput(stream)
  const colors = colorsFor(stream)
  const bodies = verbose && !json ? (await import('./bodies.js')).bodyLines : undefined
  return {
    /** The misses so far, and those that were answered from the nearest recording. */
    missed: createMissGroups(),
    changed: createMissGroups(),
    /** Called before other text is written to the same terminal, and at the end. */
    flush: output.flush,
    /** Reports an event. With --quiet it is printed only if it is important. */
    event(event: object, textFor: TextFor, isImportant = false): void {
      if (json) output.line(jsonLine(event))
      else if (isImportant || !quiet) output.line(textFor(colors))
    },
    /** Reports a problem. For people it goes to standard error, even with --quiet. */
    problem(event: object, textFor: TextFor): void {
      if (json) return output.line(jsonLine(event))
      output.flush()
      console.error(textFor(colorsFor(process.stderr)))
    },
    request(event: object, entry: JournalEntry): void {
      if (json) output.line(jsonLine(event))
      else if (!isPreflight(entry))
        for (const row of [...requestRows(entry, colors), ...(bodies?.(entry, colors) ?? [])]) output.line(row)
    },
  }
}

/** Reports requests, beginning with those that were already answered. */
export function logRequests({ journal, redact, sharedRun }: Platform, log: EventLog, { verbose }: Flags) {
  const logEntry = (entry: JournalEntry) => log.request(requestEvent(entry, verbose), entry)
  for (const entry of journal.entries()) logEntry(entry)
  sharedRun?.follow(logEntry)
  // Made here, since under heavy load the journal may already have dropped the exchange.
  journal.follow((exchange, id) => {
    const durationMs = performance.now() - exchange.startedMs
    logEntry(entryOf({ id, exchange, atMs: Date.now(), durationMs }, redact, verbose ? undefined : 0))
  })
}

const MOST_MISSES = 5

const MOST_SENTENCES = 5

/**
 * Reports problems, beginning with those that have already occurred. Of misses that differ in the same way, people see
 * the first; `conclude` counts the others, and sums up what has changed. So it is with violations of the contract.
 */
export function logProblems({ onMiss, violations, loaded }: Platform, log: EventLog, flags: Pick<Flags, 'json'>): void {
  const problems = createProblemLog(log, loaded.config.recordings.onMiss, flags)
  for (const violating of violations.list().toReversed()) problems.violating(violating)
  onMiss(problems.miss)
  violations.onViolating(problems.violating)
}

/** Reports misses and violations as they come. */
export function createProblemLog(log: EventLog, onMiss: string, { json }: Pick<Flags, 'json'>) {
  // The receipt counts them.
  const isRecorded = onMiss === 'record'
  const miss = ({ changed, ...miss }: Miss) => {
    const isNew = (changed ? log.changed : log.missed).add(miss)
    const isShown = isNew && !changed && !isRecorded && log.missed.groups().length <= MOST_MISSES
    const event = changed ? { event: 'changed', changed } : { event: 'miss' }
    if (json || isShown) log.problem({ ...event, ...miss }, colors => missText(miss, colors))
  }
  const shown = new Set<string>()
  const violating = (violating: EndpointViolations) => {
    const text = violatingAnswerText(violating, noColors)
    if (json || !shown.has(text))
      log.problem({ event: 'violation', ...violating }, colors => violatingAnswerText(violating, colors))
    shown.add(text)
  }
  return { miss, violating }
}

/**
 * Reports requests to paths that clients know from elsewhere, once each when they come, unless others write to the terminal. Returns
 * the advice with its counts, for the end.
 */
export function logUnknownPaths(
  { journal, sharedRun }: Platform,
  log: EventLog,
  { atEnd }: { readonly atEnd: boolean },
): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  const note = (path: string, code: string | null | undefined) => {
    const sentence = code === 'not_found' ? unknownPathAdvice(path) : undefined
    if (sentence === undefined) return
    const count = (counts.get(sentence) ?? 0) + 1
    counts.set(sentence, count)
    if (!atEnd && count === 1) logUnknownPath(log, sentence, count)
  }
  journal.followErrors(({ path, outcome }) => note(path, outcome?.code))
  sharedRun?.follow(({ request: { path }, code }) => note(path, code))
  return counts
}

export function logUnknownPath(log: EventLog, sentence: string, count: number): void {
  const text = `${pluralize(count, 'request')} to an unknown path: ${sentence}`
  logWarning(log, { event: 'unknown-path', sentence, count }, text)
}

export const logWarning = (log: EventLog, event: object, text: string): void =>
  log.problem(event, ({ yellow }) => yellow(printable(text)))

/** Reports messages in the outbox (codes and links), beginning with those that have already been sent. */
export const logMessages = (platform: Pick<Platform, 'onMessage'>, log: Pick<EventLog, 'event'>): void =>
  platform.onMessage(message => log.event(messageEvent(message), colors => messageLine(message, colors)))

/** The exit code if the command succeeded, but --strict or --fail-on-violation failed, or requests have changed. */
export const EXIT_FAILED = 1

export interface HowToConclude extends Pick<Flags, 'json'> {
  readonly checks: Checks
  /** What accepts changed requests. */
  readonly acceptCommand: string
}

/** Reports how a finished run went; with --quiet, only if it failed. Returns whether it failed. */
export function conclude(
  { receipt, violationCounts: counts, overBudget, onMiss }: PrintedEnd,
  log: EventLog,
  how: HowToConclude,
): boolean {
  const { checks, json, acceptCommand } = how
  const isStrictFailure = failsStrict(receipt, checks)
  const isContractFailure = checks.failOnViolation && counts.documented > 0
  if (!json && onMiss !== 'record') logRepeated(log)
  if (Object.values(counts).some(count => count > 0)) {
    log.event({ event: 'violations', ...counts }, colors => violationCountsText(counts, colors), isContractFailure)
  }
  if (receipt) log.event({ event: 'receipt', ...receipt }, colors => receiptText(receipt, colors), isStrictFailure)
  for (const sentence of json ? overBudget : overBudget.slice(0, MOST_SENTENCES))
    log.problem({ event: 'budget', sentence }, ({ red }) => red(printable(sentence)))
  const more = overBudget.length - MOST_SENTENCES
  if (more > 0 && !json) log.problem({}, ({ red }) => red(`… and ${more} more over the budget.`))
  const causes = log.changed.causes()
  if (causes.length > 0) {
    const listed = causes.map(({ difference, count, met }) => ({ ...difference, count, scopes: [...met] }))
    log.event({ event: 'causes', causes: listed }, colors => changedText(log.changed, acceptCommand, colors), true)
  }
  log.flush()
  return isStrictFailure || isContractFailure || overBudget.length > 0 || causes.length > 0
}

function logRepeated({ missed, event }: EventLog): void {
  const groups = missed.groups()
  const repeated = groups.slice(0, MOST_MISSES).filter(({ count }) => count > 1)
  const others = groups.slice(MOST_MISSES).reduce((sum, { count }) => sum + count, 0)
  for (const group of repeated) event({}, colors => repeatedMissText(group, colors), true)
  if (others > 0) event({}, () => `${pluralize(others, 'more request')} missed in other ways.`, true)
}

/** A preflight that succeeded; the request that it announces follows. */
const isPreflight = ({ request, status, complete }: JournalEntry) =>
  request.method === 'OPTIONS' && status !== null && status < 300 && complete
