/**
 * Sends a page of the journal piece by piece. Preparing a thousand long exchanges takes seconds, and other requests
 * must not wait.
 */
import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setImmediate as nextTurn } from 'node:timers/promises'

/** `next` is the id from which to continue; absent on the last page. */
export interface JournalPage {
  readonly ids: readonly string[]
  readonly next: string | undefined
}

/** The longest time to work without a break. */
const MOST_WORK_MS = 5
/** The largest piece, however much the reader can take. */
const PIECE_LENGTH = 65_536

/** `find` is called for each id when it is due. Exchanges that the journal has dropped by then are left out. */
export async function sendPage(response: ServerResponse, page: JournalPage, find: (id: string) => object | undefined) {
  try {
    await pipeline(Readable.from(pageText(page, find)), response)
  } catch (error) {
    // The client has disconnected.
    if ((error as NodeJS.ErrnoException).code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error
  }
}

async function* pageText({ ids, next }: JournalPage, find: (id: string) => object | undefined): AsyncGenerator<string> {
  let text = '{"data":['
  let separator = ''
  let untilMs = performance.now() + MOST_WORK_MS
  for (const id of ids) {
    const found = find(id)
    if (!found) continue
    text += separator + JSON.stringify(found)
    separator = ','
    if (text.length < PIECE_LENGTH && performance.now() < untilMs) continue
    yield text
    text = ''
    await nextTurn()
    untilMs = performance.now() + MOST_WORK_MS
  }
  yield `${text}]${next === undefined ? '' : `,"next":${JSON.stringify(next)}`}}`
}
