/** Asks the live platform, and waits when it says that it is asked too often. */
import { setTimeout as pause } from 'node:timers/promises'
import { headerIn } from '../core/headers.js'
import type { Heard } from './heard.js'
import type { RecordedRequest } from './recording.js'

/** Sends a request to the live platform. Rejects with an Error that says why when no answer comes; `signal` ends it. */
export type Ask = (request: RecordedRequest, signal: AbortSignal) => Promise<Heard>

/** How often one request is sent. */
const MOST_TRIES = 3
/** Whoever asks for more patience than this is asked another day. */
const LONGEST_WAIT_MS = 30_000
/** For a 429 that does not say how long. */
const USUAL_WAIT_MS = 1000

/** Asks through `ask`. All requests wait for what one of them was told; an answer that is a 429 in the end is given back as such. */
export function patientAsk(ask: Ask): Ask {
  let notBeforeMs = 0

  return async (request, signal) => {
    for (let attempt = 1; ; attempt++) {
      const waitMs = notBeforeMs - Date.now()
      if (waitMs > 0) await pause(waitMs, undefined, { signal })
      const heard = await ask(request, signal)
      if (heard.status !== 429 || attempt === MOST_TRIES) return heard
      const wantedMs = waitWanted(headerIn(heard.headers, 'retry-after'))
      if (wantedMs > LONGEST_WAIT_MS) return heard
      notBeforeMs = Math.max(notBeforeMs, Date.now() + wantedMs)
    }
  }
}

/** Retry-After is a number of seconds or a date (RFC 9110 §10.2.3). */
function waitWanted(retryAfter: string | undefined): number {
  if (retryAfter === undefined) return USUAL_WAIT_MS
  const wantedMs = /^\d+$/.test(retryAfter) ? Number(retryAfter) * 1000 : Date.parse(retryAfter) - Date.now()
  return Number.isNaN(wantedMs) ? USUAL_WAIT_MS : Math.max(0, wantedMs)
}
