/** Puts the configuration together: flags beat the environment, the environment beats the file, the file beats the defaults. */
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { parseEnv } from 'node:util'
import { check, type Path } from '../core/check.js'
import { type Problem, ProblemsError } from '../core/problem.js'
import { didYouMean } from '../core/suggest.js'
import { readYaml, type YamlFile } from '../core/yaml.js'
import { withVariables } from './environment.js'
import { allOptions, fromText, isSecret } from './options.js'
import { type Config, configSchema } from './schema.js'

export const configFileName = 'platform.config.yaml'

/** A value given outside of the file, with the name under which it was given: `--port`. */
export interface Override {
  readonly path: readonly string[]
  readonly value: unknown
  readonly origin: string
}

export interface ConfigSources {
  /** Where relative names begin, and where `platform.config.yaml` is looked for. */
  readonly cwd: string
  /** A file that must be there; `false` for none. Left out, `platform.config.yaml` is read if there is one. */
  readonly file?: string | false | undefined
  readonly flags?: readonly Override[]
  /** The environment; `.env` beside the configuration stands behind it. Leave out to read neither. */
  readonly env?: Readonly<Record<string, string | undefined>>
}

export interface LoadedConfig {
  readonly config: Config
  /** The file that was read, if there was one. */
  readonly file: string | undefined
  /** Names inside the configuration are relative to this folder. */
  readonly dir: string
  /** Where the value of an option came from: `default`, `platform.config.yaml:3`, `STANDIN_PORT`, `--port`. */
  originOf(option: Path): string
}

/** Reads and checks everything. Throws a ProblemsError with all that is wrong. */
export function loadConfig({ cwd, file: wanted, flags = [], env }: ConfigSources): LoadedConfig {
  const file = path.resolve(cwd, wanted || configFileName)
  const dir = path.dirname(file)
  const present = wanted === undefined ? existsSync(file) : wanted !== false
  const variables = env && { ...readDotEnv(dir), ...env }
  const yaml = present ? readFile(file, path.relative(cwd, file) || file, variables ?? {}) : undefined
  if (yaml && yaml.problems.length > 0) throw new ProblemsError(yaml.problems)

  const value = asObject(yaml)
  for (const path of yaml?.replaced ?? []) put(value, path, fromText(path, String(get(value, path))))

  const { overrides, problems } = variables ? fromEnvironment(variables) : { overrides: [], problems: [] }
  const above = [...overrides, ...flags]
  for (const { path, value: given } of above) put(value, path, given)
  const overrideAt = (at: Path) => above.findLast(({ path }) => path.every((key, i) => at[i] === key))

  const checked = check(configSchema, value, { secret: isSecret, whole: 'the configuration' })
  if ('value' in checked && problems.length === 0) {
    const originOf = (option: Path) => {
      const override = overrideAt(option)
      if (override) return override.origin
      if (!yaml || get(value, option) === undefined) return 'default'
      return `${path.relative(cwd, file) || file}:${yaml.locate(option).line}`
    }
    return { config: checked.value, file: present ? file : undefined, dir, originOf }
  }
  for (const { path: at, sentence } of 'faults' in checked ? checked.faults : []) {
    const override = overrideAt(at)
    if (override || !yaml) problems.push({ origin: override?.origin ?? 'the configuration', sentence })
    else problems.push({ origin: path.relative(cwd, file) || file, ...yaml.locate(at), sentence })
  }
  throw new ProblemsError(problems.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0)))
}

function readFile(file: string, name: string, variables: Readonly<Record<string, string | undefined>>): YamlFile {
  try {
    return readYaml(readFileSync(file, 'utf8'), name, withVariables(variables))
  } catch (error) {
    throw new ProblemsError([{ origin: name, sentence: `cannot be read (${(error as NodeJS.ErrnoException).code}).` }])
  }
}

function readDotEnv(dir: string): Record<string, string | undefined> {
  const file = path.join(dir, '.env')
  return existsSync(file) ? parseEnv(readFileSync(file, 'utf8')) : {}
}

function asObject(yaml: YamlFile | undefined): Record<string, unknown> {
  const value = yaml?.value ?? {}
  if (typeof value === 'object' && !Array.isArray(value)) return value as Record<string, unknown>
  throw new ProblemsError([
    { origin: configFileName, line: 1, column: 1, sentence: 'The file must be a map of options.' },
  ])
}

/** `STANDIN_PORT` and its like. A name that begins so and means nothing is a problem: it would be accepted and ignored. */
function fromEnvironment(variables: Readonly<Record<string, string | undefined>>) {
  const options = new Map(allOptions().map(option => [option.variable, option]))
  const overrides: Override[] = []
  const problems: Problem[] = []
  for (const [name, text] of Object.entries(variables)) {
    if (!name.startsWith('STANDIN_') || text === undefined) continue
    const option = options.get(name)
    if (option) overrides.push({ path: option.path, value: fromText(option.path, text), origin: name })
    else
      problems.push({
        origin: name,
        sentence: `This environment variable is not known.${didYouMean(name, [...options.keys()])}`,
      })
  }
  return { overrides, problems }
}

function get(from: unknown, path: Path): unknown {
  return path.reduce<unknown>((at, key) => (at as Record<string | number, unknown> | undefined)?.[key], from)
}

/** Sets a value deep inside; what is in the way and is no object is left for the check to complain about. */
function put(into: Record<string, unknown>, path: Path, value: unknown): void {
  const [key, ...rest] = path
  if (key === undefined) return
  if (rest.length === 0) into[key] = value
  else {
    into[key] ??= {}
    if (typeof into[key] === 'object') put(into[key] as Record<string, unknown>, rest, value)
  }
}
