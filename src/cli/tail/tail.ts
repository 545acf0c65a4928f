/** `standin tail`: follows the request log of a running Standin from another terminal. */
import { ProblemsError } from '../../check/problem.js'
import { isLoopback } from '../../core/origins.js'
import { addressFor } from '../address.js'
import { addressFlags, type CommandLine, command, integer, text, toggle } from '../command.js'
import { createEventLog, type EventLog } from '../event-log.js'
import { load } from '../load.js'
import { colorsFor, pluralize } from '../output.js'
import { stopOnSignals } from '../stop-signals.js'
import { type ControlAddress, followJournal, type TailEvent } from './stream.js'

const tailFlags = {
  ...addressFlags,
  url: text('URL', 'Address of Standin (PLATFORM_BASE_URL, or as configured)'),
  'control-token': text('TOKEN', 'Token for its control API, which needs one if other machines can reach it'),
  last: integer([0, 1000], 'Show this many earlier requests first (0)', 0),
  status: text('STATUS', 'Only answers with this status: 429, 4xx, none'),
  text: text('TEXT', 'Only requests with this text in their body'),
  json: toggle('Print each request as a line of JSON'),
  verbose: toggle('Also show bodies'),
}

type Line = CommandLine<typeof tailFlags>

export const tailCommands = {
  tail: command({
    flags: tailFlags,
    examples: [
      ['standin tail --last 20 --status 4xx', 'show refused requests, beginning with the last 20'],
      ['standin tail --json | jq .request.path', 'pass the requests to a program'],
    ],
    run: tail,
  }),
}

async function tail(line: Line): Promise<undefined> {
  const address = controlAddress(line)
  const signal = stopOnSignals()
  const { json, verbose, last, status, text } = line.flags
  const log = await createEventLog({ json, verbose, quiet: false }, process.stdout, true)
  const filter = { ...(status !== undefined && { status }), ...(text !== undefined && { text }) }
  for await (const event of followJournal(address, { filter, last }, signal)) {
    if (event.kind === 'exchange') log.request(event.entry, event.entry, event.entry)
    else printNotice(noticeText(event, address), log)
  }
  log.end()
}

/** Prints to standard error, so that a pipe gets only the requests. */
function printNotice(sentence: string, log: EventLog): void {
  log.interrupt()
  console.error(colorsFor(process.stderr).dim(sentence))
}

function noticeText(event: Exclude<TailEvent, { kind: 'exchange' }>, { url }: ControlAddress): string {
  switch (event.kind) {
    case 'skipped':
      return `${pluralize(event.count, 'request')} not shown, because there were too many at once.`
    case 'lost':
      return `The connection to ${url} was lost. Reconnecting.`
    case 'connected':
      if (!event.again) return `Following ${url}. Press Ctrl-C to stop.`
      return event.restarted ? `${url} was restarted.` : `Reconnected to ${url}.`
  }
}

/** The configured token is only sent to this machine. */
function controlAddress(line: Line): ControlAddress {
  const { url: urlFlag, 'control-token': token } = line.flags
  const { url, isConfigured } = addressFor(line, urlFlag)
  const mayHaveToken = isConfigured || isLoopback(url.hostname)
  return { url: url.origin, token: token ?? (mayHaveToken ? configuredToken(line) : '') }
}

function configuredToken(line: Line): string {
  try {
    return load(line).config.controlToken
  } catch (error) {
    // The address is known without it, so a broken configuration does not matter.
    if (error instanceof ProblemsError) return ''
    throw error
  }
}
