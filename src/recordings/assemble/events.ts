/** Reads the events of a recorded stream of a chat completion. */
import { createEventSplitter, dataOf } from '../../core/events.js'
import { atOnce, type Sliced } from '../../core/work.js'
import { bodyOf, type RecordedResponse } from '../recording.js'
import { type Chunk, chunkIn } from './forms.js'

/** The events of a body one after the other, byte for byte; the last one perhaps without its end. */
export function eventsOf(response: RecordedResponse): readonly Buffer[] {
  const splitter = createEventSplitter()
  const events = splitter.push(bodyOf(response))
  const rest = splitter.rest()
  return rest.length === 0 ? events : [...events, rest]
}

export const isDone = (data: string) => data.trim() === '[DONE]'

/** What a stream said. */
interface Heard {
  readonly chunks: readonly Chunk[]
  /** Whether it said everything: `[DONE]`, no error, and nothing that nobody understands. */
  readonly entire: boolean
}

/** `hear` in one go. */
export const heard = (response: RecordedResponse): Heard => atOnce(hear(response))

/** Takes a stream apart, up to where it went wrong. */
export function* hear(response: RecordedResponse): Sliced<Heard> {
  const chunks: Chunk[] = []
  for (const event of eventsOf(response)) {
    yield
    const data = dataOf(event)
    if (data === undefined) continue
    if (isDone(data)) return { chunks, entire: true }
    const chunk = namesError(event) ? undefined : chunkIn(data)
    if (!chunk || (chunk.error ?? null) !== null) return { chunks, entire: false }
    chunks.push(chunk)
  }
  return { chunks, entire: false }
}

const namesError = (event: Buffer) => /^event: ?error\r?$/m.test(event.toString('latin1'))

/** Whether anything was said to somebody: the events of other endpoints have no deltas. */
export const speaks = (chunks: readonly Chunk[]) => chunks.some(({ choices }) => choices?.some(({ delta }) => delta))
