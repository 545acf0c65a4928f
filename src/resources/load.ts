/** Loads the configured resources: paths, initial rows and schemas. */
import { hash } from 'node:crypto'
import path from 'node:path'
import { type Loaded, type Problem, ProblemsError, unreadable } from '../check/problem.js'
import { type Access, defaultAccess } from '../core/exchange.js'
import { isObject, parseExact, stringifyExact } from '../core/json.js'
import { isDocumentedPath } from '../endpoints/index.js'
import { areAmbiguous, paramsIn, pathOf, readTextFile, routeOf, whyInvalidRoute } from '../replies/index.js'
import { type ResourceOptions, resourceActions } from './options.js'
import type { ReadyResource, SeedRow } from './resource.js'
import { createRowCheck, readSeeds, type SeedSource } from './seeds.js'

export type LoadedResources = Awaited<ReturnType<typeof loadResources>>

interface LoadInput {
  readonly resources: Readonly<Record<string, ResourceOptions>>
  /** Files are relative to this folder. */
  readonly dir: string
  readonly placeOf: Loaded<unknown>['placeOf']
  /** The id of the configured user with an email address; `undefined` if there is none. */
  readonly userIdOf: (email: string) => string | undefined
}

/**
 * Returns the resources, and their files, which are watched like the configuration. Rejects with a ProblemsError that lists
 * all mistakes.
 */
export async function loadResources(input: LoadInput) {
  const entries = Object.entries(input.resources)
  const problems: Problem[] = [...pathProblems(input)]
  const resources: ReadyResource[] = []
  const files = entries.flatMap(([, { data, schema }]) =>
    [data, schema].flatMap(one => (typeof one === 'string' ? [path.resolve(input.dir, one)] : [])),
  )
  for (const [path, options] of problems.length > 0 ? [] : entries) {
    try {
      resources.push(await loadResource(path, options, input))
    } catch (error) {
      if (!(error instanceof ProblemsError)) throw error
      problems.push(...error.problems)
    }
  }
  if (problems.length > 0) throw new ProblemsError(problems, files)
  return { resources, files }
}

/** The problems of the paths: invalid ones, and ones that match the same requests as another. */
function pathProblems({ placeOf, resources }: LoadInput): readonly Problem[] {
  const all = Object.keys(resources).map(path => ({ path, route: routeOf(`GET ${path}`) }))
  return all.flatMap(({ path, route }, i) => {
    const duplicate = all
      .slice(0, i)
      .find(other => withoutNames(other.route) === withoutNames(route) || areAmbiguous(other.route, route))
    const problem = pathProblem(path, route) ?? (duplicate && `matches the same paths as ${duplicate.path}.`)
    return problem === undefined ? [] : [{ ...placeOf(['resources', path]), sentence: `${path} ${problem}` }]
  })
}

/** The same text for routes that differ only in the names of their parameters. */
const withoutNames = (route: ReturnType<typeof routeOf>) => pathOf(route).replace(/\{\w+\}/g, '{}')

/** The problem of a path, as the rest of a sentence; `undefined` if there is none. */
function pathProblem(path: string, { segments }: ReturnType<typeof routeOf>): string | undefined {
  const problem = whyInvalidRoute(`GET ${path}`)
  if (problem !== undefined) return `${problem}.`
  if (isDocumentedPath(path)) return 'is a documented endpoint of the platform, which cannot be replaced.'
  const last = segments.at(-1)
  return last?.kind === 'literal' && last.text !== ''
    ? undefined
    : 'must end with the name of the collection, such as /builder/projects.'
}

async function loadResource(path: string, options: ResourceOptions, input: LoadInput): Promise<ReadyResource> {
  const { data, schema, owner: ownerOption, only = resourceActions } = options
  const { field = 'id', as } = typeof options.id === 'string' ? { field: options.id } : { ...options.id }
  const owner = ownerOption === 'user' ? 'user_id' : ownerOption?.field
  const params = Object.keys(paramsIn(routeOf(`GET ${path}`), []))
  const ownFields = [field.split('.')[0] ?? '', ...(owner === undefined ? [] : [owner])]
  const rowFields = { params, owner, id: { field: field.split('.') } }
  const at = (...steps: readonly (string | number)[]) => input.placeOf(['resources', path, ...steps])
  const schemaSource = await sourceOf(schema, input.dir, steps => at('schema', ...steps))
  const check = schema === undefined ? undefined : await createRowCheck(schemaSource, rowFields)
  const source = await sourceOf(data ?? [], input.dir, steps => at('data', ...steps))
  const { seeds, mistakes, haveIntegerIds } = readSeeds(source.value, { ...rowFields, check, userIdOf: input.userIdOf })
  const problems = await source.problems(mistakes)
  if (problems.length > 0) throw new ProblemsError(problems)
  return {
    path,
    params,
    owner,
    id: { ...rowFields.id, as: as ?? (haveIntegerIds ? 'integer' : 'uuid') },
    only,
    seeds,
    access: options.access ?? accessOf(path, owner),
    digest: dataDigest(seeds),
    numeric: new Set(params.filter(name => /^(number|bigint)$/.test(typeof seeds[0]?.row[name]))),
    mistakeOf: check && (row => check(row)?.sentence),
    fields: new Set([...(schema === undefined ? [] : propertiesOf(schemaSource.value)), ...params, ...ownFields]),
  }
}

/**
 * The digest of all initial rows. States keep it: with another one, the first start would bring back the rows that the
 * app has deleted. The names and the order of these fields are therefore those of earlier releases.
 */
function dataDigest(seeds: readonly SeedRow[]): string {
  const rows = seeds.map(({ id, owner, parent, row, digest }) => ({ id, owner, parent, row, mark: digest }))
  return hash('sha256', stringifyExact(rows), 'hex')
}

/** The fields that a JSON Schema names. */
const propertiesOf = (schema: unknown): readonly string[] =>
  isObject(schema) && isObject(schema.properties) ? Object.keys(schema.properties) : []

/** The default access. If rows have owners, it includes the service key, which sees the rows of all users. */
function accessOf(path: string, owner: string | undefined): Access {
  const usual = defaultAccess(path)
  return owner === undefined || usual === 'anyone' || usual.includes('service') ? usual : [...usual, 'service']
}

/** A text names a YAML or JSON file; another value is in the configuration, at `placeOf`. Rejects with a ProblemsError. */
async function sourceOf(written: unknown, dir: string, placeOf: Loaded<unknown>['placeOf']): Promise<SeedSource> {
  if (typeof written !== 'string') {
    const problems: SeedSource['problems'] = async mistakes =>
      mistakes.map(({ path, sentence }) => ({ ...placeOf(path), sentence }))
    return { value: written, problems }
  }
  const file = path.resolve(dir, written)
  const text = await readTextFile(file).catch(error => {
    throw new ProblemsError([unreadable(written, error)], [file])
  })
  if (written.toLowerCase().endsWith('.json')) {
    // JSON is parsed ten times as fast as YAML, which matters with thousands of rows.
    const { jsonFrom, withPlaces } = await import('../check/json-places.js')
    return {
      value: jsonFrom(text, written, [file], parseExact),
      problems: async mistakes => withPlaces(mistakes, text, written),
    }
  }
  const { readYaml } = await import('../check/yaml.js')
  const { value, problems, locate } = readYaml(text, written, { keepDigits: true })
  if (problems.length > 0) throw new ProblemsError(problems, [file])
  return {
    value,
    problems: async mistakes => mistakes.map(({ path, sentence }) => ({ origin: written, ...locate(path), sentence })),
  }
}
