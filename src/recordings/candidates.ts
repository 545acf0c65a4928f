/** Recordings that may answer a request although their names do not say so. */
import { stringifyExact } from '../core/json.js'
import type { Ignore } from './canonical.js'
import type { Shelf } from './folder.js'
import { requestKey } from './key.js'
import { endpointFolder, type RecordingFile, slugOf } from './names.js'
import type { Question, RecordedRequest } from './recording.js'

/** At most this many files are read for a request: those with the most similar names. */
const MOST_READ = 100
/** No more files are read once their requests have this many bytes, since each megabyte takes about 0.1 s. */
const ENOUGH_READ_BYTES = 4_000_000

/** A recording that was read because its name is similar to that of the request. */
export interface Candidate extends Question {
  readonly entry: RecordingFile
}

/** Reads those of the recordings whose names are the most similar. */
export async function candidatesFor(
  request: RecordedRequest,
  shelf: Shelf,
  all: Iterable<RecordingFile> = shelf.all(),
): Promise<readonly Candidate[]> {
  const candidates: Candidate[] = []
  let readBytes = 0
  for (const entry of mostSimilarNames(request, [...all])) {
    if (readBytes > ENOUGH_READ_BYTES) break
    // A file that is not a recording is left out.
    const question = await shelf.question(entry.file).catch(() => undefined)
    if (!question) continue
    candidates.push({ entry, ...question })
    const { body } = question.request
    readBytes += body.kind === 'bytes' ? body.bytes.length : stringifyExact(body).length
  }
  return candidates
}

/** Finds candidates by their present key, in the order in which they were recorded. Their names have an outdated key if they were edited or `ignore` has changed. */
export function byPresentKey(candidates: readonly Candidate[], ignore: Ignore) {
  const inOrder = candidates.toSorted((a, b) => Date.parse(a.recordedAt) - Date.parse(b.recordedAt))
  const keyed = inOrder.map(({ entry, request }) => ({ entry, key: requestKey(request, ignore) }))
  return (key: string) => keyed.filter(one => one.key === key).map(({ entry }) => entry)
}

/**
 * The recordings whose names share the most words with the name that this request would get, those of its own endpoint
 * first.
 */
function mostSimilarNames(request: RecordedRequest, all: readonly RecordingFile[]): readonly RecordingFile[] {
  const folder = `${endpointFolder(request.path)}/`
  const words = new Set(slugOf(request).split('-'))
  const likeness = ({ file }: RecordingFile) => {
    const name = file.slice(file.lastIndexOf('/') + 1)
    const common = name.split('-').filter(word => words.has(word)).length
    return (file.startsWith(folder) ? 1000 : 0) + common
  }
  return all
    .map(entry => ({ entry, likeness: likeness(entry) }))
    .sort((a, b) => b.likeness - a.likeness)
    .slice(0, MOST_READ)
    .map(({ entry }) => entry)
}
