/**
 * Reports what happens in a platform: as JSON lines for programs, or as text for people.
 */
import type { EndpointViolations } from '../check/finding.js'
import type { JournalEntry } from '../journal/index.js'
import type { Platform } from '../platform.js'
import type { Miss } from '../recordings/index.js'
import type { RunFlags } from './command.js'
import { callsOf, type LogLine, logLineOf } from './log-line.js'
import { createLogWriter } from './log-writer.js'
import { type Colors, canOverwrite, colorsFor, columnsOf, createOutput, jsonLine } from './output.js'
import {
  failsContract,
  failsStrict,
  missText,
  receiptText,
  violatingAnswerText,
  violationCountsText,
} from './receipt.js'
import { messageEvent, messageLine, requestEvent } from './request-log.js'

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
    /** Reports a request; `entry` has its bodies. */
    request(event: object, line: LogLine, entry?: JournalEntry): void {
      if (json) output.line(jsonLine(event))
      else log.request(line, entry && bodies?.(entry, colors))
    },
    end(): void {
      log.end()
      output.flush()
    },
  }
}

/** Reports requests, beginning with those that were already answered. */
export function logRequests(platform: Platform, log: EventLog, { verbose }: Flags) {
  const { journal } = platform
  const logRequest = (line: LogLine, entry?: JournalEntry) => log.request(requestEvent(line, entry), line, entry)
  for (const entry of journal.entries()) logRequest(entry, verbose ? entry : undefined)
  journal.follow((exchange, id) => {
    // Under heavy load, the journal may already have dropped it.
    const entry = verbose ? journal.get(String(id)) : undefined
    logRequest(entry ?? logLineOf(exchange, platform.redact, callsOf(platform.loaded.config)), entry)
  })
}

/** Reports problems, beginning with those that have already occurred. */
export function logProblems(platform: Platform, log: EventLog): void {
  const { onMiss, violations } = platform
  const logMiss = (miss: Miss) => log.problem({ event: 'miss', ...miss }, colors => missText(miss, colors))
  const logViolations = (violating: EndpointViolations) =>
    log.problem({ event: 'violation', ...violating }, colors => violatingAnswerText(violating, colors))
  for (const violating of violations.list().toReversed()) logViolations(violating)
  onMiss(logMiss)
  violations.onViolating(logViolations)
}

/** Reports messages in the outbox (codes and links), beginning with those that have already been sent. */
export const logMessages = (platform: Pick<Platform, 'onMessage'>, log: Pick<EventLog, 'event'>): void =>
  platform.onMessage(message => log.event(messageEvent(message), colors => messageLine(message, colors)))

/** Reports how a finished run went; with --quiet, only if it failed. Returns whether it failed. */
export function conclude(platform: Platform, log: EventLog, flags: RunFlags): boolean {
  const receipt = platform.receipt()
  const isStrictFailure = failsStrict(receipt, flags)
  const isContractFailure = failsContract(platform, flags)
  const counts = platform.violations.counts()
  if (Object.values(counts).some(count => count > 0)) {
    log.event({ event: 'violations', ...counts }, colors => violationCountsText(counts, colors), isContractFailure)
  }
  if (receipt) log.event({ event: 'receipt', ...receipt }, colors => receiptText(receipt, colors), isStrictFailure)
  log.end()
  return isStrictFailure || isContractFailure
}
