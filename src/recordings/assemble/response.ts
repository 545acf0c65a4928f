/** What responses of either form have in common. */
import type { RecordedResponse } from '../recording.js'

/** Whether the platform said that it would not: then it is one answer to either question. */
export const isRefused = ({ status }: RecordedResponse) => status < 200 || status >= 300

/** The same answer with another body, which is there at once. */
export const withBody = (
  response: RecordedResponse,
  contentType: string,
  pieces: readonly string[],
): RecordedResponse => ({
  ...response,
  headers: [...response.headers.filter(([name]) => name !== 'content-type'), ['content-type', contentType]],
  chunks: pieces.map(piece => ({ atMs: 0, bytes: Buffer.from(piece) })),
  endMs: 0,
})
