/** `standin tail`: follows the request log of a running Standin from another terminal. */
import { setTimeout } from 'node:timers/promises'
import { Agent, fetch, type Response } from 'undici'
import { createEventSplitter, dataOf } from '../chat/events.js'
import { ProblemsError, StartError, UsageError } from '../check/problem.js'
import { isLoopback } from '../core/origins.js'
import type { JournalEntry } from '../journal/index.js'
import { type CommandLine, command, integer, textFlag, toggle } from './command.js'
import { createEventLog, type EventLog } from './event-log.js'
import { loadedConfig } from './load.js'
import { colorsFor, pluralize, printable } from './output.js'
import { connectionFailure, runningAddress, runningFlags } from './running.js'
import { stopOnSignals } from './stop-signals.js'

const tailFlags = {
  ...runningFlags,
  'control-token': textFlag('TOKEN', 'Token for its control API, which needs one if other machines can reach it'),
  last: integer([0, 1000], 'Show this many earlier requests first (0)', 0),
  status: textFlag('STATUS', 'Only answers with this status: 429, 4xx, none'),
  text: textFlag('TEXT', 'Only requests with this text in their body'),
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
    if (event.kind === 'exchange') log.request(event.entry, event.entry)
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

/** The configured token is only sent to this machine and to the configured address. */
function controlAddress(line: Line): ControlAddress {
  const { url, isConfigured } = runningAddress(line)
  const mayHaveToken = isConfigured || isLoopback(url.hostname)
  return { url: url.origin, token: line.flags['control-token'] ?? (mayHaveToken ? configuredToken(line) : '') }
}

function configuredToken(line: Line): string {
  try {
    return loadedConfig(line).config.controlToken
  } catch (error) {
    // The address is known without it, so a broken configuration does not matter.
    if (error instanceof ProblemsError) return ''
    throw error
  }
}

interface ControlAddress {
  readonly url: string
  /** Empty if there is none. */
  readonly token: string
}

type TailEvent =
  | { readonly kind: 'exchange'; readonly entry: JournalEntry }
  /** The number of requests left out because there were too many at once. */
  | { readonly kind: 'skipped'; readonly count: number }
  | { readonly kind: 'lost' }
  | { readonly kind: 'connected'; readonly again: boolean; readonly restarted: boolean }

const JOURNAL = '/__standin/journal'
/** After this time without data the connection counts as lost. Longer than the interval of keep-alive messages. */
const SILENCE_MS = 45_000
const ANSWER_MS = 10_000
const FIRST_PAUSE_MS = 200
const LONGEST_PAUSE_MS = 5000

/** Yields events from the last `last` requests on, until `signal` aborts. Throws a StartError or a UsageError. */
async function* followJournal(
  address: ControlAddress,
  { filter, last }: { readonly filter: Readonly<Record<string, string>>; readonly last: number },
  signal: AbortSignal,
): AsyncGenerator<TailEvent> {
  let lastEntry: JournalEntry | undefined
  let isFirst = true
  let pauseMs = FIRST_PAUSE_MS
  while (!signal.aborted) {
    try {
      const restarted = lastEntry !== undefined && (await hasRestarted(address, lastEntry, signal))
      if (restarted) lastEntry = undefined
      const query = {
        ...filter,
        follow: 'true',
        ...(isFirst && last > 0 && { limit: String(last) }),
        ...(restarted && { after: '0' }),
      }
      const stream = await openStream(address, query, signal, lastEntry)
      yield { kind: 'connected', again: !isFirst, restarted }
      isFirst = false
      pauseMs = FIRST_PAUSE_MS
      for await (const event of stream) {
        if (event.kind === 'exchange') lastEntry = event.entry
        yield event
      }
    } catch (error) {
      if (signal.aborted) return
      if (!(error instanceof ConnectionLost)) throw error
      if (isFirst) throw notReachable(address, error)
    }
    if (signal.aborted) return
    if (pauseMs === FIRST_PAUSE_MS) yield { kind: 'lost' }
    await pause(pauseMs, signal)
    pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2)
  }
}

/** The connection failed or was lost. */
class ConnectionLost extends Error {}

const notReachable = ({ url }: ControlAddress, { message }: ConnectionLost) =>
  new StartError(
    `Nothing answers at ${url} (${message}). Start Standin there, or give its address: standin tail --url http://127.0.0.1:PORT.`,
  )

/** The events of a stream that continues after `lastEntry`, if there is one. */
async function openStream(
  address: ControlAddress,
  query: Readonly<Record<string, string>>,
  signal: AbortSignal,
  lastEntry: JournalEntry | undefined,
): Promise<AsyncGenerator<TailEvent>> {
  const resume = lastEntry && { 'last-event-id': lastEntry.id }
  const { headers, body, status } = await askJournal(address, query, signal, resume)
  if (!body || !headers.get('content-type')?.startsWith('text/event-stream')) throw journalMissing(address, status)
  return eventsIn(body)
}

async function* eventsIn(body: AsyncIterable<Uint8Array>): AsyncGenerator<TailEvent> {
  const splitter = createEventSplitter()
  try {
    for await (const bytes of body) {
      for (const event of splitter.push(Buffer.from(bytes))) yield* parseEvent(event)
    }
  } catch (error) {
    throw new ConnectionLost(connectionFailure(error))
  }
}

function parseEvent(event: Buffer): readonly TailEvent[] {
  const [, name = ''] = /^event: ?(\w+)/m.exec(event.toString('latin1')) ?? []
  const data = dataOf(event)
  if (data === undefined) return []
  try {
    const value = JSON.parse(data)
    if (name === 'skipped') return [{ kind: 'skipped', count: Number(value.count) }]
    return name === 'exchange' ? [{ kind: 'exchange', entry: value }] : []
  } catch {
    // The event was too long to be assembled.
    return [{ kind: 'skipped', count: 1 }]
  }
}

/** After a restart, ids begin at 1 again, so that of the last entry is not yet in use, or belongs to another one. */
async function hasRestarted(address: ControlAddress, last: JournalEntry, signal: AbortSignal): Promise<boolean> {
  const query = { after: String(Number(last.id) - 1), limit: '1' }
  const answer = await askJournal(address, query, signal)
  const [first] = ((await answer.json()) as { readonly data: readonly JournalEntry[] }).data
  return !first || (first.id === last.id && (first.at !== last.at || first.durationMs !== last.durationMs))
}

/** Garbage collection may remove the limits of signals; the connection itself holds these. */
const dispatcher = new Agent({ headersTimeout: ANSWER_MS, bodyTimeout: SILENCE_MS })

/** Resolves with a successful answer. */
async function askJournal(
  { url, token }: ControlAddress,
  query: Readonly<Record<string, string>>,
  signal: AbortSignal,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const response = await fetch(`${url}${JOURNAL}?${new URLSearchParams(query)}`, {
    headers: { ...(token !== '' && { authorization: `Bearer ${token}` }), ...headers },
    redirect: 'manual',
    dispatcher,
    signal,
  }).catch(error => {
    throw new ConnectionLost(connectionFailure(error))
  })
  if (response.ok) return response
  throw await journalRefusal({ url, token }, response)
}

async function journalRefusal(address: ControlAddress, response: Response): Promise<Error> {
  const { error } = (await response.json().catch(() => ({}))) as { readonly error?: unknown }
  // A proxy in front of Standin answers while it is down.
  if (response.status >= 500) return new ConnectionLost(`status ${response.status}`)
  const sentence = typeof error === 'string' ? printable(error) : undefined
  if (sentence === undefined) return journalMissing(address, response.status)
  if (response.status === 400) return new UsageError(sentence)
  const isClosed = response.status === 401 || response.status === 403
  return isClosed
    ? new StartError(`${address.url} refuses to show its journal. ${sentence} Give the token with --control-token.`)
    : journalMissing(address, response.status)
}

const journalMissing = ({ url }: ControlAddress, status: number) =>
  new StartError(
    `The server at ${url} has no journal (status ${status}), so it is not Standin, or an old version. Give the address of Standin: standin tail --url http://127.0.0.1:PORT.`,
  )

const pause = (ms: number, signal: AbortSignal) => setTimeout(ms, undefined, { signal }).catch(() => {})
