/** The names of recordings: what they say, and how they are read. */
import type { RecordedRequest } from './recording.js'
import { endpointFolder, slugOf } from './slug.js'

/** A file in the folder of recordings, as far as its name tells. */
export interface Kept {
  /** Relative to the folder, with slashes: `chat-completions/gpt-4o-hello-1a2b3c4d5e6f.yaml`. */
  readonly file: string
  /** What its request comes to. */
  readonly key: string
  /** Of those with the same request the how many-th, from 1 on. */
  readonly nth: number
}

const keptName = /(?:^|[/-])([0-9a-f]{12})(?:-(\d{1,9}))?\.yaml$/

/** What a name tells; nothing where it is not that of a recording. */
export function keptOf(file: string): Kept | undefined {
  const [, key, nth = '1'] = keptName.exec(file) ?? []
  return key === undefined || /(^|\/)\./.test(file) ? undefined : { file, key, nth: Number(nth) }
}

/** Where the `nth` recording of a request is kept. */
export const fileOf = (request: RecordedRequest, key: string, nth: number): string =>
  // Joined, not added up: a sum keeps its parts in memory, and the name of each recording is kept for as long as the process runs.
  [endpointFolder(request.path), '/', slugOf(request), '-', key, nth > 1 ? `-${nth}` : '', '.yaml'].join('')
