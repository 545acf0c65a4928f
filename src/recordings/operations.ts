/** Operations on recordings: lists, reads and removes them, and returns the receipt of the run. */
import * as v from 'valibot'
import { closestRecording, type EndpointViolations, violating } from '../check/finding.js'
import { arrayOf, boolean, closed, moment, optionalMember, orNull, text, wholeNumber, word } from '../check/forms.js'
import { ProblemsError, problemInWords } from '../check/problem.js'
import { noSuchRecording, recordingsUnreadable } from '../core/errors.js'
import { listingQuery, operation, scopeQuery, type ValueOf } from '../core/operation.js'
import type { Library } from './library.js'
import { type Receipt, receiptForm } from './receipt.js'

export { receiptForm }

const readRecording = closed({
  file: text,
  recordedAt: text,
  /** The test whose request it is; empty for none. */
  test: text,
  method: text,
  path: text,
  model: orNull(text),
  /** The beginning of the user's last message. */
  said: orNull(text),
  status: wholeNumber,
  streamed: boolean,
  complete: boolean,
  bytes: wholeNumber,
  /** Whether it has answered a request in this run. */
  used: boolean,
  made: boolean,
})
const listedRecording = v.union([readRecording, closed({ file: text, problem: text })])
/** One line of the list; for files that cannot be read, only the reason. */
export type ListedRecording = ValueOf<typeof listedRecording>

interface LibraryParts {
  readonly library: () => Promise<Library>
}

export const recordingOperations = (parts: LibraryParts) => ({ ...operationsOnAll(parts), ...operationsOnOne(parts) })

const operationsOnAll = ({ library }: LibraryParts) => ({
  listRecordings: operation({
    at: 'GET /recordings',
    does: 'Lists the recordings by name. Each has the request that it answers, and whether it was used or made in this run.',
    query: listingQuery,
    returns: closed({ folder: text, data: arrayOf(listedRecording), total: wholeNumber }),
    async run({ query }) {
      const { folder, list } = await library()
      return { folder, ...(await list(query).catch(recordingsFailed)) }
    },
  }),
})

const operationsOnOne = ({ library }: LibraryParts) => ({
  getRecording: operation({
    at: 'GET /recordings/{name}',
    does: 'Returns the text of one recording. Encode the slashes in its name as %2F.',
    returns: closed({ file: text, text }),
    async run({ name }) {
      const text = await library()
        .then(all => all.text(name))
        .catch(recordingsFailed)
      if (text === undefined) throw noSuchRecording(name)
      return { file: name, text }
    },
  }),
  removeRecording: operation({
    at: 'DELETE /recordings/{name}',
    does: 'Removes one recording.',
    async run({ name }) {
      if (
        !(await library()
          .then(all => all.remove(name))
          .catch(recordingsFailed))
      )
        throw noSuchRecording(name)
    },
  }),
})

/** Mistakes in the files are not the caller's fault. */
function recordingsFailed(error: unknown): never {
  const [first] = error instanceof ProblemsError ? error.problems : []
  throw first ? recordingsUnreadable(problemInWords(first)) : error
}

export const missForm = closed({
  at: moment,
  /** Empty if the request had no scope. */
  scope: text,
  method: text,
  path: text,
  /** The message that the client got. */
  reason: text,
  /** The most similar recording, and the differences; absent if nothing is recorded for the path. */
  nearest: v.optional(closestRecording),
  /** The test that sent it, where that is more than its scope. */
  test: optionalMember(text),
  /** What has changed, if it was answered from that recording all the same. */
  changed: optionalMember(word(['prompt', 'message'])),
})
export type Miss = ValueOf<typeof missForm>

interface RunParts {
  /** The latest requests without a recording, newest first. */
  readonly misses: () => readonly Miss[]
  /** The receipt so far; `undefined` if no mode uses recordings. */
  readonly receipt: () => Receipt | undefined
  readonly violations: { settle(): Promise<void>; list(): readonly EndpointViolations[] }
}

export const runOperations = ({ misses, receipt: current, violations }: RunParts) => ({
  getReceipt: operation({
    at: 'GET /receipt',
    does: 'Returns what the recordings answered so far, misses, and violations of the contract. In a mode without recordings, there is null for what they answered; a miss has its differences from the most similar recording.',
    query: scopeQuery,
    returns: closed({
      recordings: orNull(receiptForm),
      /** The latest first; with a scope, its own. */
      misses: arrayOf(missForm),
      /** The latest first. */
      violations: arrayOf(violating),
    }),
    async run({ query: { scope } }) {
      await violations.settle()
      return {
        recordings: current() ?? null,
        misses: misses().filter(miss => scope === undefined || miss.scope === scope),
        violations: violations.list(),
      }
    },
  }),
})
