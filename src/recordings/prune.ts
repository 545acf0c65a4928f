/** What is removed after a run, or by `recordings prune`: recordings that their tests no longer ask for, and what a flag names. */
import type { Problem } from '../check/problem.js'
import type { Folder } from './folder.js'
import { isProblem } from './folder.js'
import type { Known, Lookup } from './lookup.js'
import { hashesIn, testHash } from './names.js'
import { latestRun, type RunNote, readNotes } from './notes.js'
import { joinReceipts, type Receipt } from './receipt.js'
import { isPassingError, isPassingStatus } from './recording.js'
import type { Run } from './run.js'

/** More than this part of a folder is removed only if somebody says yes. */
const MOST_REMOVED = 0.5

export interface EndedRun {
  readonly receipt: Receipt
  /** The exit code of the command; `undefined` if each test says how it ended. */
  readonly exitCode: number | undefined
  /** Whether all tests ran, so that recordings of others are of tests that are gone. */
  readonly isWhole: boolean
  /** Whether such requests are recorded, so that what was not asked for is not needed. */
  readonly isRecorded: (request: Pick<Known, 'method' | 'path'>) => boolean
  /** Whether what is only listed is removed, too. */
  readonly isPruning: boolean
  /** Whether more than half of the folder may be removed. */
  readonly isSure: boolean
}

/** What happened to the recordings that a run did not ask for. */
export interface Tidied {
  readonly removed: readonly string[]
  /** Those that stay. */
  readonly notAsked: readonly string[]
  /** Those of them that are of no test, which only a whole run removes. */
  readonly ofNoTest: number
  /** Tests that have recordings, and did not run although all tests ran. */
  readonly goneTests: readonly string[]
  /** Why nothing was removed. */
  readonly objection: string | undefined
  /** Whether no other process of the run has come this far before. */
  readonly isFirst: boolean
}

interface RunParts {
  readonly run: Run
  readonly lookup: Lookup
  readonly note: RunNote
}

/**
 * Removes what the tests of a recording run that passed no longer ask for, lists the rest, and notes what the run did.
 * Throws the error of the file system.
 */
export function endRun(ended: EndedRun, { run, lookup, note }: RunParts): Tidied {
  const { receipt, exitCode, isWhole, isPruning } = ended
  const { folder } = lookup
  if (receipt.served + receipt.recorded > 0)
    note.ended({ endedMs: Date.now(), isWhole, receipt, ...(exitCode !== undefined && { exitCode }) })
  removeOutdated(run, lookup)
  const tests = run.tests()
  const hasPassed = ({ test }: Known) => {
    const { result } = tests.get(test) ?? {}
    return exitCode === undefined ? result === 'passed' : exitCode === 0 && result !== 'failed'
  }
  // Another run at the same time may have asked for them.
  const isOurs = (file: string) => run.isOwn(file) || !folder.isChangedSince(file, run.startedMs)
  const files = [...new Set([...run.unused(lookup, isWhole), ...run.dropped()])].filter(isOurs)
  const notAsked = files.flatMap(file => lookup.known(file) ?? [])
  const isRerecorded = (one: Known) => ended.isRecorded(one) && (tests.get(one.test)?.recorded ?? 0) > 0
  const mayGo = (one: Known) => hasPassed(one) && (isPruning || isRerecorded(one)) && (one.test !== '' || isWhole)
  const wanted = notAsked.filter(mayGo)
  const objection = isPruning && exitCode ? FAILED : ended.isSure ? undefined : tooMany(wanted.length, folder)
  const removed = objection === undefined ? wanted : []
  folder.remove(removed.map(({ file }) => file))
  const left = receipt.recorded > 0 || isPruning ? notAsked.filter(one => !removed.includes(one)) : []
  return {
    removed: removed.map(({ file }) => file),
    notAsked: left.map(({ file }) => file),
    ofNoTest: left.filter(({ test }) => test === '').length,
    goneTests: isWhole ? [...new Set(notAsked.map(({ test }) => test))].filter(test => !tests.has(test)) : [],
    objection: left.length > 0 ? objection : undefined,
    isFirst: note.isFirst,
  }
}

/**
 * Removes what this run has recorded again under another name, because `recordings.ignore` has changed since. An outage
 * must not cost the answers that are there.
 */
function removeOutdated(run: Run, lookup: Lookup): void {
  const { folder, ignore } = lookup
  if (!ignore.isAny || run.saved().size === 0) return
  const placeOf = ({ test, key, place }: Pick<Known, 'test' | 'key' | 'place'>) => JSON.stringify([test, key, place])
  const made = new Map([...run.saved()].map(([file, saved]) => [placeOf(saved), { file, saved }]))
  const tests = new Set([...made.values()].map(({ saved }) => testHash(saved.test)))
  for (const file of [...folder.files()]) {
    const by = hashesIn(file)
    const known = run.isOwn(file) || (by && !tests.has(by.test)) ? undefined : lookup.known(file)
    const again = known && made.get(placeOf(known))
    if (!again) continue
    const old = folder.read(file)
    const isWorse = isPassingError(again.saved) && !isProblem(old) && !isPassingError(old.response)
    folder.remove([isWorse ? again.file : file])
  }
}

const FAILED = 'Nothing was pruned, because the run failed and may not have asked for everything.'

/** Why so many recordings are not removed without a yes. */
export function tooMany(count: number, folder: Folder): string | undefined {
  const all = folder.files().size
  if (count <= 1 || count <= all * MOST_REMOVED) return undefined
  return `${count} of ${all} recordings would be removed, more than half of the folder. Add --yes if that is right.`
}

export type PruneReason = 'unused' | 'error' | 'incomplete' | 'old' | 'broken' | 'leftover'

export interface Prunable {
  readonly file: string
  readonly reasons: readonly PruneReason[]
}

/** What `recordings prune` could remove, and what the last run says about it. With `isWhole`, all tests ran in it. */
export function prunableIn(folder: Folder, maxAgeMs: number, isWhole: boolean) {
  const lastRun = whatLastRunSays(folder, isWhole)
  const recordings = [...folder.files()].sort().map((file): Prunable => {
    const reasons = reasonsToPrune(folder, file, maxAgeMs)
    return { file, reasons: lastRun.unused.has(file) ? ['unused', ...reasons] : reasons }
  })
  const leftovers = folder.leftovers().map((file): Prunable => ({ file, reasons: ['leftover'] }))
  return { prunable: [...recordings, ...leftovers], lastRun }
}

function reasonsToPrune(folder: Folder, file: string, maxAgeMs: number): readonly PruneReason[] {
  const recording = folder.read(file)
  if (isProblem(recording)) return ['broken']
  const { recordedAt, response } = recording
  return [
    ...(isPassingStatus(response.status) ? (['error'] as const) : []),
    ...(response.complete || response.leftByClient ? [] : (['incomplete'] as const)),
    ...(Date.now() - Date.parse(recordedAt) > maxAgeMs ? (['old'] as const) : []),
  ]
}

const RUN_FIRST = 'Replay all tests first: standin exec --mode replay -- npm test.'

/** Which recordings the tests of the last run did not use, or why that is not known. */
function whatLastRunSays(folder: Folder, isSaidWhole: boolean) {
  const { notes } = readNotes(folder.dir)
  const latest = latestRun(notes, ({ ended }) => ended !== undefined)
  const ends = latest.flatMap(({ ended }) => ended ?? [])
  const unknown = (why: string) => ({
    unused: new Set<string>(),
    summary: '',
    goneTests: [],
    objection: `${why} ${RUN_FIRST}`,
  })
  const { exitCode } = ends.find(one => one.exitCode) ?? {}
  if (ends.length === 0) return unknown('No run with it is noted.')
  if (exitCode) return unknown(`The last run ended with exit code ${exitCode}, so it may not have used everything.`)
  if (latest.some(({ ended, isLiving }) => !ended && !isLiving))
    return unknown('A part of the last run was killed, so it may not have used everything.')
  // That of the command counts what its tests have reported.
  const whole = ends.filter(end => end.exitCode !== undefined)
  const receipt = joinReceipts((whole.length > 0 ? whole : ends).map(end => end.receipt))
  const endedMs = Math.min(...ends.map(end => end.endedMs))
  const isWhole = isSaidWhole || ends.every(end => end.isWhole)
  const questions = new Map([...folder.files()].map(file => [file, folder.question(file)]))
  const [usedInRun, unusedInRun] = [new Set(receipt.used), new Set(receipt.unused)]
  const unused = new Set<string>()
  const goneTests = new Set<string>()
  for (const [file, question] of questions) {
    if (isProblem(question) || usedInRun.has(file) || folder.isChangedSince(file, endedMs)) continue
    const test = receipt.tests[question.test]
    // Tests that failed, or missed a recording, may not have come to all of their requests.
    if (test && (test.result === 'failed' || test.missed > 0)) continue
    if (isWhole || unusedInRun.has(file)) unused.add(file)
    if (isWhole && !test) goneTests.add(question.test)
  }
  const summary = `The last run ended at ${new Date(endedMs).toISOString()} after ${receipt.served + receipt.recorded} answers.`
  return { unused, summary, goneTests: [...goneTests], objection: undefined }
}

/** What is wrong with the files of a folder. Reads all of them. */
export function problemsIn(folder: Folder): readonly Problem[] {
  for (const file of folder.files()) folder.read(file)
  return [...folder.unreadable().values()]
}
