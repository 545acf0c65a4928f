/** Follows the journal for as long as somebody looks, over restarts of Standin. */
import { createParser, type EventSourceMessage } from 'eventsource-parser'
import type { JournalBrief, Tick } from '../../journal/operations.js'
import type { Control } from '../api.js'
import { type Failure, failureOf, noAnswer } from '../failure.js'

/** What is told of the connection and over it. */
interface FeedReader {
  /** All behind the id `after` is told, or left out for want of time. */
  began(run: string, after: string): void
  exchanges(briefs: readonly JournalBrief[]): void
  tick(tick: Tick): void
  /** Cut off, or never let in. */
  lost(failure: Failure): void
}

interface Began {
  readonly run: string
  readonly after: string
}

/** How many are there at once when the page opens. */
const FIRST = 500
const AGAIN_MS = 1000
/** A tick comes each second; after so long without one nobody is there any more. */
const SILENT_MS = 15_000

/** Goes on until `leaving`. A refusal is told once and ends it: only another key would change that. */
export async function followJournal(control: Control, reader: FeedReader, leaving: AbortSignal): Promise<void> {
  while (!leaving.aborted) {
    const failure = await followOnce(control, reader, leaving).catch(failureOf)
    if (leaving.aborted) return
    reader.lost(failure)
    if (isRefusal(failure)) return
    await pause(AGAIN_MS, leaving)
  }
}

export const isRefusal = ({ status }: Failure) => status === 401 || status === 403

/** Resolves with how it ended. */
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
    // A connection that breaks in the middle is an error of the network, in the words of the browser.
    const failure = failureOf(thrown)
    return failure.status < 0 ? noAnswer() : failure
  } finally {
    clearTimeout(patience)
  }
}

function tell(reader: FeedReader, { event, data }: EventSourceMessage): void {
  const json: unknown = JSON.parse(data)
  switch (event) {
    case 'began':
      return reader.began((json as Began).run, (json as Began).after)
    case 'exchanges':
      return reader.exchanges(json as readonly JournalBrief[])
    case 'tick':
      return reader.tick(json as Tick)
  }
}

const pause = (ms: number, leaving: AbortSignal) =>
  new Promise<void>(resolve => {
    const timer = setTimeout(resolve, ms)
    leaving.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
