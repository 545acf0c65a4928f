/** Reads the journal of a running Standin as an event stream, and resumes after a lost connection. */
import { setTimeout } from 'node:timers/promises'
import { createEventSplitter, dataOf } from '../../chat/events.js'
import { StartError, UsageError } from '../../check/problem.js'
import type { JournalEntry } from '../../journal/index.js'
import { printable } from '../output.js'

export interface ControlAddress {
  readonly url: string
  /** Empty if there is none. */
  readonly token: string
}

export type TailEvent =
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
export async function* followJournal(
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

/** The reason for a failed `fetch` in a few words: the system's error code, if there is one. */
function connectionFailure(error: unknown): string {
  const { message, cause, name } = error as Error & { cause?: { code?: string; message?: string } }
  return cause?.code ?? (name === 'TimeoutError' ? 'no answer' : (cause?.message ?? message))
}

/** The connection failed or was lost. */
class ConnectionLost extends Error {}

const notReachable = ({ url }: ControlAddress, { message }: ConnectionLost) =>
  new StartError(
    `Nothing answers at ${url} (${message}). Start Standin there, or give its address: standin tail --url http://127.0.0.1:PORT.`,
  )

/** The stream continues after `lastEntry`, if there is one. */
async function openStream(
  address: ControlAddress,
  query: Readonly<Record<string, string>>,
  signal: AbortSignal,
  lastEntry: JournalEntry | undefined,
): Promise<AsyncGenerator<TailEvent>> {
  const timeout = createSilenceTimeout(signal)
  const path = `${JOURNAL}?${new URLSearchParams(query)}`
  const response = await request(address, path, timeout.signal, lastEntry && { 'last-event-id': lastEntry.id })
  const type = response.headers.get('content-type') ?? ''
  if (!response.body || !type.startsWith('text/event-stream')) throw journalMissing(address, response.status)
  return eventsIn(response.body, timeout)
}

async function* eventsIn(
  body: AsyncIterable<Uint8Array>,
  timeout: ReturnType<typeof createSilenceTimeout>,
): AsyncGenerator<TailEvent> {
  const splitter = createEventSplitter()
  try {
    for await (const bytes of body) {
      timeout.restart()
      for (const event of splitter.push(Buffer.from(bytes))) yield* parseEvent(event)
    }
  } catch (error) {
    throw new ConnectionLost(connectionFailure(error))
  } finally {
    timeout.end()
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

/** After a restart, ids begin at 1 again, so the id of the last entry is missing or belongs to another one. */
async function hasRestarted(address: ControlAddress, lastEntry: JournalEntry, signal: AbortSignal): Promise<boolean> {
  const response = await request(address, `${JOURNAL}/${lastEntry.id}`, withTimeout(signal), {}, [404])
  const value = (await response.json()) as Partial<JournalEntry>
  if (response.status === 200) return value.at !== lastEntry.at || value.durationMs !== lastEntry.durationMs
  const newest = await request(address, `${JOURNAL}?limit=1`, withTimeout(signal))
  const { data } = (await newest.json()) as { readonly data: readonly JournalEntry[] }
  return Number(data[0]?.id ?? 0) < Number(lastEntry.id)
}

const withTimeout = (signal: AbortSignal) => AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)])

/** Resolves with a successful answer, or with one that has an expected status. */
async function request(
  address: ControlAddress,
  path: string,
  signal: AbortSignal,
  headers: Readonly<Record<string, string>> = {},
  expected: readonly number[] = [],
): Promise<Response> {
  const credential = address.token === '' ? {} : { authorization: `Bearer ${address.token}` }
  const response = await fetch(address.url + path, {
    headers: { ...credential, ...headers },
    redirect: 'manual',
    signal,
  }).catch(error => {
    throw new ConnectionLost(connectionFailure(error))
  })
  if (response.ok || expected.includes(response.status)) return response
  throw await refusal(address, response)
}

async function refusal(address: ControlAddress, response: Response): Promise<Error> {
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

/** Aborts a connection that has gone silent. */
function createSilenceTimeout(signal: AbortSignal) {
  const silent = new AbortController()
  const timer = globalThis.setTimeout(() => silent.abort(new DOMException('silence', 'TimeoutError')), SILENCE_MS)
  return {
    signal: AbortSignal.any([signal, silent.signal]),
    restart: () => void timer.refresh(),
    end: () => clearTimeout(timer),
  }
}

const pause = (ms: number, signal: AbortSignal) => setTimeout(ms, undefined, { signal }).catch(() => {})
