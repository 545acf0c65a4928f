/** `standin tail`: follows the request log of a running Standin from another terminal. */
import { ProblemsError } from '../../check/problem.js'
import { isLoopback } from '../../core/origins.js'
import { journalFilter } from '../../journal/filter.js'
import { addressFor } from '../address.js'
import { type CommandLine, command, integer, sharedFlags, text, toggle } from '../command.js'
import { createEventLog, type EventLog } from '../event-log.js'
import { pluralize } from '../format.js'
import { load } from '../load.js'
import { colorsFor } from '../output.js'
import { stopOnSignals } from '../stop-signals.js'
import { type ControlAddress, followJournal, type TailEvent } from './stream.js'

export const tailFlags = {
  mode: text('MODE', 'Only requests answered in this mode'),
  json: { ...sharedFlags.json, meaning: 'Print each request as a line of JSON' },
  quiet: { ...sharedFlags.quiet, meaning: 'Print only requests, and nothing about the connection' },
  verbose: toggle('Also show bodies'),
  model: text('ID', 'Only requests for matching models: gpt-4o*'),
  call: text('GLOB', 'Only calls of MCP servers: "tools/call get_*"'),
  url: text('URL', 'Address of Standin (PLATFORM_BASE_URL, or as configured)'),
  'control-token': text('TOKEN', 'Token for its control API, which needs one if other machines can reach it'),
  last: integer([0, 1000], 'Show this many earlier requests first (0)', 0),
  method: text('METHOD', 'Only requests with this method'),
  path: text('GLOB', 'Only requests to matching paths: /v1/*'),
  endpoint: text('GLOB', 'Only requests to matching endpoints: *completions'),
  status: text('STATUS', 'Only answers with this status: 429, 4xx, none'),
  caller: text('KIND', 'Only requests of this kind of caller: apiKey, user, anon, service, refused, anonymous'),
  credential: text('TEXT', 'Only requests with this credential: the name of a key, "revoked key", none'),
  source: text('TEXT', 'Only answers whose source (a rule, a recording) contains this text'),
  scope: text('NAME', 'Only requests of this scope'),
  search: text('TEXT', 'Only with this text in path, status, source, model, prompt, call, error or credential'),
  text: text('TEXT', 'Only requests with this text in their body'),
  answer: text('TEXT', 'Only answers with this text; the chunks of a stream are joined'),
  complete: text('true|false', 'Only complete answers, or only incomplete ones'),
  problems: toggle('Only requests that have no recording, were refused, failed or broke off'),
}

type Line = CommandLine<typeof tailFlags>

export const commands = {
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
  const log = await createEventLog(line.flags, process.stdout, true)
  for await (const event of followJournal(address, { filter: filterIn(line), last: line.flags.last }, signal)) {
    if (event.kind === 'exchange') log.request(event.entry, event.entry, event.entry)
    else if (!line.flags.quiet) printNotice(noticeText(event, address), log)
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

/** The flags as a journal query. The journal checks the values. */
export const filterIn = ({ flags }: Pick<Line, 'flags'>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.keys(journalFilter.entries).flatMap(name => {
      const value = (flags as Readonly<Record<string, unknown>>)[name]
      return value === undefined || value === false ? [] : [[name, String(value)]]
    }),
  )

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
