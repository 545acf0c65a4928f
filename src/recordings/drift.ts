/** Asks the live platform again for what was recorded, and says what has changed. */
import { type Problem, ProblemsError } from '../core/problem.js'
import type { Redact } from '../core/redact.js'
import type { Folder } from './folder.js'
import { type Heard, responseOf } from './heard.js'
import type { Kept } from './names.js'
import { type Ask, patientAsk } from './patient-ask.js'
import type { RecordedResponse, Recording } from './recording.js'
import { redactedResponse } from './redacted.js'
import { reasonNotToRepeat } from './repeatable.js'
import { shapeOfAnswer } from './shape/answer-shape.js'
import { compare } from './shape/compare.js'
import type { Drift } from './shape/drift.js'

export interface DriftParts {
  readonly folder: Folder
  /** The recordings that are looked at. */
  readonly kept: readonly Kept[]
  readonly ask: Ask
  /** How many are asked for at the same time. */
  readonly concurrency: number
  readonly redact: Redact
  /** What stands where a secret was. */
  readonly placeholder: RegExp
  /** Whether the live answers are kept in place of the recorded ones. */
  readonly update: boolean
  /** Ends it early, with what is known by then. */
  readonly signal: AbortSignal
  /** Told when a recording is looked at. */
  readonly begun: (file: string) => void
  readonly ended: (finding: Finding) => void
}

/** What came of one recording. */
export type Finding =
  | {
      readonly kind: 'compared'
      readonly file: string
      readonly drifts: readonly Drift[]
      /** Whether the live answer is kept now. */
      readonly updated: boolean
    }
  /** Its request cannot or must not be sent again. */
  | { readonly kind: 'skipped'; readonly file: string; readonly reason: string }
  /** It was to be sent, but there was no answer that could be compared. */
  | { readonly kind: 'notAsked'; readonly file: string; readonly reason: string }
  | { readonly kind: 'unreadable'; readonly file: string; readonly problems: readonly Problem[] }

/** As many requests in a row without any answer, and none before: then nobody is there. */
const GIVE_UP_AFTER = 5

/** Findings in the order of the recordings; of those that were not looked at when the signal came there are none. */
export async function findDrift(parts: DriftParts): Promise<readonly Finding[]> {
  const { kept, signal } = parts
  const ask = unlessNobodyIsThere(parts.ask)
  const asks = { ask, askPatiently: patientAsk(ask) }
  const found: (Finding | undefined)[] = kept.map(() => undefined)
  const queue = kept.entries()
  async function work(): Promise<void> {
    for (const [i, one] of queue) {
      if (signal.aborted) return
      parts.begun(one.file)
      const finding = await look(one, { ...parts, ...asks })
      // What was broken off by the signal is nothing that the platform has said.
      if (signal.aborted && finding.kind === 'notAsked') return
      found[i] = finding
      parts.ended(finding)
    }
  }
  await Promise.all(Array.from({ length: parts.concurrency }, work))
  return found.filter(finding => finding !== undefined)
}

/** A platform that is away is not asked ten thousand times. */
function unlessNobodyIsThere(ask: Ask): Ask {
  let answers = 0
  let failures = 0
  let last: unknown
  return async (request, signal) => {
    if (answers === 0 && failures >= GIVE_UP_AFTER) throw last
    try {
      const heard = await ask(request, signal)
      answers++
      return heard
    } catch (error) {
      failures++
      last = error
      throw error
    }
  }
}

/** Ready to be asked. */
interface Looking extends DriftParts {
  readonly askPatiently: Ask
}

async function look({ file, key }: Kept, parts: Looking): Promise<Finding> {
  let recording: Recording
  try {
    recording = await parts.folder.read(file)
  } catch (error) {
    if (error instanceof ProblemsError) return { kind: 'unreadable', file, problems: error.problems }
    throw error
  }
  const skipped = reasonNotToRepeat(recording, parts.placeholder)
  if (skipped !== undefined) return { kind: 'skipped', file, reason: skipped }
  const recordedAt = new Date().toISOString()
  const live = await answerTo(recording, parts)
  if (typeof live === 'string') return { kind: 'notAsked', file, reason: live }
  const drifts = compare(shapeOfAnswer(recording.response), shapeOfAnswer(live))
  const updated = parts.update && isSameClass(recording.response, live)
  if (updated) await parts.folder.write(file, { recordedAt, request: recording.request, response: live }, key)
  return { kind: 'compared', file, drifts, updated }
}

/** The answer without its secrets, or why there is none that could be compared. */
async function answerTo({ request, response }: Recording, parts: Looking): Promise<RecordedResponse | string> {
  // Where a 429 was recorded, a 429 is the answer.
  const isWelcome = response.status === 429
  let heard: Heard
  try {
    heard = await (isWelcome ? parts.ask : parts.askPatiently)(request, parts.signal)
  } catch (error) {
    return (error as Error).message
  }
  if (heard.status === 429 && !isWelcome) return 'The live platform says that it is asked too often (429).'
  const live = await responseOf(heard).catch(({ message }: Error) => `The live answer cannot be read: ${message}.`)
  if (typeof live === 'string') return live
  return live.complete ? redactedResponse(live, parts.redact()) : 'The live answer broke off.'
}

const isSameClass = (recorded: RecordedResponse, live: RecordedResponse) =>
  Math.floor(recorded.status / 100) === Math.floor(live.status / 100)
