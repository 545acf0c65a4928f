/** What a run has done with one folder of recordings, test by test. It survives a reload of the configuration. */
import type { Folder } from './folder.js'
import type { Known, Lookup } from './lookup.js'
import { hashesIn, testHash } from './names.js'
import { emptyReceipt, joinReceipts, noCounts, type Receipt, type RunReceipt, type TestReceipt } from './receipt.js'
import { isPassingError, type RecordedResponse } from './recording.js'

/** At most this many reasons and remarks are kept. */
const REASONS = 20
/** Repetitions are counted for this many requests of a test. The oldest ones start again from zero. */
const COUNTED = 10_000
/** Far more than a run has. Beyond that, the oldest test is forgotten. */
const MOST_TESTS = 10_000

/** The recordings of one request of a test in this run. */
interface Numbers {
  count: number
  /** Places of passing errors that no retry has taken yet. */
  readonly failed: number[]
}

/** What a test has done. A test that begins again, because it is retried, counts from the beginning. */
class TestRun {
  readonly counts = noCounts()
  result: TestReceipt['result']
  asked = new Map<string, number>()
  numbers = new Map<string, Numbers>()
  /** The recordings that its latest attempt has played or made. */
  kept = new Set<string>()
  /** Whether it begins again with its next request. */
  isOver = false

  continued(): this {
    if (!this.isOver) return this
    this.isOver = false
    this.asked = new Map()
    this.numbers = new Map()
    this.kept = new Set()
    this.result = undefined
    return this
  }
}

export interface Saved extends Pick<RecordedResponse, 'status' | 'complete'>, Pick<Known, 'test' | 'key' | 'place'> {
  readonly isUnchanged: boolean
}

export class Run {
  readonly #tests = new Map<string, TestRun>()
  readonly #played = new Set<string>()
  readonly #saved = new Map<string, Saved>()
  /** Recordings of errors, until a retry has replaced them. */
  readonly #errors = new Set<string>()
  readonly #notRecorded = new Map<string, string>()
  readonly #remarks = new Map<string, string>()
  readonly #codes = new Set<string>()
  /** The requests of no test that were asked for, by conversation and by key. */
  readonly #askedByNobody = new Set<string>()
  /** What other processes of the run have done. */
  readonly #others: Receipt[] = []
  /** Files that were changed later than this may belong to another run. */
  readonly startedMs = Date.now()

  /** Takes what another process of the run has done with the same folder. */
  join(receipt: Receipt): void {
    this.#others.push(receipt)
  }

  #test(name: string): TestRun {
    const known = this.#tests.get(name)
    if (known) return known
    if (this.#tests.size >= MOST_TESTS) this.#tests.delete(this.#tests.keys().next().value ?? '')
    const added = new TestRun()
    this.#tests.set(name, added)
    return added
  }

  /** A test is reset, or without a name all of them: with its next request it begins again. Requests of no test count through the run. */
  reset(name?: string): void {
    for (const [test, run] of this.#tests) if (test !== '' && (name === undefined || name === test)) run.isOver = true
  }

  /** The tests that have sent something since the last one ended have passed, or failed; or the one with this name. */
  end(hasPassed: boolean, ended?: string): void {
    for (const [name, test] of this.#tests)
      if (name !== '' && (ended ?? name) === name) test.result ??= hasPassed ? 'passed' : 'failed'
  }

  /** How many times a test sent a request before this one. */
  count(name: string, { key, conversation }: Pick<Known, 'key' | 'conversation'>, more: string): number {
    const { asked } = this.#test(name).continued()
    if (name === '') this.#askedByNobody.add(key).add(conversation)
    const counted = `${key} ${more}`
    const before = asked.get(counted) ?? 0
    asked.delete(counted)
    asked.set(counted, before + 1)
    if (asked.size > COUNTED) asked.delete(asked.keys().next().value ?? '')
    return before
  }

  /** Begins another recording of a request. Returns its place: the next one, or that of an error after which the client tries again. */
  place(name: string, { key, conversation }: Pick<Known, 'key' | 'conversation'>): number {
    const { numbers } = this.#test(name).continued()
    if (name === '') this.#askedByNobody.add(key).add(conversation)
    const request = numbers.get(key) ?? { count: 0, failed: [] }
    numbers.set(key, request)
    return request.failed.shift() ?? ++request.count
  }

  /** The answer at this place is an error, so the next recording of its request takes the place. */
  failed(name: string, key: string, place: number, file: string): void {
    this.#errors.add(file)
    const { failed }: Pick<Numbers, 'failed'> = this.#test(name).numbers.get(key) ?? { failed: [] }
    if (!failed.includes(place)) failed.push(place)
    failed.sort((a, b) => a - b)
  }

  /** Whether it is an error of this run, and no retry has replaced it yet. */
  isFailed(file: string): boolean {
    return this.#errors.has(file)
  }

  served(name: string, file: string, isOther: boolean): void {
    const { counts, kept } = this.#test(name)
    counts.served++
    if (isOther) counts.others++
    kept.add(file)
    this.#played.add(file)
  }

  /** A request without a recording, unless it was answered from the nearest. */
  missed(name: string, changed: 'prompt' | 'message' | undefined): void {
    const { counts } = this.#test(name)
    if (changed === 'prompt') counts.changedPrompts++
    else if (changed === 'message') counts.changedMessages++
    else counts.missed++
  }

  recorded(of: Pick<Known, 'test' | 'key' | 'place' | 'file'>, response: RecordedResponse, isUnchanged: boolean): void {
    const { test, key, place, file } = of
    const { status, complete, leftByClient } = response
    const { counts, kept } = this.#test(test)
    if (!this.#saved.has(file)) counts.recorded++
    kept.add(file)
    this.#saved.set(file, { test, key, place, status, complete: complete || leftByClient === true, isUnchanged })
    if (!isPassingError(response)) this.#errors.delete(file)
    this.#notRecorded.delete(file)
  }

  /** The reason is dropped if the file is recorded later. */
  notRecorded(file: string, reason: string): void {
    if (this.#notRecorded.size < REASONS) this.#notRecorded.set(file, reason)
  }

  /** Says something about the recordings once, for each `about`. */
  remark(about: string, sentence: string): void {
    if (this.#remarks.size < REASONS || this.#remarks.has(about)) this.#remarks.set(about, sentence)
  }

  /** Whether saving has not failed with this code before. */
  isFirst(code: string): boolean {
    return !this.#codes.has(code) && this.#codes.add(code).size > 0
  }

  isOwn(file: string): boolean {
    return this.#saved.has(file)
  }

  isPlayed(file: string): boolean {
    return this.#played.has(file)
  }

  /** Whether the latest attempt of its test has made or played a recording. */
  isKept({ test, file }: Pick<Known, 'test' | 'file'>): boolean {
    return this.#tests.get(test)?.kept.has(file) === true
  }

  /** The recordings that were made, by file. */
  saved(): ReadonlyMap<string, Saved> {
    return this.#saved
  }

  /** Recordings that an earlier attempt of a test has made, and the latest one did not ask for. */
  dropped(): readonly string[] {
    return [...this.#saved].filter(([file, { test }]) => !this.isKept({ test, file })).map(([file]) => file)
  }

  /** The tests that this run has recorded or replayed, in all its processes. */
  tests(): ReadonlyMap<string, TestReceipt> {
    const own = Object.fromEntries(
      [...this.#tests].map(([name, { counts, result }]) => [name, { ...counts, ...(result && { result }) }]),
    )
    return new Map(Object.entries(joinReceipts([{ ...emptyReceipt, tests: own }, ...this.#others]).tests))
  }

  /** The recordings that the tests which ran did not use. With `isWhole`, all that were not used. */
  unused(lookup: Lookup, isWhole: boolean): readonly string[] {
    const tests = this.tests()
    const ran = new Set([...tests.keys()].map(testHash))
    const usedByOthers = new Set(this.#others.flatMap(({ used }) => used))
    const isUnused = (file: string): boolean => {
      if (this.isPlayed(file) || this.isOwn(file) || usedByOthers.has(file)) return false
      // A run without a request has used nothing.
      if (isWhole || ran.size === 0) return lookup.known(file) !== undefined
      const by = hashesIn(file)
      if (by && !ran.has(by.test)) return false
      // What others have asked for without a test, only they know.
      if (by?.test === '' && this.#others.some(({ tests, unused }) => '' in tests && !unused.includes(file)))
        return false
      if (by?.test === '' && !this.#askedByNobody.has(by.conversation)) return true
      const known = lookup.known(file)
      // Of a request of no test, there may be more recordings than this part of the run asks for.
      return known !== undefined && tests.has(known.test) && !(known.test === '' && this.#askedByNobody.has(known.key))
    }
    return [...lookup.folder.files()].filter(isUnused).sort()
  }

  receipt(lookup: Lookup, isWhole = false): RunReceipt {
    if (this.#others.length > 0) lookup.folder.refresh()
    const unused = this.unused(lookup, isWhole)
    const {
      passed: _passed,
      own: _own,
      violations: _violations,
      ...joined
    } = joinReceipts([this.#ownReceipt(lookup), ...this.#others])
    return { ...joined, unused, notAsked: joined.recorded > 0 ? unused : [] }
  }

  #ownReceipt(lookup: Lookup): Receipt {
    const saved = [...this.#saved.values()]
    const tests = [...this.#tests].sort(([one], [other]) => (one < other ? -1 : 1))
    const total = noCounts()
    for (const [, { counts }] of tests)
      for (const name of Object.keys(total) as (keyof typeof total)[]) total[name] += counts[name]
    return {
      ...emptyReceipt,
      ...total,
      recorded: saved.length,
      unchanged: saved.filter(({ isUnchanged }) => isUnchanged).length,
      errors: errorsIn(saved),
      used: [...new Set([...this.#played, ...this.#saved.keys()])].sort(),
      notRecorded: [...this.#notRecorded.values()],
      unreadable: unreadableIn(lookup.folder),
      remarks: [...this.#remarks.values()],
      tests: Object.fromEntries(
        tests.map(([name, { counts, result }]) => [name, { ...counts, ...(result && { result }) }]),
      ),
    }
  }
}

const unreadableIn = (folder: Folder): readonly string[] =>
  [...folder.unreadable()].map(
    ([file, { line, sentence }]) => `${file}${line === undefined ? '' : `:${line}`}: ${sentence}`,
  )

function errorsIn(recordings: readonly Saved[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { status, complete } of recordings) {
    if (complete && status < 400) continue
    const kind = complete ? status : 'incomplete'
    counts[kind] = (counts[kind] ?? 0) + 1
  }
  return counts
}
