/** Recordings: what the live platform said, kept on disk and played again. */
export type { RecordedChunk, RecordedRequest, RecordedResponse, Recording, RequestBody } from './recording.js'
