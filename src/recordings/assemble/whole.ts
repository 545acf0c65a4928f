/** Answers with the whole of a recorded stream. */
import { isStream, type RecordedResponse } from '../recording.js'
import { heard, speaks } from './events.js'
import { isRefused, withBody } from './response.js'
import { sumOf } from './sum.js'

/**
 * The one JSON object that the platform would have said in place of this stream, at the time at which the stream ended. An error
 * and what is no stream are answers of either form, and come back as they are. `undefined` for a stream that broke off, failed in
 * its midst or is no chat completion.
 */
export function wholeOf(response: RecordedResponse): RecordedResponse | undefined {
  if (isRefused(response) || !isStream(response)) return response
  const { chunks, entire } = heard(response)
  if (!response.complete || !entire || !speaks(chunks)) return undefined
  const { headMs, endMs } = response
  return { ...withBody(response, 'application/json', [JSON.stringify(sumOf(chunks))]), headMs: headMs + endMs }
}
