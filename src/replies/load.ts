/** Loads rules from the files that the configuration names, and from code. */
import { existsSync, statSync } from 'node:fs'
import path from 'node:path'
import { check, type Path, pathInWords } from '../check/check.js'
import { endlessExpressions } from '../check/expressions.js'
import { plainJson } from '../check/plain-json.js'
import { type Problem, ProblemsError, unreadable } from '../check/problem.js'
import { chat } from './chat/reply.js'
import type { Dialect, ReadyRule, Texts } from './dialect.js'
import { originAt, type RuleOrigin, readyRule } from './engine.js'
import { withFaker } from './fake.js'
import { http } from './http/index.js'
import { isTemplateFile, readBodyFile, readTextFile } from './parts.js'
import { isHttpRule, isMcpRule, type Rule, type RuleInput, ruleSchema, rulesSchema } from './rules.js'
import { hasTemplate, type Templates, textsIn } from './templates.js'

export interface ReplyFiles {
  /** Names or globs, relative to `dir`. */
  readonly patterns: readonly string[]
  readonly dir: string
  /** Whether a pattern that matches nothing is a mistake. The default pattern may match nothing. */
  readonly required: boolean
}

export interface LoadedRules {
  readonly rules: readonly ReadyRule[]
  /** The files that rules use, which are watched along with the rule files. */
  readonly files: readonly string[]
  /** What is valid, but may be a mistake. */
  readonly warnings: readonly Problem[]
}

/**
 * Loads the rules of all files: in the order of the patterns, then by file name, then from top to bottom. `seed` is
 * used by templates. Rejects with a ProblemsError.
 */
export async function loadRules({ patterns, dir, required }: ReplyFiles, seed: number): Promise<LoadedRules> {
  const problems: Problem[] = []
  const loaded: LoadedRules[] = []
  const filesRead = new Set<string>()
  for (const pattern of patterns) {
    const files = await findFiles(pattern, dir)
    if (files.length === 0 && required) {
      problems.push({ origin: 'replies', sentence: `No file matches ${JSON.stringify(pattern)} in ${dir}.` })
    }
    for (const file of files.filter(file => !filesRead.has(file))) {
      filesRead.add(file)
      const read = await readRules(file, path.relative(dir, file) || '.', seed)
      problems.push(...read.problems)
      loaded.push(read)
    }
  }
  const all = joined(loaded)
  if (problems.length > 0) throw new ProblemsError(problems, [...filesRead, ...all.files])
  return all
}

/**
 * Compiles rules written in code. Paths of files are relative to `dir`. Rejects with a ProblemsError that names the
 * rule and the field.
 */
export function rulesFromCode(written: readonly RuleInput[], dir: string, seed: number): Promise<LoadedRules> {
  return checkAndCompile(written, { dir, seed, originOf: i => originAt(`rules[${i}]`) }, 'rules')
}

/** The same for one or several rules that are added at run time. Without a `dir` they may not use files. */
export const rulesAsGiven = (
  written: unknown,
  context: Pick<CompileContext, 'dir' | 'seed' | 'originOf'>,
): Promise<LoadedRules> => checkAndCompile(written, context, Array.isArray(written) ? 'rules' : 'the rule')

async function checkAndCompile(
  written: unknown,
  context: Omit<CompileContext, 'problemAt'>,
  whole: 'rules' | 'the rule',
): Promise<LoadedRules> {
  const isOne = whole === 'the rule'
  const plain = plainJson(written, { origin: whole, isRule: true })
  const checked = isOne ? check(ruleSchema, plain, { whole }) : check(rulesSchema, plain, { whole })
  const problemAt = (sentence: string): Problem => ({ origin: whole, sentence })
  if ('mistakes' in checked) throw new ProblemsError(checked.mistakes.map(({ sentence }) => problemAt(sentence)))
  const { problems, ...loaded } = await compileRules([checked.value].flat(), {
    ...context,
    // A single rule has no number.
    problemAt: (at, sentence) => problemAt(`${pathInWords(isOne ? at.slice(1) : at)}: ${sentence}`),
  })
  if (problems.length > 0) throw new ProblemsError(problems, loaded.files)
  return loaded
}

export const joined = (loaded: readonly LoadedRules[]): LoadedRules => ({
  rules: loaded.flatMap(({ rules }) => rules),
  files: loaded.flatMap(({ files }) => files),
  warnings: loaded.flatMap(({ warnings }) => warnings),
})

/** The files of all patterns, in the order in which their rules are tried. */
export async function findReplyFiles(patterns: readonly string[], dir: string): Promise<readonly string[]> {
  return (await Promise.all(patterns.map(pattern => findFiles(pattern, dir)))).flat()
}

const isFolder = (name: string) => statSync(name, { throwIfNoEntry: false })?.isDirectory() === true

const isGlob = (part: string) => /[*?[\]{}!]/.test(part)

/**
 * Splits a pattern into the folder that it begins with and a glob or the name of a file in it. What exists is not a glob,
 * whatever characters its name has. All YAML files of a folder count if the pattern names only the folder.
 */
function splitPattern(pattern: string, dir: string): { readonly folder: string; readonly rest: string } {
  const full = path.resolve(dir, pattern)
  if (isFolder(full)) return { folder: full, rest: '*.{yaml,yml}' }
  const { root } = path.parse(pattern)
  const parts = pattern.slice(root.length).split('/')
  let folder = path.resolve(dir, root)
  for (let next = parts[0]; next !== undefined && parts.length > 1; next = parts[0]) {
    if (isGlob(next) && !isFolder(path.join(folder, next))) break
    folder = path.join(folder, next)
    parts.shift()
  }
  return { folder, rest: parts.join('/') }
}

/** A pattern without a wildcard is a file name, whatever else it contains, and a missing file is reported as such. */
async function findFiles(pattern: string, dir: string): Promise<string[]> {
  const { folder, rest } = splitPattern(pattern, dir)
  const file = path.join(folder, rest)
  if (!isGlob(rest) || existsSync(file)) return [file]
  // Most projects have no such folder, and then the glob library need not be loaded.
  if (!existsSync(folder)) return []
  const { escapePath, glob } = await import('tinyglobby')
  const inFolder = rest.split('/').map(part => (isGlob(part) ? part : escapePath(part)))
  const options = { cwd: folder, absolute: true, expandDirectories: false, onlyFiles: true }
  const files = await glob(inFolder.join('/'), options)
  return files.map(file => path.normalize(file)).sort()
}

/** The result of reading one file. If it has no problems, its rules are valid. */
export interface ReadRules extends LoadedRules {
  readonly problems: readonly Problem[]
}

const withoutRules = (problems: readonly Problem[]): ReadRules => ({ ...joined([]), problems })

const readRules = (file: string, name: string, seed: number): Promise<ReadRules> =>
  readTextFile(file).then(
    text => rulesInText(text, { name, dir: path.dirname(file), seed }),
    error => withoutRules([unreadable(name, error)]),
  )

interface RuleText extends Pick<CompileContext, 'dir' | 'seed'> {
  /** The name of the text in problems and in the positions of rules. */
  readonly name: string
}

/** Parses and compiles the rules in a text. */
export async function rulesInText(text: string, { name, dir, seed }: RuleText): Promise<ReadRules> {
  const { readYaml } = await import('../check/yaml.js')
  const yaml = readYaml(text, name, { keepDigits: true })
  if (yaml.problems.length > 0) return withoutRules(yaml.problems)
  // An empty file, or one that is commented out, has no rules, which is not a mistake.
  const checked = check(rulesSchema, yaml.value ?? [], { whole: 'the file', isYaml: true })
  const problemAt = (at: Path, sentence: string): Problem => ({ origin: name, ...yaml.locate(at), sentence })
  if ('mistakes' in checked)
    return withoutRules(checked.mistakes.map(({ path, sentence }) => problemAt(path, sentence)))
  return compileRules(checked.value, {
    dir,
    seed,
    originOf: i => ({ ...originAt(`${name}:${yaml.locate([i]).line}`), file: name }),
    problemAt: (at, sentence) => problemAt(at, `${pathInWords(at)}: ${sentence}`),
  })
}

interface CompileContext {
  /** The folder for files that rules use. Without it they may not use any. */
  readonly dir: string | undefined
  readonly seed: number
  readonly originOf: (i: number) => RuleOrigin
  /** A problem with the part of the rules that is at this path. */
  problemAt(at: Path, sentence: string): Problem
}

/** The code that rules for MCP calls need, loaded with the first of them. */
export const loadMcp = () => import('./mcp/index.js')

/** The dialects of these rules. */
async function dialectsFor(rules: readonly Rule[]): Promise<(rule: Rule) => Dialect> {
  const mcp = rules.some(isMcpRule) ? (await loadMcp()).mcp : chat
  return rule => (isHttpRule(rule) ? http : isMcpRule(rule) ? mcp : chat)
}

/** Loads Liquid, and also faker unless `replies`, which are all that will be compiled, do not use it. */
export async function loadTemplates(replies?: unknown): Promise<Templates> {
  const withoutFaker = replies !== undefined && [...textsIn(replies)].every(text => !text.includes('faker'))
  const { createTemplates } = await import('./templates/compile.js')
  // Its functions are looked up when a template is compiled. Rendering sets a seed first.
  return createTemplates(withoutFaker ? undefined : await withFaker(0, faker => faker))
}

async function compileRules(rules: readonly Rule[], context: CompileContext): Promise<ReadRules> {
  const { dir = '', seed, originOf, problemAt } = context
  const problems: Problem[] = []
  const complain = (at: Path, sentence: string) => void problems.push(problemAt(at, sentence))
  const texts = await readTexts(rules, context.dir, complain)
  const mayBeTemplates = [
    rules.map(({ reply, replies }) => [reply, replies]),
    [...texts].filter(([name]) => isTemplateFile(name)),
  ]
  const templates = hasTemplate(mayBeTemplates) ? await loadTemplates(mayBeTemplates) : undefined
  const dialectOf = await dialectsFor(rules)
  const ready: ReadyRule[] = []
  for (const [i, rule] of rules.entries()) {
    const sharedTexts = { templates, seed, file: (name: string) => texts.get(path.resolve(dir, name)) }
    const ruleTexts = { ...sharedTexts, complain: (at: Path, why: string) => complain([i, ...at], why) }
    ready.push(readyRule(rule, originOf(i), ruleTexts, dialectOf(rule)))
  }
  const endless = await Promise.all(rules.map(({ when }, i) => endlessExpressions(when, [i, 'when'])))
  const warnings = endless.flat().map(({ at, sentence }) => problemAt(at, sentence))
  return { rules: ready, files: [...texts.keys()], problems, warnings }
}

/** The texts of files that rules use, by full path. Unreadable files are left out. */
async function readTexts(rules: readonly Rule[], dir: string | undefined, complain: Texts['complain']) {
  const texts = new Map<string, string | Buffer | undefined>()
  for (const { at, file, isBody } of filesUsed(rules)) {
    if (dir === undefined) {
      complain(at, 'A rule that is sent cannot use files. Send the text itself.')
      continue
    }
    const full = path.resolve(dir, file)
    try {
      texts.set(full, await (isBody ? readBodyFile(full) : readTextFile(full)))
    } catch (error) {
      texts.set(full, undefined)
      complain(at, `${file} ${unreadable(file, error).sentence}`)
    }
  }
  return texts
}

/** A `file` that a reply names, and its position. */
interface UsedFile {
  readonly at: Path
  readonly file: string
  /** Whether its bytes are the body of an answer, which need not be a text. */
  readonly isBody?: boolean
}

function* filesUsed(rules: readonly Rule[]): Generator<UsedFile> {
  for (const [i, rule] of rules.entries()) {
    const { reply, replies } = rule
    const forms = reply
      ? [{ at: [i, 'reply'], form: reply }]
      : (replies ?? []).map((form, k) => ({ at: [i, 'replies', k], form }))
    for (const { at, form } of forms) {
      if (form.file !== undefined)
        yield { at: [...at, 'file'], file: form.file, isBody: isHttpRule(rule) || isMcpRule(rule) }
      for (const [k, { file }] of ('choices' in form ? (form.choices ?? []) : []).entries()) {
        if (file !== undefined) yield { at: [...at, 'choices', k, 'file'], file }
      }
    }
  }
}
