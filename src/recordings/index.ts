/** Recordings: what the live platform answered, kept on disk and played again. */
import type { Exchange } from '../core/exchange.js'
import type { Redact } from '../redact/index.js'
import { openFolder } from './folder.js'
import { type IgnoreOption, ignoreFrom } from './ignore.js'
import { createIdentify } from './key.js'
import { createLibrary } from './library.js'
import type { Library, RunReceipt } from './operations.js'
import { createRecorder, type Named } from './recorder.js'
import { createFind, type Found } from './replayer.js'
import type { Run } from './run.js'
import { createShelf } from './shelf.js'

export { assembledText } from './convert.js'
export type { AskLive } from './drift.js'
export { type DriftParts, type DriftResult, findDrift } from './drift.js'
export { type Folder, leftoversIn, openFolder } from './folder.js'
export type { Imported } from './har/import.js'
export { type Ignore, ignoreFrom } from './ignore.js'
export { keyOf } from './key.js'
export { fileOf, type RecordingFile } from './names.js'
export type { Library, ListedRecording, Miss, Receipt, RunReceipt } from './operations.js'
export { type Overview, overviewIn } from './overview.js'
export type { Past } from './past.js'
export type { Played } from './play.js'
export type { Named } from './recorder.js'
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
export type { Found } from './replayer.js'
export { createRun, type Run } from './run.js'

/** Reads and writes HAR files: for two commands alone. */
export const loadHar = async () => {
  const [{ harOf }, { importHar }] = await Promise.all([import('./har/export.js'), import('./har/import.js')])
  return { harOf, importHar }
}

/** The options of the same names (config/recording-options.ts), with what they need beside them. */
interface RecordingsParts {
  /** The folder, in full. */
  readonly dir: string
  readonly save: 'all' | 'onlyNew'
  readonly afterLast: 'repeat-last' | 'cycle' | 'miss'
  readonly incomplete: boolean
  readonly speed: number
  readonly ignore: readonly IgnoreOption[]
  readonly redact: Redact
  /** 0 is any age. */
  readonly maxAgeMs: number
  readonly stale: 'warn' | 'fail'
  readonly maxBytes: number
  readonly run: Run
  /** Called with what is not quite right, such as a recording that is too old. */
  readonly warn: (sentence: string) => void
  readonly report: (error: unknown) => void
}

export interface Recordings {
  /** Lists the folder when that has not been done yet; nothing to wait for afterwards. */
  ready(): Promise<void> | undefined
  /** The witness of an exchange with the live platform; nothing where it is not to be kept. Only once it is ready. */
  witness(exchange: Exchange): Named | undefined
  /** The recorded answer. Rejects only when the folder cannot be listed. */
  find(exchange: Exchange): Promise<Found>
  /** Resolves when everything that has ended by now is on disk. */
  flush(): Promise<void>
  receipt(): RunReceipt
  /** The same recordings to look at; it lists nothing before it is asked to. */
  readonly library: Library
}

export function openRecordings(parts: RecordingsParts): Recordings {
  const ignore = ignoreFrom(parts.ignore)
  const folder = openFolder(parts.dir)
  const shelf = createShelf(folder)
  const identify = createIdentify(parts.redact, ignore)
  const recorder = createRecorder({ ...parts, shelf, identify })
  return {
    ready: shelf.ready,
    witness: recorder.witness,
    find: createFind({ ...parts, shelf, identify, ignore, written: recorder.flush }),
    flush: recorder.flush,
    receipt: () => parts.run.receipt(shelf.all()),
    library: createLibrary({ ...parts, folder, shelf, ignore, written: recorder.flush }),
  }
}
