/** Recordings: saves the live platform's answers to disk and replays them. */

import type { Exchange } from '../core/exchange.js'
import { once } from '../core/work.js'
import type { Redact } from '../redact/index.js'
import { Folder } from './folder.js'
import { type IgnoreOption, ignoreFrom } from './ignore.js'
import { createIdentify } from './key.js'
import { createLibrary } from './library.js'
import { Lookup } from './lookup.js'
import { RunNote } from './notes.js'
import { type EndedRun, endRun } from './prune.js'
import { Recorder, type RecorderParts } from './recorder.js'
import { Replayer, type ReplayerParts } from './replayer.js'
import { testNameOf } from './test-name.js'
import { Tomorrow } from './tomorrow.js'

export { type AcceptedChange, acceptChanges } from './accept.js'
export { unlikeness } from './differences.js'
export { type DriftResult, findDrift, type SendToLive } from './drift.js'
export { yamlText } from './file-form.js'
export { recordingText } from './file-text.js'
export { displayPath, Folder, isProblem, replaceFile } from './folder.js'
export type { ImportResult } from './har.js'
export { type Ignore, type IgnoreOption, ignoreFrom } from './ignore.js'
export { comparedForm, keysOf, redactedRequest, requestKey } from './key.js'
export type { Library } from './library.js'
export { Lookup } from './lookup.js'
export { fileOf, numbered } from './names.js'
export type { Miss } from './operations.js'
export { assembledText } from './play.js'
export {
  type EndedRun,
  type Prunable,
  type PruneReason,
  problemsIn,
  prunableIn,
  type Tidied,
  tooMany,
} from './prune.js'
export { emptyReceipt, joinReceipts, type Receipt, summed } from './receipt.js'
export type { NamedObserver } from './recorder.js'
export type { Capture } from './recording.js'
export {
  isStream,
  MOST_BODY_BYTES,
  type RecordedChunk,
  type RecordedRequest,
  type RecordedResponse,
  type Recording,
  recordedBody,
} from './recording.js'
export { secretsInRecording } from './redacted.js'
export { repairFolder } from './repair.js'
export { Run } from './run.js'
export { testNameOf } from './test-name.js'

/** Reads HAR files. Only one command needs it. */
export const loadHar = () => import('./har.js')

/** The options of the same names (options.ts), and what else recordings need. */
interface RecordingsParts
  extends Omit<
    RecorderParts & ReplayerParts,
    'lookup' | 'identify' | 'testOf' | 'tomorrow' | 'ignore' | 'flush' | 'note' | 'any' | 'onMiss'
  > {
  /** The absolute path of the folder. */
  readonly dir: string
  readonly ignore: readonly IgnoreOption[]
  readonly redact: Redact
  /** The name of the run in its notes, if another process has begun it. */
  readonly runName?: string | undefined
  readonly onMiss: string
  /** Called with each request without a recording. */
  readonly missed: ReplayerParts['onMiss']
}

export type Recordings = ReturnType<typeof openRecordings>

export function openRecordings({ dir, redact, ...parts }: RecordingsParts) {
  const { run } = parts
  const ignore = ignoreFrom(parts.ignore)
  const folder = new Folder(dir)
  const lookup = new Lookup(folder, ignore)
  const identify = createIdentify(redact, ignore)
  const testOf = (exchange: Exchange) => testNameOf(exchange, dir)
  const tomorrow = new Tomorrow(run, ignore)
  const note = new RunNote(dir, parts.warn, parts.runName)
  const common = { ...parts, lookup, identify, testOf, tomorrow, onMiss: parts.missed }
  const recorder = new Recorder(common)
  const flush = () => recorder.flush()
  const any = parts.onMiss === 'any'
  const replayer = new Replayer({ ...common, flush, any, note: any || parts.onMiss === 'nearest' ? note : undefined })
  const tidyUp = once(() => removeLeftovers(folder))
  return {
    /** The key under which the recordings of a request are found, also with more that is ignored. */
    keyOf: (exchange: Exchange, more: readonly IgnoreOption[] = []) =>
      (more.length === 0 ? identify : createIdentify(redact, ignore.and(more)))(exchange).key,
    testOf,
    /** Lists the folder, removes what killed processes have left behind, and reads files whose names say nothing. Returns `undefined` if there is nothing to wait for. */
    ready() {
      tidyUp()
      return lookup.ready()
    },
    /** Call `ready` first. */
    observerOf: (exchange: Exchange) => recorder.observerOf(exchange),
    find: (exchange: Exchange) => replayer.find(exchange),
    receipt: (isWhole = false) => run.receipt(lookup, isWhole),
    /** Resolves when everything that has ended so far is on disk. */
    flush,
    /**
     * Resolves when everything is on disk, also answers whose clients have left, and all files have been looked at. A second call does not
     * await the rest of the answers.
     */
    async close() {
      await recorder.close()
      folder.lookThrough()
    },
    /** Removes what this run's tests no longer ask for, and notes what it did. Call it once, when everything is on disk. */
    end: (ended: EndedRun) => endRun(ended, { run, lookup, note }),
    /** The same recordings for browsing. Lists nothing until it is used. */
    library: createLibrary({ folder, run }),
  }
}

/** Files that cannot be removed stay. */
function removeLeftovers(folder: Folder): void {
  try {
    folder.remove(folder.leftovers())
  } catch {
    // A read-only folder, or another user's file.
  }
}
