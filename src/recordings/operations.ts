/** What can be asked of recordings: the list of them, one as it is written, making and removing one, and what came of them so far. */
import * as v from 'valibot'
import { type Of, operation } from '../api/operation.js'
import {
  dataOf,
  described,
  type ListingQuery,
  listingQuery,
  listOf,
  moment,
  object,
  oneOf,
  optional,
  orNull,
  scopeQuery,
  text,
  whole,
  yesOrNo,
} from '../api/shapes.js'
import { closestRecording, violationCounts } from '../check/finding.js'
import { ProblemsError, wordProblem } from '../check/problem.js'
import { noSuchExchange, noSuchRecording, recordingsUnreadable } from '../core/errors.js'
import type { Past } from './past.js'

const readRecording = object({
  file: text,
  recordedAt: text,
  method: text,
  path: text,
  model: orNull(text),
  /** The beginning of the last thing that the user wrote. */
  said: orNull(text),
  status: whole,
  streamed: yesOrNo,
  complete: yesOrNo,
  /** Of the file. */
  bytes: whole,
  /** Whether it was played or made in this run. */
  used: yesOrNo,
  /** Whether it is older than recordings.maxAge. */
  stale: yesOrNo,
})
const listedRecording = v.union([readRecording, object({ file: text, problem: text })])
/** One line of the list; of what cannot be read only why. */
export type ListedRecording = Of<typeof listedRecording>

const existings = ['refuse', 'replace', 'append'] as const
/** What happens to existing recordings of the same request. */
export type Existing = (typeof existings)[number]

const id = 'the id of an exchange in the journal, such as 17'
const recordingWanted = object({
  exchange: described(v.pipe(v.string(id), v.regex(/^\d{1,15}$/, id)), 'The id of the exchange in the journal.'),
  existing: optional(
    oneOf(existings),
    'What becomes of recordings of the same request: refuse (the default) leaves them and answers 409, replace takes their place, append adds one that is played after them.',
  ),
})

/** The recordings of the configuration in force. */
export interface Library {
  /** Which folder it is, as a person would name it. */
  readonly folder: string
  /** A part of the list, in the order of the names, and how many there are on the whole. */
  list(query: ListingQuery): Promise<{ readonly data: readonly ListedRecording[]; readonly total: number }>
  /** What is written in a file; nothing where there is no such recording in the folder. */
  text(file: string): Promise<string | undefined>
  /** Gives back whether it was there. */
  remove(file: string): Promise<boolean>
  /** Makes a recording of an exchange, and gives back its file. Rejects with a PlatformError that says why not. */
  keep(past: Past, existing: Existing): Promise<{ readonly file: string }>
}

interface LibraryParts {
  readonly library: () => Promise<Library>
  readonly journal: { kept(id: string): Past | undefined }
}

const unreadableFiles = { 409: 'The files cannot be read, or have mistakes.' }

export const recordingOperations = ({ library, journal }: LibraryParts) => ({
  listRecordings: operation({
    at: 'GET /recordings',
    does: 'Lists the recordings by name: what each answers, and whether it was played or made in this run.',
    query: listingQuery,
    returns: object({ folder: text, data: listOf(listedRecording), total: whole }),
    answer: 'A part of the list, and how many there are on the whole.',
    errors: unreadableFiles,
    async run({ query }) {
      const { folder, list } = await library()
      return { folder, ...(await list(query).catch(unreadable)) }
    },
  }),
  makeRecording: operation({
    at: 'POST /recordings',
    does: 'Makes a recording of an exchange in the journal, as mode record would have written it.',
    body: recordingWanted,
    returns: object({ file: text }),
    status: 201,
    answer: 'Its file, relative to the folder.',
    errors: {
      404: 'There is no such exchange in the journal.',
      409: 'The exchange cannot be recorded, or its request is recorded already.',
    },
    async run({ body: { exchange, existing = 'refuse' } }) {
      const past = journal.kept(exchange)
      if (!past) throw noSuchExchange(exchange)
      return (await library()).keep(past, existing).catch(unreadable)
    },
  }),
  getRecording: operation({
    at: 'GET /recordings/{name}',
    does: 'Returns the text of one recording. Encode the slashes in its name as %2F.',
    returns: object({ file: text, text }),
    answer: 'The text of its file.',
    errors: unreadableFiles,
    async run({ name }) {
      const text = await (await library()).text(name).catch(unreadable)
      if (text === undefined) throw noSuchRecording(name)
      return { file: name, text }
    },
  }),
  removeRecording: operation({
    at: 'DELETE /recordings/{name}',
    does: 'Removes one recording.',
    answer: 'It is removed.',
    errors: unreadableFiles,
    async run({ name }) {
      if (!(await (await library()).remove(name).catch(unreadable))) throw noSuchRecording(name)
    },
  }),
})

/** Mistakes in the files are not the caller's. */
function unreadable(error: unknown): never {
  const [first] = error instanceof ProblemsError ? error.problems : []
  throw first ? recordingsUnreadable(wordProblem(first)) : error
}

const miss = object({
  at: moment,
  /** Empty where the request was in no scope. */
  scope: text,
  method: text,
  path: text,
  /** What the client got. */
  reason: text,
  /** The recording that comes nearest, and where it differs; missing where nothing is recorded for the path. */
  nearest: v.optional(closestRecording),
})
/** A request that no recording answered. */
export type Miss = Of<typeof miss>

const receipt = object({
  /** Requests that were answered from recordings. */
  served: whole,
  /** Requests that no recording answered. */
  missed: whole,
  /** Recordings that were neither played nor made. */
  unused: listOf(text),
  /** Exchanges that were put on disk. */
  recorded: whole,
  /** Exchanges that were not, each with the reason. */
  notRecorded: listOf(text),
  /** Requests that were carried to the live platform. */
  passed: whole,
  /** What answers had against the contract. */
  violations: violationCounts,
})
/** The outcome of recordings in a run. */
export type Receipt = Of<typeof receipt>
/** As far as recordings know it. */
export type RunReceipt = Omit<Receipt, 'passed' | 'violations'>

interface RunParts {
  /** The last requests that no recording answered, the newest first. */
  readonly misses: () => readonly Miss[]
  /** What came of recordings so far; nothing where no mode uses them. */
  readonly receipt: () => Receipt | undefined
}

export const runOperations = ({ misses, receipt: current }: RunParts) => ({
  listMisses: operation({
    at: 'GET /misses',
    does: 'Lists the last requests without a recording, each with its differences from the nearest one.',
    query: scopeQuery,
    returns: dataOf(miss),
    answer: 'The misses, the newest first.',
    run: ({ query: { scope } }) => ({ data: misses().filter(miss => scope === undefined || miss.scope === scope) }),
  }),
  getReceipt: operation({
    at: 'GET /receipt',
    does: 'Returns how many requests recordings have answered, and which recordings were not used.',
    returns: orNull(receipt),
    answer: 'The receipt; null where no mode has needed recordings.',
    run: () => current() ?? null,
  }),
})
