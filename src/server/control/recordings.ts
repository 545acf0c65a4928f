/** Recordings over HTTP: the list of them, one as it is written, removing one, and making one of what the journal keeps. */
import { Router } from 'express'
import { ProblemsError, wordProblem } from '../../check/problem.js'
import { noSuchExchange, noSuchRecording, recordingsUnreadable } from '../../core/errors.js'
import { listingQuery } from '../../core/listing-request.js'
import { only } from '../../core/only.js'
import { recordingCall } from '../../core/recordings-request.js'
import type { Journal } from '../../journal/index.js'
import type { Library } from '../../recordings/index.js'
import { jsonIn } from '../json-in.js'
import { queryIn } from '../query-in.js'
import type { ControlPart, Paths } from './part.js'
import { listOf, object, orNothing, text, wholeNumber, yesOrNo } from './shapes.js'

export interface RecordingsParts {
  /** The recordings of the configuration in force. */
  readonly library: () => Promise<Library>
  readonly journal: Pick<Journal, 'kept'>
}

const read = object({
  file: text,
  recordedAt: text,
  method: text,
  path: text,
  model: orNothing(text),
  said: orNothing(text),
  status: wholeNumber,
  streamed: yesOrNo,
  complete: yesOrNo,
  bytes: wholeNumber,
  used: yesOrNo,
  stale: yesOrNo,
})
const broken = object({ file: text, problem: text })

const unreadableFiles = { 409: 'The files cannot be read, or say what they may not.' }

const paths: Paths = {
  '/recordings': {
    get: {
      id: 'listRecordings',
      does: 'The recordings in the folder, by name: what each answers, and whether it was played or made in this run.',
      query: listingQuery,
      answers: {
        200: {
          what: 'A part of the list, and how many there are on the whole.',
          schema: object({ folder: text, data: listOf({ anyOf: [read, broken] }), total: wholeNumber }),
        },
      },
      errors: unreadableFiles,
    },
    post: {
      id: 'makeRecording',
      does: 'Makes a recording of an exchange in the journal, as the recorder would have made it.',
      body: recordingCall,
      answers: { 201: { what: 'Its file, relative to the folder.', schema: object({ file: text }) } },
      errors: {
        404: 'There is no such exchange in the journal.',
        409: 'The exchange cannot be recorded, or its request is recorded already.',
      },
    },
  },
  '/recordings/{name}': {
    get: {
      id: 'getRecording',
      does: 'One recording as it is written. The slashes in its name are encoded as %2F.',
      answers: { 200: { what: 'The text of its file.', schema: object({ file: text, text }) } },
      errors: unreadableFiles,
    },
    delete: {
      id: 'removeRecording',
      does: 'Removes one recording.',
      answers: { 204: { what: 'It is gone.' } },
      errors: unreadableFiles,
    },
  },
}

export function createRecordingsPart({ library, journal }: RecordingsParts): ControlPart {
  const router = Router()
  router
    .route('/')
    .get(async (request, response) => {
      const { folder, list } = await library()
      const { recordings, total } = await list(queryIn(request, listingQuery)).catch(unreadable)
      response.json({ folder, data: recordings, total })
    })
    .post(async (request, response) => {
      const { exchange, existing = 'refuse' } = await jsonIn(request, recordingCall)
      const past = journal.kept(exchange)
      if (!past) throw noSuchExchange(exchange)
      response.status(201).json(await (await library()).keep(past, existing).catch(unreadable))
    })
    .all(only('GET', 'HEAD', 'POST'))
  router
    .route('/:name')
    .get(async ({ params: { name } }, response) => {
      const text = await (await library()).text(name).catch(unreadable)
      if (text === undefined) throw noSuchRecording(name)
      response.json({ file: name, text })
    })
    .delete(async ({ params: { name } }, response) => {
      if (!(await (await library()).remove(name).catch(unreadable))) throw noSuchRecording(name)
      response.status(204).end()
    })
    .all(only('GET', 'HEAD', 'DELETE'))
  return { at: '/recordings', router, paths }
}

/** What is wrong with the files is not the fault of whoever asks, who can put it right. */
function unreadable(error: unknown): never {
  const [first] = error instanceof ProblemsError ? error.problems : []
  throw first ? recordingsUnreadable(wordProblem(first)) : error
}
