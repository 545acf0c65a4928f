/** Finds the variables that a project has: in the environment, in its .env files and in the examples of those. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { isText, NOT_UTF8 } from '../check/problem.js'
import { parseDotEnv } from './dot-env.js'

/** A variable, and where it is set. */
export interface FoundVariable {
  readonly name: string
  readonly value: string
  /** `the environment`, or a file, relative to the current folder. */
  readonly place: string
  /** In an example, only the name counts. */
  readonly isExample: boolean
}

export interface Project {
  readonly variables: readonly FoundVariable[]
  /** Sentences about files that cannot be read. */
  readonly problems: readonly string[]
}

export interface ProjectSources {
  readonly folders: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
}

export const THE_ENVIRONMENT = 'the environment'

/** Not those of production: nothing here is about it. */
const files = /^\.env(?:\.(?:dev|development|test|local))*$/
const examples = /^\.env(?:\.(?:dev|development|test|local|example|sample|template|dist))*$/

/** First what frameworks prefer, and examples last. */
const byPriority = (one: string, other: string) =>
  Number(files.test(other)) - Number(files.test(one)) || other.split('.').length - one.split('.').length

export function readProject({ folders, env }: ProjectSources): Project {
  const problems: string[] = []
  const own = Object.entries(env).map(([name, value = '']) => ({
    name,
    value,
    place: THE_ENVIRONMENT,
    isExample: false,
  }))
  const all = [...new Set(folders.map(folder => path.resolve(folder)))].flatMap(folder =>
    entriesOf(folder)
      .map(({ name }) => name)
      .filter(name => examples.test(name))
      .sort(byPriority)
      .map(name => path.join(folder, name)),
  )
  const inFiles = all.flatMap(file => {
    const place = path.relative('', file)
    const text = textOf(file)
    if (text === undefined) problems.push(`${place}: ${NOT_UTF8}`)
    const isExample = !files.test(path.basename(file))
    return Object.entries(parseDotEnv(text ?? '')).map(([name, value]) => ({ name, value, place, isExample }))
  })
  return { variables: [...own, ...inFiles], problems }
}

/** A folder, and those below it where the apps of a repository with several are, such as apps/web. */
export function appFolders(folder = '.', depth = 2): readonly string[] {
  if (depth === 0) return [folder]
  const inside = entriesOf(folder).filter(
    entry => entry.isDirectory() && entry.name !== 'node_modules' && !entry.name.startsWith('.'),
  )
  return [folder, ...inside.flatMap(({ name }) => appFolders(path.join(folder, name), depth - 1))]
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    // No folder, or not for this user.
    return []
  }
}

/** `undefined` if it is no text. A pipe or a folder has nothing that could be read twice. */
function textOf(file: string): string | undefined {
  if (!statSync(file, { throwIfNoEntry: false })?.isFile()) return ''
  const bytes = readFileSync(file)
  return isText(bytes) ? bytes.toString() : undefined
}
