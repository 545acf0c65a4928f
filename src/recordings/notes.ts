/** The note that a run leaves below `.standin`: what the nearest recordings answered, for `accept`, and its receipt, for `prune`. */
import { appendFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import * as v from 'valibot'
import { check } from '../check/check.js'
import { boolean, closed, optionalMember, text, wholeNumber, word } from '../check/forms.js'
import { makeFolder, type Problem } from '../check/problem.js'
import { exactJsonOf, stringifyExact } from '../core/json.js'
import type { ValueOf } from '../core/operation.js'
import { requestForm } from './file-form.js'
import { displayPath, replaceFile } from './folder.js'
import { isLiving, processName } from './process.js'
import { receiptForm } from './receipt.js'

/** An answer from the nearest recording to a request that differs from its own. */
const nearestAnswer = closed({
  file: text,
  /** The key of the recorded request. */
  key: text,
  /** Whose request it was. */
  test: text,
  changed: word(['prompt', 'message']),
  request: requestForm,
})
export type NearestAnswer = v.InferOutput<typeof nearestAnswer>

const ended = closed({
  endedMs: wholeNumber,
  /** Anything but 0 means that the run may not have come to all of its requests; absent if each test says how it ended. */
  exitCode: optionalMember(wholeNumber),
  isWhole: boolean,
  receipt: receiptForm,
})
export type EndOfRun = ValueOf<typeof ended>

const head = closed({ run: text, by: text })
const lineForm = v.union([
  head,
  nearestAnswer,
  /** A recording that answered its own request, too. */
  closed({ exact: text }),
  closed({ ended }),
])

export interface Note {
  readonly file: string
  /** The process of the whole run. */
  readonly run: string
  readonly isLiving: boolean
  readonly nearest: readonly NearestAnswer[]
  readonly exact: readonly string[]
  /** Missing if the process was killed, or has not ended. */
  readonly ended: EndOfRun | undefined
}

/** The notes of this many runs are kept. */
const KEPT_RUNS = 8

const folderOf = (dir: string) => path.join(dir, '.standin/runs')

/**
 * The process of the run that this one belongs to: test runners fork their workers, and start node:test's with this variable. Jest has
 * `process.send` in every process.
 */
const runName = () => processName(process.connected || process.env.NODE_TEST_CONTEXT ? process.ppid : process.pid)

export class RunNote {
  #file: string | undefined
  #isWarned = false
  /** Whether it has begun, and no other platform of the run had left a note before. */
  isFirst = false
  readonly #noted = new Set<string>()

  /** `warn` is called once if nothing can be noted. */
  constructor(
    private readonly dir: string,
    private readonly warn: (sentence: string) => void,
    private readonly run = runName(),
  ) {}

  /** A recording answered its own request, so that it is still needed. */
  exact(file: string): void {
    this.#append(`exact ${file}`, { exact: file }, true)
  }

  /** `id` is the same for requests that differ only in what is ignored. */
  nearest(id: string, answer: NearestAnswer): void {
    this.#append(`${answer.test}\n${answer.file}\n${id}`, answer)
  }

  /** Where nothing can be written, as in some CI jobs, `prune` says that there is no note. */
  ended(end: EndOfRun): void {
    this.#append('ended', { ended: end }, true)
  }

  #begin(): string {
    this.isFirst = readNotes(this.dir).notes.every(({ run }) => run !== this.run)
    return begin(this.dir, this.run)
  }

  #append(id: string, line: object, isQuiet = false): void {
    if (this.#noted.has(id)) return
    this.#noted.add(id)
    try {
      this.#file ??= this.#begin()
      appendFileSync(this.#file, `${stringifyExact(line)}\n`)
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      if (!isQuiet && !this.#isWarned)
        this.warn(`What has changed cannot be noted for standin recordings accept (${code ?? message}).`)
      this.#isWarned ||= !isQuiet
    }
  }
}

/** Makes a file that no other process has. Git ignores it. */
function begin(dir: string, run: string): string {
  const folder = folderOf(dir)
  makeFolder(folder)
  replaceFile(path.join(path.dirname(folder), '.gitignore'), '*\n')
  const numbers = namesIn(dir).map(numberOf)
  forgetOld(dir)
  for (let n = Math.max(0, ...numbers) + 1; ; n++) {
    const file = path.join(folder, `${n}.jsonl`)
    try {
      writeFileSync(file, `${JSON.stringify({ run, by: processName() })}\n`, { flag: 'wx' })
      return file
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
  }
}

function forgetOld(dir: string): void {
  const { notes } = readNotes(dir)
  const runs = [...new Set(notes.map(({ run }) => run))].slice(0, -KEPT_RUNS + 1)
  for (const { file, run, isLiving } of notes)
    if (!isLiving && runs.includes(run)) rmSync(path.join(folderOf(dir), file), { force: true })
}

const numberOf = (name: string) => Number.parseInt(name, 10)

/** In the order in which they were begun. */
function namesIn(dir: string): readonly string[] {
  try {
    return readdirSync(folderOf(dir))
      .filter(name => /^\d+\.jsonl$/.test(name))
      .sort((a, b) => numberOf(a) - numberOf(b))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

/** All notes, the latest last. Lines that are not of a note are problems. */
export function readNotes(dir: string): { readonly notes: readonly Note[]; readonly problems: readonly Problem[] } {
  const problems: Problem[] = []
  const notes = namesIn(dir).flatMap(file => {
    const lines = linesOf(path.join(folderOf(dir), file), problems)
    const first = lines.find(line => 'run' in line)
    if (!first) return []
    return {
      file,
      run: first.run,
      isLiving: isLiving(first.by),
      nearest: lines.filter(line => 'changed' in line),
      exact: lines.flatMap(line => ('exact' in line ? [line.exact] : [])),
      ended: lines.findLast(line => 'ended' in line)?.ended,
    }
  })
  return { notes, problems }
}

/** The notes of the latest run of which one is `wanted`: those of all its processes. */
export function latestRun(notes: readonly Note[], wanted: (note: Note) => boolean): readonly Note[] {
  const run = notes.findLast(wanted)?.run
  return notes.filter(note => note.run === run)
}

function linesOf(file: string, problems: Problem[]) {
  return readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((json, i) => {
      if (json === '') return []
      const result = check(lineForm, exactJsonOf(json), { whole: 'the line' })
      if ('value' in result) return [result.value]
      const sentence = 'is not a line of a note about a run, and is left out. Run the tests again.'
      problems.push({ origin: displayPath(file), line: i + 1, sentence })
      return []
    })
}

/** Keeps only these answers of the nearest recordings in some notes. */
export function replaceNearest(dir: string, notes: readonly Note[], kept: ReadonlySet<NearestAnswer>): void {
  for (const { file, nearest } of notes) {
    if (nearest.every(answer => kept.has(answer))) continue
    const at = path.join(folderOf(dir), file)
    const others = readFileSync(at, 'utf8')
      .split('\n')
      .filter(line => !line.includes('"changed":'))
    replaceFile(at, [...nearest.filter(answer => kept.has(answer)).map(stringifyExact), ...others].join('\n'))
  }
}
