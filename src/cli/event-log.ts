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
import {
  type Colors,
  canOverwrite,
  colorsFor,
  columnsOf,
  createOutput,
  jsonLine,
  noColors,
  pluralize,
  printable,
  type TerminalOutput,
} from './output.js'
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
import { type LogLayout, messageEvent, messageLine, requestEvent, requestRows } from './request-log.js'

type Flags = Pick<RunFlags, 'json' | 'quiet' | 'verbose'>

type TextFor = (colors: Colors) => string

export type EventLog = Awaited<ReturnType<typeof createEventLog>>

/** `ownsTerminal` means that only this log writes to the terminal, so that lines can be overwritten. */
export async function createEventLog(
  { json, quiet, verbose }: Flags,
  stream: NodeJS.WriteStream,
  ownsTerminal: boolean,
) {
  const output = createOutput(stream)
  const colors = colorsFor(stream)
  const log = createLogWriter({
    output,
    layout: () => ({ colors, columns: columnsOf(stream) }),
    canOverwrite: ownsTerminal && canOverwrite(stream),
  })
  stream.on('resize', log.interrupt)
  const bodies = verbose && !json ? (await import('./bodies.js')).bodyLines : undefined
  const interrupt = () => {
    log.interrupt()
    output.flush()
  }
  return {
    /** The misses so far, and those that were answered from the nearest recording. */
    missed: createMissGroups(),
    changed: createMissGroups(),
    /** Called before other text is written to the same terminal. */
    interrupt,
    /** Reports an event. With --quiet it is printed only if it is important. */
    event(event: object, textFor: TextFor, isImportant = false): void {
      if (json) output.line(jsonLine(event))
      else if (isImportant || !quiet) log.line(textFor(colors))
    },
    /** Reports a problem. For people it goes to standard error, even with --quiet. */
    problem(event: object, textFor: TextFor): void {
      if (json) return output.line(jsonLine(event))
      interrupt()
      console.error(textFor(colorsFor(process.stderr)))
    },
    request(event: object, entry: JournalEntry): void {
      if (json) output.line(jsonLine(event))
      else log.request(entry, bodies?.(entry, colors))
    },
    end(): void {
      log.end()
      output.flush()
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

/** At most this many different misses are printed. */
const MOST_MISSES = 5

/** At most this many sentences about the budget are printed. */
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

export const logUnknownPath = (log: EventLog, sentence: string, count: number): void =>
  log.problem({ event: 'unknown-path', sentence, count }, ({ yellow }) =>
    yellow(printable(`${pluralize(count, 'request')} to an unknown path: ${sentence}`)),
  )

/** Reports messages in the outbox (codes and links), beginning with those that have already been sent. */
export const logMessages = (platform: Pick<Platform, 'onMessage'>, log: Pick<EventLog, 'event'>): void =>
  platform.onMessage(message => log.event(messageEvent(message), colors => messageLine(message, colors)))

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
  log.end()
  return isStrictFailure || isContractFailure || overBudget.length > 0 || causes.length > 0
}

/** Counts the misses that were not printed. */
function logRepeated({ missed, event }: EventLog): void {
  const groups = missed.groups()
  const repeated = groups.slice(0, MOST_MISSES).filter(({ count }) => count > 1)
  const others = groups.slice(MOST_MISSES).reduce((sum, { count }) => sum + count, 0)
  for (const group of repeated) event({}, colors => repeatedMissText(group, colors), true)
  if (others > 0) event({}, () => `${pluralize(others, 'more request')} missed in other ways.`, true)
}

interface LogTarget {
  readonly output: TerminalOutput
  readonly layout: () => LogLayout
  /** Whether the last line can be overwritten, as on a terminal that only this log writes to. */
  readonly canOverwrite: boolean
}

/** How long a preflight waits for the request that it announces. */
const PREFLIGHT_MS = 2000

export function createLogWriter(target: LogTarget) {
  const { output, layout } = target
  const repeats = createRepeats(target)
  const preflights = createPreflights((line, note) => write(line, note, []))

  function write(line: JournalEntry, note: string, more: readonly string[]): void {
    if (more.length === 0 && isRepeatable(line)) return repeats.write(line, note)
    repeats.finish()
    for (const row of [...requestRows(line, layout(), note), ...more]) output.line(row)
  }

  return {
    /** Called before other text is written to the same terminal, and when it was resized, so that its lines have moved. */
    interrupt: repeats.finish,
    /** `more` are extra lines that belong to this request only. */
    request(line: JournalEntry, more: readonly string[] = []): void {
      if (more.length === 0 && isPreflight(line)) preflights.hold(line)
      else write(line, preflights.noteFor(line.request.path), more)
    },
    /** Writes a line that is not about a request. */
    line(text: string): void {
      repeats.finish()
      output.line(text)
    },
    /** Writes what is still held back. */
    end(): void {
      preflights.release()
      repeats.finish()
    },
  }
}

/** Writes lines that may be repeated: the last one is overwritten with its count, or its repetitions are counted in a line of their own. */
function createRepeats({ output, layout, canOverwrite }: LogTarget) {
  let last: { readonly key: string; line: JournalEntry; height: number; count: number } | undefined

  function writeRows(line: JournalEntry, note: string): number {
    const rows = requestRows(line, layout(), note)
    for (const row of rows) output.line(row)
    return rows.length
  }

  function finish(): void {
    if (last && last.count > 1 && !canOverwrite) {
      // The first row only: the advice has already been printed.
      const [row = ''] = requestRows(last.line, { colors: layout().colors }, `(and ${last.count - 1} more like it)`)
      output.line(row)
    }
    last = undefined
  }

  return {
    finish,
    write(line: JournalEntry, note: string): void {
      const key = repeatKey(line)
      if (last?.key !== key) {
        finish()
        last = { key, line, height: writeRows(line, note), count: 1 }
        return
      }
      last.count++
      last.line = line
      if (!canOverwrite) return
      output.write(`\x1b[${last.height}A\r\x1b[0J`)
      last.height = writeRows(line, `×${last.count}`)
    },
  }
}

/** Holds preflights back until the request that they announce. Preflights without a request are written after a while. */
function createPreflights(write: (line: JournalEntry, note: string) => void) {
  /** By path. */
  const held = new Map<string, { line: JournalEntry; count: number }>()
  let timer: NodeJS.Timeout | undefined

  function release(): void {
    clearTimeout(timer)
    timer = undefined
    for (const { line, count } of held.values()) write(line, count > 1 ? `(${count} preflights)` : '')
    held.clear()
  }

  return {
    release,
    hold(line: JournalEntry): void {
      const { path } = line.request
      held.set(path, { line, count: (held.get(path)?.count ?? 0) + 1 })
      timer ??= setTimeout(release, PREFLIGHT_MS).unref()
    },
    /** The note about earlier preflights on the line of a request. */
    noteFor(path: string): string {
      const count = held.get(path)?.count ?? 0
      held.delete(path)
      if (count === 0) return ''
      return count === 1 ? '(after a preflight)' : `(after ${count} preflights)`
    },
  }
}

const isPreflight = ({ request, status, complete }: JournalEntry) =>
  request.method === 'OPTIONS' && status !== null && status < 300 && complete

/** Reads and refused requests, which clients often repeat. */
const isRepeatable = ({ request, status, complete, response }: JournalEntry) =>
  complete &&
  status !== null &&
  response.piecesAtMs.length === 0 &&
  (status >= 400 || /^(GET|HEAD|OPTIONS)$/.test(request.method))

const repeatKey = ({ request, caller, endpoint, call, mode, source, status, error, hint, remark }: JournalEntry) => {
  const { method, path, query } = request
  return JSON.stringify([method, path, query, caller, endpoint, call, mode, source, status, error, hint, remark])
}
