/** Follows the journal until it is stopped, even if Standin restarts. */
import { createParser, type EventSourceMessage } from 'eventsource-parser'
import type { JournalBrief, Tick } from '../../journal/operations.js'
import type { Control } from '../api.js'
import { type Failure, failureOf, noAnswer } from '../failure.js'

export interface FeedBeginning {
  /** Changes with each start of Standin, when ids begin again. */
  readonly run: string
  /** Everything after this id will be sent, or is skipped if there is too much at once. */
  readonly after: string
  /** Everything up to this id was deleted. */
  readonly cleared: string
  /** Those of the last two minutes. */
  readonly ticks: readonly Tick[]
}

/** Receives the events of the feed, by their names there, and `lost`. */
export interface FeedReader {
  /** The connection is open. */
  began(begun: FeedBeginning): void
  exchanges(briefs: readonly JournalBrief[]): void
  tick(tick: Tick): void
  /** The requests of a scope, or all of them, were deleted. */
  cleared(of: { readonly scope?: string }): void
  lost(failure: Failure): void
}

const FIRST = 500
const AGAIN_MS = 1000
/** The server sends a tick every second. After this long without data, the connection counts as dead. */
const SILENT_MS = 15_000

/** Runs until `leaving` is aborted. A refusal is reported once and ends it, as only another key could change that. */
export async function followJournal(control: Control, reader: FeedReader, leaving: AbortSignal): Promise<void> {
  while (!leaving.aborted) {
    const failure = await followOnce(control, reader, leaving).catch(failureOf)
    if (leaving.aborted) return
    reader.lost(failure)
    if (isRefusal(failure)) return
    await new Promise(resolve => setTimeout(resolve, AGAIN_MS))
  }
}

export const isRefusal = ({ status }: Failure) => status === 401 || status === 403

async function followOnce(control: Control, reader: FeedReader, leaving: AbortSignal): Promise<Failure> {
  const silent = new AbortController()
  let patience = setTimeout(() => silent.abort(), SILENT_MS)
  try {
    const query = { follow: true, brief: true, limit: FIRST }
    const signal = AbortSignal.any([leaving, silent.signal])
    const { body } = await control.open('GET /journal', { query, signal })
    if (!body) return noAnswer()
    const chunks = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader()
    const events = createParser({ onEvent: event => tell(reader, event) })
    for (;;) {
      const { done, value } = await chunks.read()
      if (done) return noAnswer()
      clearTimeout(patience)
      patience = setTimeout(() => silent.abort(), SILENT_MS)
      events.feed(value)
    }
  } catch (thrown) {
    // A broken connection is a network error, in the browser's words.
    const failure = failureOf(thrown)
    return failure.status < 0 ? noAnswer() : failure
  } finally {
    clearTimeout(patience)
  }
}

function tell(reader: FeedReader, { event, data }: EventSourceMessage): void {
  const readers: Readonly<Record<string, ((json: never) => void) | undefined>> = { ...reader }
  readers[event ?? '']?.(JSON.parse(data) as never)
}
