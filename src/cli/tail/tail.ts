/** `standin tail`: follows the request log of a running Standin from another terminal. */
import { ProblemsError, UsageError } from '../../check/problem.js'
import { isLoopback } from '../../core/origins.js'
import { urlHost } from '../../http/listen.js'
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
  const { 'control-token': token } = line.flags
  const { url, isConfigured } = addressFor(line)
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

/**
 * The address of a running Standin: from --url, the environment, or the configuration in this folder. PLATFORM_BASE_URL is set by `standin exec` or a copied .env. The credentials of the
 * configuration belong to the address only if `isConfigured`. Throws a UsageError if there is no address.
 */
function addressFor(line: Line) {
  const { url: urlFlag, port, host } = line.flags
  const url = urlFlag ?? (port === undefined && host === undefined ? fromEnvironment() : undefined)
  return url === undefined
    ? { url: configuredAddress(line), isConfigured: true }
    : { url: parseAddress(url), isConfigured: false }
}

/** An address that is not on this machine is ignored: it may be the live platform. */
function fromEnvironment(): string | undefined {
  const url = process.env.PLATFORM_BASE_URL ?? ''
  if (!URL.canParse(url)) return undefined
  return isLoopback(new URL(url).hostname) ? url : undefined
}

function parseAddress(input: string): URL {
  if (/^https?:\/\//i.test(input) && URL.canParse(input)) return new URL(input)
  throw new UsageError(`--url must be an http or https address such as http://127.0.0.1:4100, not "${input}".`)
}

function configuredAddress(line: Line): URL {
  const { config } = load(line)
  if (config.port === 0) {
    throw new UsageError(
      'The configured port is 0, so Standin uses any free one. Give the address with --url http://127.0.0.1:PORT.',
    )
  }
  return new URL(`http://${urlHost(config.host)}:${config.port}`)
}
