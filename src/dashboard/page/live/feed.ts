/** Follows the journal, also across restarts of Standin. */
import { createParser, type EventSourceMessage } from 'eventsource-parser'
import type { JournalBrief, JournalFlight } from '../../../journal/operations.js'
import type { SituationJson } from '../../../situation/operations.js'
import { control, type Failure, failureOf, noAnswer } from '../api.js'
import { textsOf } from '../widgets/json.js'

interface FeedBeginning {
  /** Changes with each start of Standin, when ids begin again. */
  readonly run: string
  /** Everything after this id follows, unless there is too much at once. */
  readonly after: string
  /** Everything up to this id was deleted. */
  readonly cleared: string
}

/** A method for each event of the feed, and `lost`. */
export interface FeedReader {
  began(begun: FeedBeginning): void
  exchanges(briefs: readonly JournalBrief[]): void
  /** All requests in flight, as they are now. */
  flights(flights: readonly JournalFlight[]): void
  situation(situation: SituationJson): void
  /** The exchanges of a scope were deleted, or all of them. */
  cleared(of: { readonly scope?: string }): void
  lost(failure: Failure): void
}

const FIRST = 200
const AGAIN_MS = 1000
/** The server sends a sign of life every five seconds, so after this long without data the connection is dead. */
const SILENT_MS = 15_000

/** Runs until `leaving` is aborted, or a request is refused: retrying with the same key would not help. */
export async function followJournal(reader: FeedReader, leaving: AbortSignal): Promise<void> {
  while (!leaving.aborted) {
    const failure = await followOnce(reader, leaving).catch(failureOf)
    if (leaving.aborted) return
    reader.lost(failure)
    if (isRefusal(failure)) return
    await new Promise(resolve => setTimeout(resolve, AGAIN_MS))
  }
}

export const isRefusal = ({ status }: Failure) => status === 401 || status === 403

async function followOnce(reader: FeedReader, leaving: AbortSignal): Promise<Failure> {
  const silent = new AbortController()
  let patience = setTimeout(() => silent.abort(), SILENT_MS)
  try {
    const query = { follow: true, brief: true, limit: FIRST }
    const signal = AbortSignal.any([leaving, silent.signal])
    const { body } = await control.open('GET /journal', { query, signal })
    if (!body) return noAnswer()
    const events = createParser({ onEvent: event => dispatch(reader, event) })
    for await (const text of textsOf(body)) {
      clearTimeout(patience)
      patience = setTimeout(() => silent.abort(), SILENT_MS)
      events.feed(text)
    }
    return noAnswer()
  } catch (thrown) {
    // A broken connection is a network error with the browser's own message.
    const failure = failureOf(thrown)
    return failure.status < 0 ? noAnswer() : failure
  } finally {
    clearTimeout(patience)
  }
}

function dispatch(reader: FeedReader, { event, data }: EventSourceMessage): void {
  const readers: Readonly<Record<string, ((json: never) => void) | undefined>> = { ...reader }
  readers[event ?? '']?.(JSON.parse(data) as never)
}
