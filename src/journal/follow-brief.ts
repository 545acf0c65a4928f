/** Streams exchanges to a list: in short, several at a time. */
import type { ServerResponse } from 'node:http'
import type { JournaledExchange } from './entry.js'
import type { JournalFilter } from './filter.js'
import { followWith, MOST_WAITING, readSafely } from './follow.js'
import type { Journal } from './journal.js'
import type { JournalBrief } from './shapes.js'
import { sizeOf } from './size.js'

/** Waiting exchanges are held with their bodies, even if the journal has dropped them in the meantime. */
const MOST_WAITING_BYTES = 8 * 1_048_576
/** At most this many are sent at once, since answering requests comes first. */
const MOST_AT_ONCE = 50

interface BriefFollowOptions {
  readonly filter: JournalFilter
  /** What is sent first, before anything new. */
  readonly firstBriefs: readonly JournalBrief[]
  /** Changes with each start of the platform, when ids begin again. */
  readonly run: string
}

/** Takes a response whose head has been written. Ends with the connection, or when the returned function is called. */
export function followInBrief(
  response: ServerResponse,
  journal: Journal,
  { filter, firstBriefs, run }: BriefFollowOptions,
): () => void {
  const waiting = new WaitingQueue()
  const { write, writeBriefs } = eventsTo(response)

  /** Returns whether more are waiting. */
  function sendWaiting(most = MOST_AT_ONCE): boolean {
    const briefs = waitingBriefs(waiting, journal, most)
    if (waiting.skipped > 0) write('skipped', { count: waiting.skipped })
    waiting.skipped = 0
    writeBriefs(briefs)
    return waiting.hasMore
  }

  // From here on, ids have gaps only if exchanges are skipped.
  const after = firstBriefs[0] ? String(Number(firstBriefs[0].id) - 1) : journal.lastId()
  const cleared = journal.clearedId()
  write('began', { run, after, cleared })
  writeBriefs(firstBriefs)
  return followWith(response, journal, {
    ...{ filter, pauseMs: 100 },
    take: journaled => waiting.add(journaled),
    send: () => sendWaiting(),
    cleared(scope) {
      // Exchanges from before are sent first.
      sendWaiting(Number.POSITIVE_INFINITY)
      write('cleared', { scope })
    },
  })
}

function eventsTo(response: ServerResponse) {
  const write = (event: string, value: object, id = '') =>
    response.write(`event: ${event}\n${id && `id: ${id}\n`}data: ${JSON.stringify(value)}\n\n`)
  return {
    write,
    /** The id of the event is that of the last exchange. */
    writeBriefs(briefs: readonly JournalBrief[]): void {
      if (briefs.length > 0) write('exchanges', briefs, briefs.at(-1)?.id)
    },
  }
}

function waitingBriefs(waiting: WaitingQueue, journal: Journal, most: number): readonly JournalBrief[] {
  const briefs: JournalBrief[] = []
  for (let count = 0; count < most; count++) {
    const next = waiting.next()
    if (!next) break
    const brief = readSafely(() => journal.brief(next))
    if (brief) briefs.push(brief)
    else waiting.skipped++
  }
  return briefs
}

/** Exchanges that wait to be sent. If there are too many, or they are too large, the oldest are dropped. */
class WaitingQueue {
  private readonly queue: JournaledExchange[] = []
  private bytes = 0
  skipped = 0

  add(journaled: JournaledExchange): void {
    this.queue.push(journaled)
    this.bytes += sizeOf(journaled.exchange)
    while (this.queue.length > MOST_WAITING || (this.bytes > MOST_WAITING_BYTES && this.queue.length > 1)) {
      this.next()
      this.skipped++
    }
  }

  /** The one that has waited longest. */
  next(): JournaledExchange | undefined {
    const journaled = this.queue.shift()
    this.bytes = this.queue.length === 0 || !journaled ? 0 : this.bytes - sizeOf(journaled.exchange)
    return journaled
  }

  get hasMore(): boolean {
    return this.queue.length > 0
  }
}
