/** Leaves the usage out of a recorded stream, for a request that did not ask for it. */
import { isDeepStrictEqual } from 'node:util'
import { dataOf } from '../../core/events.js'
import { bodyOf, isStream, type RecordedResponse } from '../recording.js'
import { eventsOf } from './events.js'
import { type Chunk, chunkIn } from './forms.js'
import { isRefused } from './response.js'

/**
 * The stream as the platform would have said it with or without `include_usage`: what is left keeps its bytes and its times.
 * `undefined` where there is no usage to include. An error and what is no stream come back as they are.
 */
export function withUsage(response: RecordedResponse, includeUsage: boolean): RecordedResponse | undefined {
  if (isRefused(response) || !isStream(response)) return response
  const events = eventsOf(response)
  if (includeUsage) return events.some(event => chunkOf(event)?.usage) ? response : undefined
  // A byte for each byte of the body: 1 for those that stay.
  const stays = Buffer.alloc(bodyOf(response).length, 1)
  let at = 0
  for (const event of events) {
    const { start, end } = usageIn(event)
    stays.fill(0, at + start, at + end)
    at += event.length
  }
  return stays.includes(0) ? { ...response, chunks: chunksOf(response, stays) } : response
}

function chunkOf(event: Buffer): Chunk | undefined {
  const data = dataOf(event)
  return data === undefined ? undefined : chunkIn(data)
}

/** A place in an event. */
interface Span {
  readonly start: number
  readonly end: number
}
const nowhere: Span = { start: 0, end: 0 }

/** What is only there for who asked. Usage beside choices is not: vendors who tell it there tell it to everybody. */
function usageIn(event: Buffer): Span {
  const chunk = chunkOf(event)
  if (!chunk) return nowhere
  if (chunk.usage) return chunk.choices?.length ? nowhere : { start: 0, end: event.length }
  return chunk.usage === null ? nullIn(event, chunk) : nowhere
}

/** Where `usage: null` stands, with its comma. A vendor's own object may have one as well, hence the look at what is left. */
function nullIn(event: Buffer, { usage: _, ...others }: Chunk): Span {
  // A character for each byte, so that places in the text are places in the bytes.
  const found = event.toString('latin1').matchAll(/,\s*"usage"\s*:\s*null|"usage"\s*:\s*null\s*,?/g)
  const spans = [...found].map(({ 0: { length }, index }) => ({ start: index, end: index + length }))
  const isIt = ({ start, end }: Span) =>
    isDeepStrictEqual(chunkOf(Buffer.concat([event.subarray(0, start), event.subarray(end)])), others)
  return spans.find(isIt) ?? nowhere
}

function chunksOf({ chunks }: RecordedResponse, stays: Buffer): RecordedResponse['chunks'] {
  let at = 0
  return chunks.flatMap(({ atMs, bytes }) => {
    const start = at
    at += bytes.length
    const left = Buffer.from(bytes.filter((_, i) => stays[start + i] === 1))
    return left.length === 0 ? [] : [{ atMs, bytes: left }]
  })
}
