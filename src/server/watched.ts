/** Keeps a witness from doing harm, and tells it its end whatever happens. */
import type { ServerResponse } from 'node:http'
import type { Witness } from '../core/exchange.js'

/**
 * A witness of the answer that `response` is to carry. What it throws is reported; it then hears no more than that it is over, and
 * incomplete. It is told its end once: when the response is closed at the latest, even if nobody has carried an answer.
 */
export function watched(witness: Witness, response: ServerResponse, report: (error: unknown) => void): Witness {
  let failed = false
  let ended = false
  function tell(what: () => void): void {
    if (failed || ended) return
    try {
      what()
    } catch (error) {
      failed = true
      report(error)
    }
  }
  function end(complete: boolean): void {
    if (ended) return
    ended = true
    try {
      witness.end(complete && !failed)
    } catch (error) {
      report(error)
    }
  }
  if (response.destroyed) end(false)
  else response.once('close', () => end(false))
  return {
    head: (status, headers) => tell(() => witness.head(status, headers)),
    bytes: bytes => tell(() => witness.bytes(bytes)),
    end,
  }
}
