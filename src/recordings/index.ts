/** Recordings: saves the live platform's answers to disk and replays them. */

import type { Exchange } from '../core/exchange.js'
import type { Redact } from '../redact/index.js'
import { type IgnoreOption, ignoreFrom } from './canonical.js'
import { createDriftNote } from './drift-note.js'
import { createShelf, openFolder } from './folder.js'
import { createIdentify } from './key.js'
import { createLibrary } from './library.js'
import { createRecorder, type RecorderParts } from './recorder.js'
import { createFind, type ReplayerParts } from './replayer.js'

export { type AcceptedChange, acceptDrift } from './accept.js'
export { type Ignore, ignoreFrom } from './canonical.js'
export { type DriftResult, findDrift, type SendToLive } from './drift.js'
export { type Folder, leftoversIn, openFolder } from './folder.js'
export type { ImportResult } from './har.js'
export { requestKey } from './key.js'
export type { Library } from './library.js'
export { fileOf, type RecordingFile } from './names.js'
export type { Miss, Receipt } from './operations.js'
export { assembledText } from './play.js'
export { addToSent, addUses, chatCallReader, type Definition, overBudget, type Sent, type Uses } from './prompts.js'
export { writePrompts } from './prompts-file.js'
export type { NamedObserver } from './recorder.js'
export type { Capture } from './recording.js'
export {
  isPassingStatus,
  isStream,
  MOST_BODY_BYTES,
  type RecordedChunk,
  type RecordedRequest,
  type RecordedResponse,
  type Recording,
  recordedBody,
} from './recording.js'
export { secretsInRecording } from './redacted.js'
export { readReplayNotes, writeReplayNote } from './replay-note.js'
export { createHistory, type History, type Run } from './run.js'

/** Reads HAR files. Only one command needs it. */
export const loadHar = () => import('./har.js')

/** The options of the same names (options.ts), and what else recordings need. */
interface RecordingsParts
  extends Omit<RecorderParts & ReplayerParts, 'shelf' | 'identify' | 'ignore' | 'flush' | 'note'> {
  /** The absolute path of the folder. */
  readonly dir: string
  readonly ignore: readonly IgnoreOption[]
  readonly redact: Redact
  readonly onMiss: string
}

export type Recordings = ReturnType<typeof openRecordings>

export function openRecordings(parts: RecordingsParts) {
  const ignore = ignoreFrom(parts.ignore)
  const folder = openFolder(parts.dir)
  const shelf = createShelf(folder)
  const identify = createIdentify(parts.redact, ignore)
  const recorder = createRecorder({ ...parts, shelf, identify, ignore })
  const note = parts.onMiss === 'nearest' ? createDriftNote(parts.dir, parts.warn) : undefined
  return {
    /** The key under which the recordings of a request are found. */
    keyOf: (exchange: Exchange) => identify(exchange).key,
    /** Lists the folder if that has not been done yet. Returns `undefined` if there is nothing to wait for. */
    ready: shelf.ready,
    /** Call `ready` first. */
    observerOf: recorder.observerOf,
    find: createFind({ ...parts, shelf, identify, ignore, flush: recorder.flush, note }),
    receipt: () => parts.run.receipt(shelf.all()),
    settle: recorder.settle,
    /** The same recordings for browsing. Lists nothing until it is used. */
    library: createLibrary({ ...parts, folder, shelf }),
  }
}
