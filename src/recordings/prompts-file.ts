/** The file of prompts, for review: what each test tells the model. Several processes may write it at the same time. */
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { uptime } from 'node:os'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import * as v from 'valibot'
import type { Tokenizer } from '../chat/tokens/index.js'
import { check } from '../check/check.js'
import { closed, map, text, wholeNumber } from '../check/forms.js'
import { makeFolder, ProblemsError, readText } from '../check/problem.js'
import { readYaml } from '../check/yaml.js'
import { mapInParallel } from '../core/work.js'
import type { Ignore } from './canonical.js'
import { yamlText } from './file-form.js'
import { questionIn } from './file-text.js'
import { displayPath, type Folder, isRunning, replaceFile } from './folder.js'
import { addUses, chatCallIn, type Definition, type Uses } from './prompts.js'

const HEADING = `# What each test tells the model: messages of the system, tools, schemas and parameters, by hash, with the number of calls.
# Standin writes this file. Review its changes, and do not edit it.
`

/** The entry for the requests of no test: it has all recordings of the folder, so that a part of a run does not change it. */
const ALL_RECORDINGS = 'all recordings'

const definition = closed({
  tokens: v.optional(wholeNumber),
  text: v.optional(text),
  json: v.optional(v.unknown()),
})
const form = closed({
  tests: map(text, map(text, wholeNumber, 'a map of labels and numbers'), 'a map of tests'),
  definitions: map(text, definition, 'a map of definitions'),
})
type Prompts = v.InferOutput<typeof form>

interface PromptsToWrite {
  readonly folder: Folder
  readonly ignore: Ignore
  readonly tokenizer: Tokenizer
  /** The tests that were run. Those that were not keep their entries. */
  readonly tests: ReadonlyMap<string, Uses>
  readonly definitions: Iterable<Definition>
  /** Whether the file gets the entry for all recordings if it has none. */
  readonly isAboutRecordings: boolean
  /** Whether tests are removed that use what is in no recording any more. */
  readonly isComplete?: boolean
}

/** The path of the file: beside the folder of recordings. */
export const promptsFileOf = ({ dir }: Folder) => path.join(path.dirname(dir), 'prompts.yaml')

/**
 * Writes the prompts of these tests into the file, and returns what the file has then, and whether it has changed.
 * Rejects with a ProblemsError if the file cannot be read, and with the system's error if it cannot be written.
 */
export async function writePrompts(parts: PromptsToWrite) {
  const file = promptsFileOf(parts.folder)
  return whileLocked(`${file}.lock`, async () => {
    const before = textBefore(file)
    const prompts = await changedPrompts(
      before === undefined ? { tests: {}, definitions: {} } : promptsIn(before, file),
      parts,
    )
    const written = `${HEADING}${yamlText(prompts)}\n`
    if (written !== before) replaceFile(file, written)
    return { file: displayPath(file), prompts, hasChanged: written !== before }
  })
}

async function changedPrompts(old: Prompts, parts: PromptsToWrite): Promise<Prompts> {
  const { folder, ignore, tokenizer, isComplete = false } = parts
  const tests = new Map(Object.entries(old.tests))
  for (const [name, uses] of parts.tests) tests.set(name, Object.fromEntries(uses))
  const found = new Map([...parts.definitions].map(one => [one.label, one]))
  if (parts.isAboutRecordings || tests.has(ALL_RECORDINGS)) {
    const recorded: Uses = new Map()
    const files = (await folder.list()).map(({ file }) => file)
    for (const call of await mapInParallel(files, async file =>
      recordedCall(await folder.text(file), file, ignore, tokenizer),
    )) {
      if (!call) continue
      addUses(recorded, call)
      for (const one of call.definitions) found.set(one.label, one)
    }
    for (const [name, uses] of isComplete ? [...tests] : [])
      if (Object.keys(uses).some(label => !recorded.has(label))) tests.delete(name)
    if (recorded.size > 0) tests.set(ALL_RECORDINGS, Object.fromEntries(recorded))
    else tests.delete(ALL_RECORDINGS)
  }
  const definitions = {
    ...old.definitions,
    ...Object.fromEntries([...found].map(([label, one]) => [label, entryFor(one)])),
  }
  const used = new Set([...tests.values()].flatMap(uses => Object.keys(uses)))
  return {
    tests: sortedBy(
      byName,
      [...tests].map(([name, uses]) => [name, sortedBy(byKind, Object.entries(uses))]),
    ),
    definitions: sortedBy(
      byKind,
      Object.entries(definitions).filter(([label]) => used.has(label)),
    ),
  }
}

/** The chat call of a recording; `undefined` if it has none or cannot be read, which other commands report. */
function recordedCall(text: string, file: string, ignore: Ignore, tokenizer: Tokenizer) {
  try {
    return chatCallIn(questionIn(text, file).request, ignore, tokenizer)
  } catch (error) {
    if (error instanceof ProblemsError) return undefined
    throw error
  }
}

const entryFor = ({ tokens, value }: Definition) => ({
  ...(tokens > 0 && { tokens }),
  ...(typeof value === 'string' ? { text: value } : { json: value ?? null }),
})

type Compare = (one: string, other: string) => number

const byName: Compare = (one, other) => (one < other ? -1 : one > other ? 1 : 0)

const kindOrder = ['calls', 'system', 'developer', 'tool', 'schema', 'parameters']
const rankOf = (label: string) => kindOrder.indexOf(label.split(' ', 1)[0] ?? '')

const byKind: Compare = (one, other) => rankOf(one) - rankOf(other) || byName(one, other)

const sortedBy = <T>(compare: Compare, entries: readonly (readonly [string, T])[]) =>
  Object.fromEntries(entries.toSorted(([one], [other]) => compare(one, other)))

/** `undefined` if there is no such file. */
function textBefore(file: string): string | undefined {
  return statSync(file, { throwIfNoEntry: false }) && readText(file, displayPath(file))
}

function promptsIn(text: string, file: string): Prompts {
  const { value, problems, locate } = readYaml(text, displayPath(file))
  const checked = problems.length > 0 ? undefined : check(form, value, { whole: 'the file' })
  if (checked && 'value' in checked) return checked.value
  const mistakes = checked?.mistakes.map(({ path, sentence }) => ({
    origin: displayPath(file),
    ...locate(path),
    sentence,
  }))
  const advice = ' Remove the file, and run all tests again.'
  throw new ProblemsError((mistakes ?? problems).map(one => ({ ...one, sentence: one.sentence + advice })))
}

const RETRY_MS = 20
/** A lock that is older was left behind, whatever the system tells about processes. */
const OLDEST_LOCK_MS = 60_000
/** Times in a file system may be this rough. */
const FILE_TIME_MS = 2_000

/** Does the work while no other process or thread has the lock. */
async function whileLocked<T>(lock: string, work: () => Promise<T>): Promise<T> {
  makeFolder(path.dirname(lock))
  while (!takes(lock)) {
    if (await isLeft(lock)) rmSync(lock, { force: true })
    else await pause(RETRY_MS)
  }
  try {
    return await work()
  } finally {
    rmSync(lock, { force: true })
  }
}

function takes(lock: string): boolean {
  try {
    writeFileSync(lock, String(process.pid), { flag: 'wx' })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

/** Whether the process that took the lock has ended. One that is just being written or removed is not left. */
async function isLeft(lock: string): Promise<boolean> {
  const { mtimeMs = Date.now() } = statSync(lock, { throwIfNoEntry: false }) ?? {}
  if (Date.now() - mtimeMs > OLDEST_LOCK_MS) return true
  const pid = Number(await readFile(lock, 'utf8').catch(() => ''))
  if (!(pid > 0)) return false
  // Another process may have the number by now, also this one, as in a container that was started again.
  return !isRunning(pid) || mtimeMs + FILE_TIME_MS < (beganMs(pid) ?? 0)
}

const MS_OF_TICK = 10

/** When the process with this number began; `undefined` if the system does not tell. */
function beganMs(pid: number): number | undefined {
  if (pid === process.pid) return Date.now() - process.uptime() * 1000
  try {
    // The name of the program is in brackets, and may have spaces (man 5 proc_pid_stat).
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const fields = stat.slice(stat.lastIndexOf(') ') + 2)
    return Date.now() - uptime() * 1000 + Number(fields.split(' ')[19]) * MS_OF_TICK
  } catch {
    return undefined
  }
}
