/** Notes which recordings answered requests with another prompt, so that `recordings accept` can adopt it after the run. */
import { appendFileSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import path from 'node:path'
import { threadId } from 'node:worker_threads'
import * as v from 'valibot'
import { check } from '../check/check.js'
import { arrayOf, closed, text } from '../check/forms.js'
import type { Problem } from '../check/problem.js'
import { exactJsonOf, stringifyExact } from '../core/json.js'
import { requestForm } from './file-form.js'
import { requestFields, requestFrom } from './file-text.js'
import { displayPath, isRunning, makeNoteFolder, noteFolder } from './folder.js'
import type { RecordedRequest } from './recording.js'

/** The recordings of one request, and another request that they answered. */
export interface Drifted {
  /** In their order. */
  readonly files: readonly string[]
  /** The key of their own request. */
  readonly key: string
  readonly request: RecordedRequest
}

export type DriftNote = ReturnType<typeof createDriftNote>

/** One line of a note: what drifted, or a recording that answered its own request. */
const lineForm = v.union([closed({ files: arrayOf(text), key: text, request: requestForm }), closed({ exact: text })])

/**
 * The process of the run that this one belongs to: test runners fork their workers, and start node:test's with this
 * variable.
 */
const runId = () => (process.send || process.env.NODE_TEST_CONTEXT ? process.ppid : process.pid)

/** A note is named by its run, and by when and where it began. */
const noteName = /^(\d+)-(\d+)-\d+-\d+-\d+\.jsonl$/

let opened = 0

/** Each process, and each platform in it, writes a file of its own. `warn` is called once if that fails. */
export function createDriftNote(dir: string, warn: (sentence: string) => void) {
  const folder = noteFolder(dir, 'drifted')
  const file = path.join(folder, `${runId()}-${Date.now()}-${process.pid}-${threadId}-${++opened}.jsonl`)
  const noted = new Set<string>()
  let isBegun = false

  /** Notes of runs that are over say nothing about this one. */
  function begin(): void {
    isBegun = true
    makeNoteFolder(dir, 'drifted')
    for (const name of readdirSync(folder)) {
      const run = Number(noteName.exec(name)?.[1] ?? 0)
      if (run !== runId() && !isRunning(run)) rmSync(path.join(folder, name), { force: true })
    }
  }

  /** Appends a line, once for each `id`. */
  function append(id: string, line: object, onError: (error: NodeJS.ErrnoException) => void): void {
    if (noted.has(id)) return
    noted.add(id)
    try {
      if (!isBegun) begin()
      appendFileSync(file, `${stringifyExact(line)}\n`)
    } catch (error) {
      onError(error as NodeJS.ErrnoException)
    }
  }

  let isWarned = false
  return {
    /** A recording answered its own request, so that it is still needed. */
    exact: (file: string) => append(file, { exact: file }, () => {}),
    /** `id` is the same for requests that differ only in what is ignored. */
    drifted: (id: string, { request, ...of }: Drifted) =>
      append(`${of.files[0]} ${id}`, { ...of, request: requestFields(request) }, ({ code, message }) => {
        if (!isWarned) warn(`What drifted cannot be noted for standin recordings accept (${code ?? message}).`)
        isWarned = true
      }),
  }
}

/** What drifted in the last run. */
export interface NotedDrift extends Drifted {
  /** Whether the recordings also answered their own request, so that they have to stay. */
  readonly isShared: boolean
}

/** Reads all notes. Lines that are not notes are problems. */
export function readDriftNotes(dir: string): {
  readonly drifts: readonly NotedDrift[]
  readonly problems: readonly Problem[]
} {
  const problems: Problem[] = []
  const notes = noteNamesIn(dir).map(name => linesOf(path.join(noteFolder(dir, 'drifted'), name), name, problems))
  const exact = new Set(
    notes.flatMap(({ run, lines }) => lines.flatMap(line => ('exact' in line ? `${run} ${line.exact}` : []))),
  )
  const drifts: NotedDrift[] = []
  const known = new Set<string | undefined>()
  // What a later note says about a recording replaces what earlier ones do.
  for (const { run, lines } of notes.toReversed()) {
    const news = lines.filter(line => 'files' in line).filter(({ files }) => !known.has(files[0]))
    for (const { files, key, request } of news) {
      const isShared = files.some(file => exact.has(`${run} ${file}`))
      drifts.push({ files, key, request: requestFrom(request), isShared })
    }
    for (const { files } of news) known.add(files[0])
  }
  return { drifts, problems }
}

function noteNamesIn(dir: string): readonly string[] {
  try {
    const began = (name: string) => Number(noteName.exec(name)?.[2])
    return readdirSync(noteFolder(dir, 'drifted'))
      .filter(name => noteName.test(name))
      .sort((a, b) => began(a) - began(b))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

function linesOf(file: string, name: string, problems: Problem[]) {
  const lines = readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((json, i) => {
      if (json === '') return []
      const result = check(lineForm, exactJsonOf(json), { whole: 'the line' })
      if ('value' in result) return [result.value]
      problems.push({
        origin: displayPath(file),
        line: i + 1,
        sentence: 'is not a note of what drifted, and is left out. Run the tests again.',
      })
      return []
    })
  return { run: noteName.exec(name)?.[1], lines }
}

/** Removes all notes but these. */
export function replaceDriftNotes(dir: string, drifts: readonly NotedDrift[]): void {
  const names = noteNamesIn(dir)
  if (drifts.length > 0) {
    const note = createDriftNote(dir, () => {})
    for (const [i, { files, key, request, isShared }] of drifts.entries()) {
      note.drifted(String(i), { files, key, request })
      if (isShared) for (const file of files) note.exact(file)
    }
  }
  for (const name of names) rmSync(path.join(noteFolder(dir, 'drifted'), name), { force: true })
}
