/** Reads the body of a streamed chat completion. */
import { jsonOf } from '../core/json.js'
import { dataOf, eventsIn } from './events.js'
import { chunkIn, createSum, hasDelta, type VendorChunk, type VendorCompletion } from './reader.js'

export const isDone = (data: string) => data.trim() === '[DONE]'

/** Returns the chunk in an event, if there is one. */
export function chunkOf(event: Buffer): VendorChunk | undefined {
  const data = dataOf(event)
  return data === undefined ? undefined : chunkIn(jsonOf(data))
}

/**
 * What a stream sent before it ended or failed: a completion if it is one, and whether it is entire, with `[DONE]`, no
 * error, and nothing but chunks.
 */
export function readStream(body: Buffer): {
  readonly completion: VendorCompletion | undefined
  readonly isEntire: boolean
} {
  const sum = createSum()
  let hasDeltas = false
  const result = (isEntire: boolean) => ({ isEntire, completion: hasDeltas ? sum.completion() : undefined })
  for (const event of eventsIn(body)) {
    const data = dataOf(event)
    if (data === undefined) continue
    if (isDone(data)) return result(true)
    const chunk = namesError(event) ? undefined : chunkIn(jsonOf(data))
    if (!chunk || (chunk.error ?? null) !== null) return result(false)
    hasDeltas ||= hasDelta(chunk)
    sum.add(chunk)
  }
  return result(false)
}

const namesError = (event: Buffer) => /^event: ?error\r?$/m.test(event.toString('latin1'))
