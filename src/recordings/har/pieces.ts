/** Cuts the body of an answer into the pieces in which the network may have delivered it. */
import { createEventSplitter } from '../../core/events.js'
import type { RecordedChunk } from '../recording.js'
import type { Entry } from './form.js'

type Written = Entry['response']['content']['_chunks']

/** The pieces that are written beside the body, where they fit it. */
export function ownPieces(body: Buffer, written: Written): readonly RecordedChunk[] | undefined {
  if (!written || written.reduce((sum, { bytes }) => sum + bytes, 0) !== body.length) return undefined
  let start = 0
  return written.map(({ atMs, bytes }) => {
    start += bytes
    return { atMs, bytes: body.subarray(start - bytes, start) }
  })
}

/** One piece for each event, spread evenly: HAR has no times for them. */
export function evenPieces(events: readonly Buffer[], endMs: number): readonly RecordedChunk[] {
  return events.map((bytes, i) => ({ atMs: rounded((endMs * (i + 1)) / events.length), bytes }))
}

/** The events of a stream, or its lines, byte for byte; the last one perhaps without its end. */
export function eventsOf(body: Buffer, type: string): readonly Buffer[] {
  if (!/^text\/event-stream/i.test(type)) return linesOf(body)
  const splitter = createEventSplitter()
  const events = splitter.push(body)
  const rest = splitter.rest()
  return rest.length === 0 ? events : [...events, rest]
}

function linesOf(body: Buffer): readonly Buffer[] {
  const lines: Buffer[] = []
  for (let start = 0; start < body.length; ) {
    const end = body.indexOf('\n', start) + 1 || body.length
    lines.push(body.subarray(start, end))
    start = end
  }
  return lines
}

/** To a tenth of a millisecond, as recordings have it. */
export const rounded = (ms: number) => Math.round(ms * 10) / 10
