/** Reads data files and schemas of resources, and finds the lines of their values for error messages. */
import path from 'node:path'
import type { Mistake } from '../check/check.js'
import { type Problem, ProblemsError, unreadable } from '../check/problem.js'
import type { LoadedConfig } from '../config/load.js'
import { readTextFile } from '../replies/index.js'

export interface Source {
  readonly value: unknown
  /** Adds file, line and column to mistakes. */
  problems(mistakes: readonly Mistake[]): Promise<readonly Problem[]>
}

/** Reads a YAML or JSON file. Rejects with a ProblemsError. */
export async function readSource(name: string, dir: string): Promise<Source> {
  const file = path.resolve(dir, name)
  const text = await readText(file, name)
  return name.toLowerCase().endsWith('.json') ? jsonSource(text, name, file) : yamlSource(text, name, file)
}

async function readText(file: string, name: string): Promise<string> {
  try {
    return await readTextFile(file)
  } catch (error) {
    throw new ProblemsError([unreadable(name, error)], [file])
  }
}

/** JSON is parsed ten times as fast as YAML, which matters with thousands of rows. */
async function jsonSource(text: string, name: string, file: string): Promise<Source> {
  const { jsonFrom, withPlaces } = await import('../check/json-places.js')
  return { value: jsonFrom(text, name, [file]), problems: async mistakes => withPlaces(mistakes, text, name) }
}

async function yamlSource(text: string, name: string, file: string): Promise<Source> {
  const { readYaml } = await import('../check/yaml.js')
  const { value, problems, locate } = readYaml(text, name)
  if (problems.length > 0) throw new ProblemsError(problems, [file])
  return {
    value,
    problems: async mistakes => mistakes.map(({ path, sentence }) => ({ origin: name, ...locate(path), sentence })),
  }
}

/** The source for a value in the configuration itself. `placeOf` returns the place of a path. */
export const inlineSource = (value: unknown, placeOf: LoadedConfig['placeOf']): Source => ({
  value,
  problems: async mistakes => mistakes.map(({ path, sentence }) => ({ ...placeOf(path), sentence })),
})
