/** Notes which recordings a replay did not use, so that `recordings prune --unused` can remove them after the run. */
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import path from 'node:path'
import { threadId } from 'node:worker_threads'
import * as v from 'valibot'
import { arrayOf, closed, text, wholeNumber } from '../check/forms.js'
import { jsonOf } from '../core/json.js'
import { makeNoteFolder, noteFolder, replaceFile } from './folder.js'

const noteForm = closed({
  startedMs: wholeNumber,
  endedMs: wholeNumber,
  /** Anything but 0 means that the run may not have come to all of its requests. */
  exitCode: wholeNumber,
  /** Requests answered from recordings. */
  served: wholeNumber,
  unused: arrayOf(text),
})
export type ReplayNote = v.InferOutput<typeof noteForm>

/**
 * Leaves a note, and removes those of runs that ended before this one began. Runs at the same time keep theirs, since each may
 * have used other recordings. Throws the error of the file system.
 */
export function writeReplayNote(dir: string, note: ReplayNote): void {
  const folder = makeNoteFolder(dir, 'replays')
  replaceFile(path.join(folder, `${note.startedMs}-${process.pid}-${threadId}.json`), `${JSON.stringify(note)}\n`)
  for (const { file, noted } of notesIn(folder)) if (noted.endedMs < note.startedMs) rmSync(file, { force: true })
}

/** The notes of the last replay, and of those at the same time; none if there was no replay. */
export const readReplayNotes = (dir: string): readonly ReplayNote[] =>
  notesIn(noteFolder(dir, 'replays')).map(({ noted }) => noted)

function notesIn(folder: string): readonly { readonly file: string; readonly noted: ReplayNote }[] {
  let names: readonly string[]
  try {
    names = readdirSync(folder).filter(name => name.endsWith('.json'))
  } catch {
    return []
  }
  return names.flatMap(name => {
    const file = path.join(folder, name)
    const { success, output } = v.safeParse(noteForm, jsonOf(readFileSync(file)))
    return success ? [{ file, noted: output }] : []
  })
}
