/** Reads rules from the files that the configuration names. */
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { check } from '../core/check.js'
import type { Pace } from '../core/exchange.js'
import { type Problem, ProblemsError, unreadable } from '../core/problem.js'
import { readYaml } from '../core/yaml.js'
import { type ReadyRule, readyRule, rulesSchema } from './rules.js'

export interface ReplyFiles {
  /** Names or globs, relative to `dir`. */
  readonly patterns: readonly string[]
  readonly dir: string
  /** Whether a pattern that finds nothing is a mistake; the default one may find nothing. */
  readonly required: boolean
  readonly pace: Pace
}

/** The rules of all files: in the order of the patterns, within one by file name, within a file from top to bottom. Rejects with a ProblemsError. */
export async function loadRules({ patterns, dir, required, pace }: ReplyFiles): Promise<readonly ReadyRule[]> {
  const problems: Problem[] = []
  const rules: ReadyRule[] = []
  const taken = new Set<string>()
  for (const pattern of patterns) {
    const files = await findFiles(pattern, dir)
    if (files.length === 0 && required) {
      problems.push({ origin: 'replies', sentence: `No file matches ${JSON.stringify(pattern)} in ${dir}.` })
    }
    for (const file of files.filter(file => !taken.has(file))) {
      taken.add(file)
      const read = await readRules(file, path.relative(dir, file) || '.', pace)
      if ('problems' in read) problems.push(...read.problems)
      else rules.push(...read.rules)
    }
  }
  if (problems.length > 0) throw new ProblemsError(problems)
  return rules
}

/** The files of all patterns, in the order in which their rules are tried. */
export async function findReplyFiles(patterns: readonly string[], dir: string): Promise<readonly string[]> {
  return (await Promise.all(patterns.map(pattern => findFiles(pattern, dir)))).flat()
}

/** Without a wildcard a pattern is a file's name, whatever else is in it, and a missing file is told as one. */
async function findFiles(pattern: string, dir: string): Promise<string[]> {
  if (!/[*?[\]{}!]/.test(pattern)) return [path.resolve(dir, pattern)]
  const { glob } = await import('tinyglobby')
  const found = await glob(pattern, { cwd: dir, absolute: true, expandDirectories: false, onlyFiles: true })
  return found.map(file => path.normalize(file)).sort()
}

type Read = { readonly rules: readonly ReadyRule[] } | { readonly problems: readonly Problem[] }

async function readRules(file: string, name: string, pace: Pace): Promise<Read> {
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (error) {
    return { problems: [unreadable(name, error)] }
  }
  const yaml = readYaml(text, name)
  if (yaml.problems.length > 0) return { problems: yaml.problems }
  // An empty file, or one in which all is commented out, has no rules; it is not wrong.
  const checked = check(rulesSchema, yaml.value ?? [], { whole: 'the file' })
  if ('mistakes' in checked) {
    return {
      problems: checked.mistakes.map(({ path, sentence }) => ({ origin: name, ...yaml.locate(path), sentence })),
    }
  }
  return {
    rules: checked.value.map((rule, i) => readyRule(rule, `${name}:${yaml.locate([i]).line}`, pace)),
  }
}
