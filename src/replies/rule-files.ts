/**
 * Changes rules in their files: only in files that the configuration names, only if the file has not changed, and only if the rules stay valid.
 */
import { randomUUID } from 'node:crypto'
import { realpathSync } from 'node:fs'
import { readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { type Problem, problemInWords } from '../check/problem.js'
import {
  itemText,
  listItems,
  withFlag,
  withItem,
  withItemAtEnd,
  withItemBefore,
  withItemsSwapped,
  withoutItem,
} from '../check/yaml-items.js'
import { invalidRequest, noSuchRule, noSuchRuleFile, ruleFileChanged, ruleNotKept } from '../core/errors.js'
import type { ReadyRule } from './dialect.js'
import { findReplyFiles, fullPathsUsed, idInFile, type ReplyFiles, rulesInText, rulesSent, versionOf } from './load.js'

/** What an edit is based on. */
export interface RuleSet {
  readonly files: ReplyFiles
  /** In the order in which they are tried. */
  readonly rules: readonly ReadyRule[]
}

type OpenedFile = Awaited<ReturnType<typeof openFile>>
type OpenedRule = Awaited<ReturnType<typeof openRule>>

/** The text of a rule in its file, with comments. Rejects if the file has changed since. */
export async function readRule(id: string, { files }: RuleSet): Promise<string> {
  const { text, item } = await openRule(id, files)
  return itemText(text, item)
}

/** The mistakes that the file would have if the rule had this text. Positions refer to `yaml`. */
export async function problemsOf(id: string, yaml: string, ruleSet: RuleSet): Promise<readonly Problem[]> {
  const rule = await openRule(id, ruleSet.files)
  const { text, item, items, file } = rule
  const changed = withItem(text, item, yaml)
  const problems = await problemsIn(changed, rule, ruleSet)
  if (problems.length === 0 && (listItems(changed) ?? []).length < items.length) {
    return [{ origin: file, line: 1, column: 1, sentence: 'There is no rule here.' }]
  }
  const before = text.slice(0, item.start).split('\n').length - 1
  const lines = yaml.split('\n').length
  return problems.map(problem => {
    const line = (problem.line ?? 1) - before
    if (line >= 1 && line <= lines)
      return { ...problem, line, column: Math.max(1, (problem.column ?? 1) - item.indent) }
    return { ...problem, line: 1, column: 1, sentence: problemInWords(problem) }
  })
}

/** The compiled rules that would replace one in a file. Rejects with a 400 if they are invalid. */
export async function draftInFile(
  id: string,
  yaml: string,
  ruleSet: RuleSet,
  seed: number,
): Promise<readonly ReadyRule[]> {
  const { full, file: name, text, item, items, index } = await openRule(id, ruleSet.files)
  const dir = path.dirname(full)
  const changed = { name, dir, seed, allowedFiles: filesUsedBy(name, dir, ruleSet) }
  const { problems, rules } = await rulesInText(withItem(text, item, yaml), changed)
  const [problem] = problems
  if (problem) throw invalidRequest(problemInWords(problem))
  return rules.slice(index, index + 1 + rules.length - items.length)
}

/** The changes that can be made to a rule in its file. */
export type RuleEdit =
  | { readonly kind: 'replace'; readonly yaml: string }
  | { readonly kind: 'before'; readonly yaml: string }
  | { readonly kind: 'switch'; readonly enabled: boolean }
  | { readonly kind: 'move'; readonly to: 'up' | 'down' }

/** An edit, or the removal of the rule. */
export type RuleChange = RuleEdit | { readonly kind: 'remove' }

/** Changes the file of a rule. Returns the new id of the rule or its replacement. */
export async function changeRule(id: string, change: RuleChange, ruleSet: RuleSet): Promise<string> {
  const rule = await openRule(id, ruleSet.files)
  const { text, index } = change.kind === 'move' ? move(id, rule, change.to, ruleSet.rules) : edit(rule, change)
  await save(rule, text, { before: 1, remove: -1 }[change.kind as string] ?? 0, ruleSet)
  return idInFile(rule.file, index, versionOf(text))
}

/** The rule files, relative to the configuration. */
export const ruleFiles = async ({ patterns, dir }: ReplyFiles): Promise<readonly string[]> => [
  ...new Set((await findReplyFiles(patterns, dir)).map(full => nameOf(full, dir))),
]

/** Adds rules before all others in a file. */
export async function addToFile(name: string, yaml: string, ruleSet: RuleSet): Promise<void> {
  const full = await findRuleFile(name, ruleSet.files)
  if (!full) throw noSuchRuleFile(name)
  const file = await openFile(name, full)
  const { text, items } = file
  const changed = items.length > 0 ? withItemBefore(text, items, 0, yaml) : withItemAtEnd(text, yaml)
  await save(file, changed, 1, ruleSet)
}

function edit({ text, items, item, index }: OpenedRule, change: Exclude<RuleChange, { kind: 'move' }>) {
  switch (change.kind) {
    case 'replace':
      return { text: withItem(text, item, change.yaml), index }
    case 'before':
      return { text: withItemBefore(text, items, index, change.yaml), index }
    case 'remove':
      return { text: withoutItem(text, item), index }
    case 'switch': {
      const switched = withFlag(itemText(text, item), 'enabled', { value: change.enabled, usual: true })
      if (switched === undefined) throw ruleNotKept('It is an alias of another rule. Change it with an editor.')
      return { text: withItem(text, item, switched), index }
    }
  }
}

/**
 * Moves a rule past its neighbour of the same file and priority. Moving it past others would not change the order in
 * which rules are tried.
 */
function move(id: string, { text, items, item, file }: OpenedRule, to: 'up' | 'down', rules: readonly ReadyRule[]) {
  const position = rules.findIndex(rule => rule.id === id)
  const neighbour = rules[position + (to === 'up' ? -1 : 1)]
  const place = placeOf(neighbour?.id ?? '')
  const other = place?.file === file ? items[place.index] : undefined
  if (position < 0 || !place || !other || neighbour?.priority !== rules[position]?.priority) {
    throw ruleNotKept(`It is the ${to === 'up' ? 'first' : 'last'} rule of its priority in ${file}.`)
  }
  const [first, second] = other.start < item.start ? [other, item] : [item, other]
  return { text: withItemsSwapped(text, first, second), index: place.index }
}

/** A rule in a list. The id is `null` if the rule is in no file, and the scope if it has none. */
export interface RuleEntry {
  readonly id: string | null
  readonly scope: string | null
  readonly rule: ReadyRule
}

/** Whether two rules can swap places: both must be in the same file or scope, and of the same priority. */
export function areNeighbours(one: RuleEntry, other: RuleEntry | undefined): boolean {
  if (!other || one.rule.priority !== other.rule.priority || one.scope !== other.scope) return false
  const [file, otherFile] = [one, other].map(({ rule }) => placeOf(rule.id ?? '')?.file)
  return file === otherFile && (file !== undefined || (one.id !== null && other.id !== null))
}

function placeOf(id: string) {
  const [, file, number, version] = /^(.+)#(\d+)@([\da-f]{16})$/s.exec(id) ?? []
  return file === undefined ? undefined : { file, index: Number(number) - 1, version }
}

/** The file of the rule with this id; `undefined` if it is not in a file. */
export const fileOfRule = (id: string) => placeOf(id)?.file

/** Whether an id belongs to a rule in a file. */
export const isInFile = (id: string) => placeOf(id) !== undefined

/** The rule with this id: its file, its item there, and its index, from 0. */
async function openRule(id: string, files: ReplyFiles) {
  const place = placeOf(id)
  const full = place && (await findRuleFile(place.file, files))
  if (!place || !full) throw noSuchRule(id)
  const { file, index, version } = place
  const opened = await openFile(file, full, version)
  const item = opened.items[index]
  if (!item) throw noSuchRule(id)
  return { ...opened, item, index }
}

/** Opens a file, named relative to the configuration. Rejects if `version` is given and the file has another one. */
async function openFile(file: string, full: string, version?: string) {
  const bytes = await readFile(full).catch(() => {
    throw ruleFileChanged(file)
  })
  const text = new TextDecoder().decode(bytes)
  if (version !== undefined && versionOf(text) !== version) throw ruleFileChanged(file)
  const items = listItems(text)
  if (!items) throw ruleNotKept(`The rules of ${file} are written in brackets. Change them with an editor.`)
  return { file, full, text, hasMark: bytes[0] === 0xef, items }
}

const nameOf = (full: string, dir: string) => path.relative(dir, full) || '.'

/** The full path of a rule file. Other files are refused, including those reached by dots or links. */
async function findRuleFile(file: string, { patterns, dir }: ReplyFiles): Promise<string | undefined> {
  for (const pattern of patterns) {
    const full = (await findReplyFiles([pattern], dir)).find(full => nameOf(full, dir) === file)
    if (full === undefined) continue
    const steps = pattern.split('/')
    const firstWildcard = steps.findIndex(step => /[*?[\]{}!]/.test(step))
    const folder = path.resolve(
      dir,
      steps.slice(0, firstWildcard < 0 ? -1 : firstWildcard).join('/') || (pattern.startsWith('/') ? '/' : '.'),
    )
    const expected = path.join(realpathSync(folder), path.relative(folder, full))
    if (realpathSync(full) === expected) return full
    throw ruleNotKept(`${file} is a symbolic link. Change the file that it points to.`)
  }
  return undefined
}

async function problemsIn(text: string, { file, full }: OpenedFile, ruleSet: RuleSet): Promise<readonly Problem[]> {
  const dir = path.dirname(full)
  return (await rulesSent({ yaml: text, name: file, dir, allowedFiles: filesUsedBy(file, dir, ruleSet) })).problems
}

/** The files that the rules of a file already use. */
function filesUsedBy(file: string, dir: string, { rules }: RuleSet): readonly string[] {
  const ofFile = rules.filter(({ id }) => placeOf(id ?? '')?.file === file)
  return fullPathsUsed(
    ofFile.map(({ written }) => written),
    dir,
  )
}

/** Writes a text that must have at least `addedRules` more rules than before. Rejects with a 400 if they are invalid. */
async function save(file: OpenedFile, text: string, addedRules: number, ruleSet: RuleSet): Promise<void> {
  const [problem] = await problemsIn(text, file, ruleSet)
  if (problem) throw invalidRequest(problemInWords(problem))
  if ((listItems(text) ?? []).length < file.items.length + addedRules) throw invalidRequest('There is no rule here.')
  await write(file, text)
}

/** Writes atomically: readers see the old or the new text, even after a crash. */
async function write({ file, full, text: before, hasMark }: OpenedFile, text: string): Promise<void> {
  const temporary = path.join(path.dirname(full), `.${path.basename(full)}.${randomUUID()}.tmp`)
  try {
    const { mode } = await stat(full)
    await writeFile(temporary, (hasMark ? '\ufeff' : '') + text, { flag: 'wx', mode })
    if (new TextDecoder().decode(await readFile(full)) !== before) throw ruleFileChanged(file)
    await rename(temporary, full)
  } catch (error) {
    await rm(temporary, { force: true })
    const { code } = error as NodeJS.ErrnoException
    throw code !== undefined && /^E[A-Z]+$/.test(code) ? ruleNotKept(`${file} cannot be written (${code}).`) : error
  }
}
