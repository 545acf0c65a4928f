/** Reads the journal of a running Standin as an event stream, and resumes after a lost connection. */
import { setTimeout } from 'node:timers/promises'
import { StartError, UsageError } from '../../check/problem.js'
import { createEventSplitter, dataOf } from '../../completions/events.js'
import type { JournalEntry } from '../../journal/index.js'
import { whyLost } from '../address.js'
import { harmless } from '../output.js'

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
/** Longer than the pause between keep-alive messages. */
const SILENCE_MS = 45_000
const ANSWER_MS = 10_000
const FIRST_PAUSE_MS = 200
const LONGEST_PAUSE_MS = 5000

/** Begins with the `last` requests, and ends with `signal`. */
export async function* newsOf(
  place: ControlAddress,
  { filter, last }: { readonly filter: Readonly<Record<string, string>>; readonly last: number },
  signal: AbortSignal,
): AsyncGenerator<TailEvent> {
  let seen: JournalEntry | undefined
  let isFirst = true
  let pauseMs = FIRST_PAUSE_MS
  while (!signal.aborted) {
    try {
      const restarted = seen !== undefined && (await hasRestarted(place, seen, signal))
      if (restarted) seen = undefined
      const query = {
        ...{ ...filter, follow: 'true' },
        ...(isFirst && last > 0 && { limit: String(last) }),
        ...(restarted && { after: '0' }),
      }
      const stream = await open(place, query, signal, seen)
      yield { kind: 'connected', again: !isFirst, restarted }
      isFirst = false
      pauseMs = FIRST_PAUSE_MS
      for await (const news of stream) {
        if (news.kind === 'exchange') seen = news.entry
        yield news
      }
    } catch (error) {
      if (signal.aborted) return
      if (!(error instanceof Lost)) throw error
      if (isFirst) throw nothingThere(place, error)
    }
    if (signal.aborted) return
    if (pauseMs === FIRST_PAUSE_MS) yield { kind: 'lost' }
    await pause(pauseMs, signal)
    pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2)
  }
}

/** The connection failed or was lost. */
class Lost extends Error {}

const nothingThere = ({ url }: ControlAddress, { message }: Lost) =>
  new StartError(
    `Nothing answers at ${url} (${message}). Start Standin there, or give its address: standin tail --url http://127.0.0.1:PORT.`,
  )

/** Continues after the exchange that was received last. */
async function open(
  place: ControlAddress,
  query: Readonly<Record<string, string>>,
  signal: AbortSignal,
  seen: JournalEntry | undefined,
): Promise<AsyncGenerator<TailEvent>> {
  const alive = createPatience(signal)
  const path = `${JOURNAL}?${new URLSearchParams(query)}`
  const response = await ask(place, path, alive.signal, seen && { 'last-event-id': seen.id })
  const type = response.headers.get('content-type') ?? ''
  if (!response.body || !type.startsWith('text/event-stream')) throw noJournal(place, response.status)
  return eventsIn(response.body, alive)
}

async function* eventsIn(
  body: AsyncIterable<Uint8Array>,
  alive: ReturnType<typeof createPatience>,
): AsyncGenerator<TailEvent> {
  const splitter = createEventSplitter()
  try {
    for await (const bytes of body) {
      alive.heard()
      for (const event of splitter.push(Buffer.from(bytes))) yield* newsIn(event)
    }
  } catch (error) {
    throw new Lost(whyLost(error))
  } finally {
    alive.end()
  }
}

function newsIn(event: Buffer): readonly TailEvent[] {
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

/** After a restart, ids begin at 1 again, so the id of the last seen exchange is missing or belongs to another one. */
async function hasRestarted(place: ControlAddress, seen: JournalEntry, signal: AbortSignal): Promise<boolean> {
  const own = await ask(place, `${JOURNAL}/${seen.id}`, limited(signal), {}, [404])
  const value = (await own.json()) as Partial<JournalEntry>
  if (own.status === 200) return value.at !== seen.at || value.durationMs !== seen.durationMs
  const newest = await ask(place, `${JOURNAL}?limit=1`, limited(signal))
  const { data } = (await newest.json()) as { readonly data: readonly JournalEntry[] }
  return Number(data[0]?.id ?? 0) < Number(seen.id)
}

const limited = (signal: AbortSignal) => AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)])

/** Resolves with a successful answer, or one with an expected status. */
async function ask(
  place: ControlAddress,
  path: string,
  signal: AbortSignal,
  headers: Readonly<Record<string, string>> = {},
  expected: readonly number[] = [],
): Promise<Response> {
  const credential = place.token === '' ? {} : { authorization: `Bearer ${place.token}` }
  const response = await fetch(place.url + path, {
    headers: { ...credential, ...headers },
    redirect: 'manual',
    signal,
  }).catch(error => {
    throw new Lost(whyLost(error))
  })
  if (response.ok || expected.includes(response.status)) return response
  throw await refusal(place, response)
}

async function refusal(place: ControlAddress, response: Response): Promise<Error> {
  const { error } = (await response.json().catch(() => ({}))) as { readonly error?: unknown }
  // A proxy answers in its place, and Standin is not back yet.
  if (response.status >= 500) return new Lost(`status ${response.status}`)
  const sentence = typeof error === 'string' ? harmless(error) : undefined
  if (sentence === undefined) return noJournal(place, response.status)
  if (response.status === 400) return new UsageError(sentence)
  const isClosed = response.status === 401 || response.status === 403
  return isClosed
    ? new StartError(`${place.url} does not show its journal. ${sentence} With standin tail, use --control-token.`)
    : noJournal(place, response.status)
}

const noJournal = ({ url }: ControlAddress, status: number) =>
  new StartError(
    `The server at ${url} has no journal (status ${status}). It is not Standin, or an old version. Give the address of Standin: standin tail --url http://127.0.0.1:PORT.`,
  )

/** Aborts a connection that has gone silent. */
function createPatience(signal: AbortSignal) {
  const silent = new AbortController()
  const timer = globalThis.setTimeout(() => silent.abort(new DOMException('silence', 'TimeoutError')), SILENCE_MS)
  return {
    signal: AbortSignal.any([signal, silent.signal]),
    heard: () => void timer.refresh(),
    end: () => clearTimeout(timer),
  }
}

const pause = (ms: number, signal: AbortSignal) => setTimeout(ms, undefined, { signal }).catch(() => {})
