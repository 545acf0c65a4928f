/** The file of prompts, for review: what each test tells the model. Several processes may write it at the same time. */
import { rmSync, statSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import * as v from 'valibot'
import type { Tokenizer } from '../chat/tokens/index.js'
import { check } from '../check/check.js'
import { closed, map, text, wholeNumber } from '../check/forms.js'
import { makeFolder, ProblemsError, readText } from '../check/problem.js'
import { readYaml } from '../check/yaml.js'
import { stringifyExact } from '../core/json.js'
import {
  displayPath,
  type Folder,
  type Ignore,
  isProblem,
  replaceFile,
  unlikeness,
  yamlText,
} from '../recordings/index.js'
import { isLiving, processName } from '../recordings/process.js'
import { addUses, chatCallIn, type Definition, idOf, noUses, type Uses } from './calls.js'
import { FIRST_WORDS, promptsFileOf } from './place.js'

const HEADING = `${FIRST_WORDS}: messages of the system, tools, schemas and parameters, with the number of calls.
# Standin writes this file. Review its changes, and do not edit it.
`

/** The entry for requests of no test: it has all recordings of no test, so that a part of a run does not change it. */
const NO_TEST = 'no test'
const CALLS = 'calls'
const NOT_OURS = 'is not a file of Standin, which writes one here: move it.'

const definition = closed({
  tokens: v.optional(wholeNumber),
  text: v.optional(text),
  json: v.optional(v.unknown()),
})
const form = closed({
  tests: map(text, map(text, wholeNumber, 'a map of names and numbers'), 'a map of tests'),
  definitions: map(text, definition, 'a map of definitions'),
})
type Prompts = v.InferOutput<typeof form>

interface PromptsToWrite {
  readonly folder: Folder
  readonly ignore: Ignore
  readonly tokenizer: Tokenizer
  /** The tests that were run. Those that were not keep their entries. */
  readonly tests: ReadonlyMap<string, Uses>
  /** Whether the file gets the entry for requests of no test if it has none. */
  readonly hasNobodys?: boolean
  /** Whether all of it is made of the recordings, also if the file is damaged. */
  readonly isFromRecordings?: boolean
  /** Whether nothing is written. */
  readonly isDry?: boolean
  readonly gone?: readonly string[]
}

/**
 * Writes the prompts of these tests into the file, and returns what the file has then, whether it has changed, and whether it is new.
 * Rejects with a ProblemsError if the file cannot be read, and with the system's error if it cannot be written.
 */
export async function writePrompts(parts: PromptsToWrite) {
  const file = promptsFileOf(parts.folder)
  return whileLocked(`${file}.lock`, async () => {
    const before = textBefore(file)
    if (before?.includes(FIRST_WORDS) === false)
      throw new ProblemsError([{ origin: displayPath(file), sentence: NOT_OURS }])
    const prompts = changedPrompts(before === undefined ? nothing : promptsIn(before, file, parts), parts)
    // Blank lines between definitions, so that Git can merge a changed text with an added one.
    const written = `${HEADING}${yamlText(prompts, '', prompts.definitions)}\n`
    if (written !== before && !parts.isDry) replaceFile(file, written)
    return { file: displayPath(file), prompts, hasChanged: written !== before, isNew: before === undefined }
  })
}

const nothing: Prompts = { tests: {}, definitions: {} }

function changedPrompts(old: Prompts, parts: PromptsToWrite): Prompts {
  const { hasNobodys, isFromRecordings = false, gone = [] } = parts
  const updated = new Map(parts.tests)
  if (hasNobodys || isFromRecordings || NO_TEST in old.tests) {
    const recorded = usesInRecordings(parts)
    const nobodys = recorded.get('')
    if (nobodys) updated.set(NO_TEST, nobodys)
    if (isFromRecordings) for (const [test, uses] of recorded) if (test !== '') updated.set(test, uses)
  }
  const names = createNames(old, updated)
  const tests = [...updated].map(([test, { calls, definitions }]) => {
    const uses = [...definitions.values()].map(({ definition, count }) => [names.of(definition), count] as const)
    return [test, Object.fromEntries([[CALLS, calls], ...uses])] as const
  })
  const known = new Set([...updated.values()].flatMap(({ definitions }) => [...definitions.keys()]))
  const isKept = ([test, uses]: readonly [string, Prompts['tests'][string]]) =>
    !updated.has(test) &&
    !gone.includes(test) &&
    test !== NO_TEST &&
    (!isFromRecordings || Object.keys(uses).every(name => name === CALLS || known.has(names.idOf(name))))
  const all = [...Object.entries(old.tests).filter(isKept), ...tests]
  return inOrder({ tests: Object.fromEntries(all), definitions: names.definitions() })
}

/** What the recordings of each test tell the model; of no test under an empty name. */
function usesInRecordings({ folder, ignore, tokenizer }: PromptsToWrite): ReadonlyMap<string, Uses> {
  const recorded = new Map<string, Uses>()
  for (const file of folder.files()) {
    // Other commands report files that cannot be read.
    const question = folder.question(file)
    const call = isProblem(question) ? undefined : chatCallIn(question.request, ignore, tokenizer)
    if (!call || isProblem(question)) continue
    const uses = recorded.get(question.test) ?? noUses()
    recorded.set(question.test, uses)
    addUses(uses, call)
  }
  return recorded
}

/**
 * Names definitions so that a changed one keeps its name: `system`, or `system 2` if there is another one. Then a changed
 * sentence is a change in one place, and Git merges it with the change of a parameter or a tool.
 */
function createNames(old: Prompts, updated: ReadonlyMap<string, Uses>) {
  const stillUsed = new Set(
    Object.entries(old.tests).flatMap(([test, uses]) => (updated.has(test) ? [] : Object.keys(uses))),
  )
  const named = new Map(Object.entries(old.definitions).map(([name, entry]) => [name, definitionOf(name, entry)]))
  const byId = new Map([...named].map(([name, definition]) => [idOf(definition), name]))
  const fresh = new Map([...updated.values()].flatMap(({ definitions }) => [...definitions]))
  const isFree = (name: string) => !stillUsed.has(name) && !fresh.has(idOf(named.get(name) ?? noDefinition))
  for (const [id, { definition }] of fresh) {
    const known = byId.get(id)
    const alike = [...named.keys()].filter(name => kindIn(name) === definition.kind && isFree(name))
    const text = stringifyExact(definition.value)
    const unlike = (name: string) => unlikeness(stringifyExact(named.get(name)?.value), text)
    const name =
      known ?? alike.toSorted((one, other) => unlike(one) - unlike(other))[0] ?? freeName(definition.kind, named)
    named.set(name, definition)
    byId.set(id, name)
  }
  return {
    of: (definition: Definition) => byId.get(idOf(definition)) ?? '',
    idOf: (name: string) => idOf(named.get(name) ?? noDefinition),
    definitions: () => Object.fromEntries([...named].map(([name, one]) => [name, entryFor(one)])),
  }
}

const noDefinition: Definition = { kind: '', tokens: 0, value: null }

/** The name without its number, and without the hash that earlier versions gave it. */
const kindIn = (name: string) => name.replace(/ (?:\d{1,3}|[0-9a-f]{8})$/, '')

function freeName(kind: string, taken: ReadonlyMap<string, unknown>): string {
  let name = kind
  for (let n = 2; taken.has(name); n++) name = `${kind} ${n}`
  return name
}

const definitionOf = (name: string, { tokens = 0, text, json }: Prompts['definitions'][string]): Definition => ({
  kind: kindIn(name),
  tokens,
  value: text ?? json,
})

const entryFor = ({ tokens, value }: Definition) => ({
  ...(tokens > 0 && { tokens }),
  ...(typeof value === 'string' ? { text: value } : { json: value ?? null }),
})

type Compare = (one: string, other: string) => number

const byName: Compare = (one, other) => one.localeCompare(other, 'en', { numeric: true })

const kindOrder = [CALLS, 'system', 'developer', 'tool', 'schema', 'parameters']
const rankOf = (name: string) => kindOrder.indexOf(name.split(' ', 1)[0] ?? '')

const byKind: Compare = (one, other) => rankOf(one) - rankOf(other) || byName(one, other)

const sortedBy = <T>(compare: Compare, entries: readonly (readonly [string, T])[]) =>
  Object.fromEntries(entries.toSorted(([one], [other]) => compare(one, other)))

/** Sorted, without definitions that no test uses, and numbered without gaps. */
function inOrder({ tests, definitions }: Prompts): Prompts {
  const used = [...new Set(Object.values(tests).flatMap(Object.keys))].filter(name => name !== CALLS).sort(byKind)
  const renamed = new Map<string, string>([[CALLS, CALLS]])
  const taken = new Map<string, string>()
  for (const name of used) {
    const free = freeName(kindIn(name), taken)
    taken.set(free, name)
    renamed.set(name, free)
  }
  const withNames = (uses: Prompts['tests'][string]) =>
    sortedBy(
      byKind,
      Object.entries(uses).map(([name, count]) => [renamed.get(name) ?? name, count] as const),
    )
  return {
    tests: sortedBy(
      byName,
      Object.entries(tests).map(([test, uses]) => [test, withNames(uses)] as const),
    ),
    definitions: sortedBy(
      byKind,
      [...taken].map(([free, name]) => [free, definitions[name] ?? {}] as const),
    ),
  }
}

function textBefore(file: string): string | undefined {
  return statSync(file, { throwIfNoEntry: false }) && readText(file, displayPath(file))
}

/** Throws a ProblemsError for a damaged file, unless all of it is made anew. */
function promptsIn(text: string, file: string, { isFromRecordings }: PromptsToWrite): Prompts {
  const { value, problems, locate } = readYaml(text, displayPath(file))
  const checked = problems.length > 0 ? undefined : check(form, value, { whole: 'the file' })
  if (checked && 'value' in checked) return checked.value
  const mistakes = checked?.mistakes.map(({ path, sentence }) => ({
    origin: displayPath(file),
    ...locate(path),
    sentence,
  }))
  if (isFromRecordings) return nothing
  const advice = ' Write it again: standin recordings repair.'
  throw new ProblemsError((mistakes ?? problems).map(one => ({ ...one, sentence: one.sentence + advice })))
}

const RETRY_MS = 20
/** A lock that is older was left behind, whatever process has its number now. */
const OLDEST_LOCK_MS = 60_000

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
    writeFileSync(lock, processName(), { flag: 'wx' })
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
  const by = await readFile(lock, 'utf8').catch(() => '')
  return by !== '' && !isLiving(by)
}
