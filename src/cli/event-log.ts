/**
 * Reports what happens in a platform: as JSON lines for programs, or as text for people. Loaded while the port opens.
 */
import type { EndpointViolations } from '../check/finding.js'
import type { JournalEntry } from '../journal/index.js'
import { loadRedact } from '../platform/recordings.js'
import type { Platform } from '../platform.js'
import type { Miss } from '../recordings/index.js'
import type { RunFlags } from './command.js'
import { type LogLine, loadCallOf, logLineOf } from './log-line.js'
import { createLogLines } from './log-lines.js'
import { type Colors, colorsFor, createOutput, isScreen, jsonLine, sizeOf } from './output.js'
import { hasBroken, hasMissed, missText, receiptText, violatingText, violationsText } from './receipt.js'
import { messageEvent, messageLine, requestEvent } from './request-log.js'

type Flags = Pick<RunFlags, 'json' | 'quiet' | 'verbose'>

type Words = (colors: Colors) => string

export type EventLog = Awaited<ReturnType<typeof createEventLog>>

/** `isAlone` means that this log only writes to the terminal, so that lines can be overwritten. */
export async function createEventLog({ json, quiet, verbose }: Flags, stream: NodeJS.WriteStream, isAlone: boolean) {
  const output = createOutput(stream)
  const colors = colorsFor(stream)
  const log = createLogLines({
    output,
    paper: () => ({ colors, ...sizeOf(stream) }),
    isErasable: isAlone && isScreen(stream),
  })
  // After a resize, lines wrap differently and can no longer be overwritten.
  stream.on('resize', log.resized)
  const bodies = verbose && !json ? (await import('./bodies.js')).bodyLines : undefined
  const interrupt = () => {
    log.interrupt()
    output.flush()
  }
  return {
    /** Called before other text is written to the same terminal. */
    interrupt,
    /** Reports an event. With --quiet it is printed only if it is needed. */
    say(event: object, words: Words, isNeeded = false): void {
      if (json) output.line(jsonLine(event))
      else if (isNeeded || !quiet) log.line(words(colors))
    },
    /** Reports a problem. For people it goes to standard error, even with --quiet. */
    problem(event: object, words: Words): void {
      if (json) return output.line(jsonLine(event))
      interrupt()
      console.error(words(colorsFor(process.stderr)))
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

/**
 * Reports requests, beginning with those that were answered before the log was loaded. Returns a function that reloads
 * the redaction rules after a change of the configuration.
 */
export async function tellRequests(platform: Platform, log: EventLog, { verbose }: Flags) {
  const { journal } = platform
  const load = () => Promise.all([loadRedact(platform.loaded.config), loadCallOf(platform.loaded.config)])
  const tell = (line: LogLine, entry?: JournalEntry) => log.request(requestEvent(line, entry), line, entry)
  let redaction = await load()
  for (const entry of journal.entries()) tell(entry, verbose ? entry : undefined)
  journal.follow((exchange, id) => {
    // Under heavy load, the journal may already have dropped it.
    const entry = verbose ? journal.get(String(id)) : undefined
    tell(entry ?? logLineOf(exchange, ...redaction), entry)
  })
  return async () => {
    redaction = await load()
  }
}

/** Reports problems, beginning with those that occurred before the log was loaded. */
export function tellProblems(platform: Platform, log: EventLog): void {
  const { onMiss, violations } = platform
  const tellMiss = (miss: Miss) => log.problem({ event: 'miss', ...miss }, colors => missText(miss, colors))
  const tellViolations = (violating: EndpointViolations) =>
    log.problem({ event: 'violation', ...violating }, colors => violatingText(violating, colors))
  for (const violating of violations.list().toReversed()) tellViolations(violating)
  onMiss(tellMiss)
  violations.onViolating(tellViolations)
}

/** Reports messages in the outbox (codes and links), beginning with those that were sent before the log was loaded. */
export const tellMessages = (platform: Pick<Platform, 'onMessage'>, log: Pick<EventLog, 'say'>): void =>
  platform.onMessage(message => log.say(messageEvent(message), colors => messageLine(message, colors)))

/** Reports how a finished run went; with --quiet, only if it failed. Returns whether it failed. */
export function conclude(platform: Platform, log: EventLog, flags: RunFlags): boolean {
  const receipt = platform.receipt()
  const isShort = hasMissed(receipt, flags)
  const isBroken = hasBroken(platform, flags)
  const counts = platform.violations.counts()
  if (Object.values(counts).some(count => count > 0)) {
    log.say({ event: 'violations', ...counts }, colors => violationsText(counts, colors), isBroken)
  }
  if (receipt) log.say({ event: 'receipt', ...receipt }, colors => receiptText(receipt, colors), isShort)
  log.end()
  return isShort || isBroken
}
