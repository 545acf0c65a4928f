/** Recordings: saves the live platform's answers to disk and replays them. */
import type { Redact } from '../redact/index.js'
import { openFolder } from './folder.js'
import { type IgnoreOption, ignoreFrom } from './ignore.js'
import { createIdentify } from './key.js'
import { createLibrary } from './library.js'
import { createRecorder } from './recorder.js'
import { createFind } from './replayer.js'
import type { Run } from './run.js'
import { createShelf } from './shelf.js'

export { assembledText } from './convert.js'
export type { SendToLive } from './drift.js'
export { type DriftParts, type DriftResult, findDrift } from './drift.js'
export { type Folder, leftoversIn, openFolder } from './folder.js'
export type { ImportResult } from './har/import.js'
export { type Ignore, ignoreFrom } from './ignore.js'
export { messagesOf } from './json-rpc.js'
export { keyOf } from './key.js'
export { fileOf, type RecordingFile } from './names.js'
export type { Library, ListedRecording, Miss, Receipt, RunReceipt } from './operations.js'
export { inOrder, type Timed } from './order.js'
export { type Overview, overviewIn } from './overview.js'
export type { PastExchange } from './past.js'
export type { DelayedReply } from './play.js'
export type { NamedObserver } from './recorder.js'
export type { Capture } from './recording.js'
export {
  bodyOf,
  isStream,
  type RecordedChunk,
  type RecordedRequest,
  type RecordedResponse,
  type Recording,
  type RequestBody,
} from './recording.js'
export type { ReplayResult } from './replayer.js'
export { createRun, type Run } from './run.js'

/** Reads and writes HAR files. Only two commands need it. */
export const loadHar = async () => {
  const [{ harOf }, { importHar }] = await Promise.all([import('./har/export.js'), import('./har/import.js')])
  return { harOf, importHar }
}

/** The options of the same names (config/recording-options.ts), and what else recordings need. */
interface RecordingsParts {
  /** The absolute path of the folder. */
  readonly dir: string
  readonly save: 'all' | 'onlyNew'
  readonly afterLast: 'repeat-last' | 'cycle' | 'miss'
  readonly incomplete: boolean
  readonly speed: number
  readonly ignore: readonly IgnoreOption[]
  readonly redact: Redact
  /** 0 means no limit. */
  readonly maxAgeMs: number
  readonly stale: 'warn' | 'fail'
  readonly maxBytes: number
  readonly run: Run
  /** Called with warnings, such as a recording that is too old. */
  readonly warn: (sentence: string) => void
  readonly report: (error: unknown) => void
}

export type Recordings = ReturnType<typeof openRecordings>

export function openRecordings(parts: RecordingsParts) {
  const ignore = ignoreFrom(parts.ignore)
  const folder = openFolder(parts.dir)
  const shelf = createShelf(folder)
  const identify = createIdentify(parts.redact, ignore)
  const recorder = createRecorder({ ...parts, shelf, identify })
  return {
    /**
     * Lists the folder if that has not been done yet, and waits while too much is still to be written. Returns
     * `undefined` if there is nothing to wait for.
     */
    ready: () => shelf.ready() ?? recorder.room(),
    /** Call `ready` first. */
    observerOf: recorder.observerOf,
    find: createFind({ ...parts, shelf, identify, ignore, written: recorder.flush }),
    flush: recorder.flush,
    receipt: () => parts.run.receipt(shelf.all()),
    /** The same recordings for browsing. Lists nothing until it is used. */
    library: createLibrary({ ...parts, folder, shelf, ignore, written: recorder.flush }),
  }
}
