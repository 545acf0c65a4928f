/** The recordings as a list for browsing: searches, reads and removes them. */

import { problemInWords } from '../check/problem.js'
import { type ListingQuery, searchFor } from '../core/operation.js'
import { mapInParallel } from '../core/work.js'
import { subjectOf } from './conversation.js'
import { beginningOf } from './file-text.js'
import { displayPath, type Folder, isProblem } from './folder.js'
import { isStream, recordedBody } from './recording.js'
import type { Run } from './run.js'

interface Parts {
  readonly folder: Folder
  readonly run: Pick<Run, 'isPlayed' | 'isOwn'>
}

const PAGE_OF_RECORDINGS = 100

/** The recordings of the current configuration. */
export type Library = ReturnType<typeof createLibrary>

/** What a search looks at. */
function questionOf(folder: Folder, file: string) {
  if (!folder.has(file)) return { file, problem: `${file}: is a link to a file outside of the folder.` }
  const question = folder.question(file)
  if (isProblem(question)) return { file, problem: problemInWords(question) }
  const { recordedAt, test, request } = question
  const { model = null, prompt = null } = subjectOf(request)
  const { method, path } = request
  return { file, recordedAt, test, method, path, model, said: prompt && beginningOf(prompt) }
}

function lineOf(line: ReturnType<typeof questionOf>, { folder, run }: Parts) {
  if (line.problem !== undefined) return { file: line.file, problem: line.problem }
  const recording = folder.read(line.file)
  if (isProblem(recording)) return { file: line.file, problem: problemInWords(recording) }
  const { response } = recording
  const { status, complete } = response
  const use = { used: run.isPlayed(line.file), made: run.isOwn(line.file) }
  return { ...line, status, streamed: isStream(response), complete, bytes: recordedBody(response).length, ...use }
}

export function createLibrary({ folder, run }: Parts) {
  return {
    /** The folder as a user would write it. */
    folder: displayPath(folder.dir) || '.',
    /** Returns one page, sorted by name, and the total count. */
    async list({ search = '', limit = PAGE_OF_RECORDINGS, offset = 0 }: ListingQuery) {
      folder.refresh()
      const all = [...folder.files()].sort()
      const matches = search.trim() === '' ? undefined : searchFor(search)
      const found = matches
        ? (await mapInParallel(all, async file => questionOf(folder, file))).filter(line => matches(textsOf(line)))
        : all.slice(offset, offset + limit).map(file => questionOf(folder, file))
      const page = matches ? found.slice(offset, offset + limit) : found
      return { data: page.map(line => lineOf(line, { folder, run })), total: matches ? found.length : all.length }
    },
    /** Returns the text of a recording's file; `undefined` if the folder has no such recording. */
    text: (file: string) => (folder.has(file) ? folder.text(file) : undefined),
    remove(file: string): boolean {
      const exists = folder.has(file)
      if (exists) folder.remove([file])
      return exists
    },
  }
}

const textsOf = (line: object) => Object.values(line).filter(value => typeof value === 'string')
