/** Loads the configured resources: paths, initial rows, schemas and templates. */
import { hash } from 'node:crypto'
import path from 'node:path'
import { type Problem, ProblemsError } from '../check/problem.js'
import type { LoadedConfig } from '../config/load.js'
import { type ResourceOptions, resourceActions } from '../config/resource-options.js'
import { type Access, defaultAccess } from '../core/exchange.js'
import { documentedPaths } from '../core/paths.js'
import { areAmbiguous, paramsIn, routeOf, whyInvalidRoute } from '../replies/index.js'
import { inlineSource, readSource, type Source } from './data-file.js'
import type { ReadyResource, RowId, SeedRow } from './resource.js'
import { createRowCheck } from './row-schema.js'
import { readSeeds } from './seed-rows.js'
import { loadWraps } from './wrap.js'

export type LoadedResources = Awaited<ReturnType<typeof loadResources>>

interface LoadInput {
  readonly resources: Readonly<Record<string, ResourceOptions>>
  /** Files are relative to this folder. */
  readonly dir: string
  readonly placeOf: LoadedConfig['placeOf']
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
  const all = Object.keys(resources).map(path => ({
    path,
    form: withoutParamNames(path),
    route: routeOf(`GET ${path}`),
  }))
  return all.flatMap(({ path, form, route }, i) => {
    const duplicate = all.slice(0, i).find(other => other.form === form || areAmbiguous(other.route, route))
    const problem = pathProblem(path, route) ?? (duplicate && `matches the same paths as ${duplicate.path}.`)
    return problem === undefined ? [] : [{ ...placeOf(['resources', path]), sentence: `${path} ${problem}` }]
  })
}

type Route = ReturnType<typeof routeOf>

/** The same text for paths that differ only in the names of their parameters. */
const withoutParamNames = (path: string) => path.replace(/\/:\w+/g, '/:')

/** The problem of a path, as the rest of a sentence; `undefined` if there is none. */
function pathProblem(path: string, { segments }: Route): string | undefined {
  const problem = whyInvalidRoute(`GET ${path}`)
  if (problem !== undefined) return `${problem}.`
  if (documentedPaths.includes(path)) return 'is a documented endpoint of the platform, which cannot be replaced.'
  const last = segments.at(-1)
  return last?.kind === 'literal' && last.text !== ''
    ? undefined
    : 'must end with the name of the collection, such as /builder/projects.'
}

async function loadResource(path: string, options: ResourceOptions, input: LoadInput): Promise<ReadyResource> {
  const { data, schema, owner, wrap = {}, only = resourceActions } = options
  const at = (...steps: readonly (string | number)[]) => input.placeOf(['resources', path, ...steps])
  const openSource = async (written: unknown, name: 'data' | 'schema'): Promise<Source> =>
    typeof written === 'string' ? readSource(written, input.dir) : inlineSource(written, place => at(name, ...place))
  const problems: Problem[] = []
  const wraps = await loadWraps(wrap, path, (place, sentence) => {
    problems.push({ ...at('wrap', ...place), sentence: `wrap.${place.join('.')}: ${sentence}` })
  })
  const params = Object.keys(paramsIn(routeOf(`GET ${path}`), []))
  const rowFields = { path, params, owner: owner === 'user' ? 'user_id' : owner?.field, id: idOf(options) }
  const check = schema === undefined ? undefined : await createRowCheck(await openSource(schema, 'schema'), rowFields)
  const source = await openSource(data ?? [], 'data')
  const seedForm = { ...rowFields, check, userIdOf: input.userIdOf }
  const { seeds, mistakes, haveIntegerIds } = readSeeds(source.value, seedForm)
  problems.push(...(await source.problems(mistakes)))
  if (problems.length > 0) throw new ProblemsError(problems)
  const as = rowFields.id.as ?? (haveIntegerIds ? 'integer' : 'uuid')
  return {
    ...rowFields,
    id: { ...rowFields.id, as },
    ...{ only, seeds, wraps },
    access: options.access ?? accessOf(path, rowFields.owner),
    digest: dataDigest(seeds),
    numeric: new Set(params.filter(name => typeof seeds[0]?.row[name] === 'number')),
    mistakeOf: check && (row => check(row)?.sentence),
  }
}

/**
 * The digest of all initial rows. States keep it: with another one, the first start would bring back the rows that the
 * app has deleted. The names and the order of these fields are therefore those of earlier releases.
 */
function dataDigest(seeds: readonly SeedRow[]): string {
  const rows = seeds.map(({ id, owner, parent, row, digest }) => ({ id, owner, parent, row, mark: digest }))
  return hash('sha256', JSON.stringify(rows), 'hex')
}

/** The default access. If rows have owners, it includes the service key, which sees the rows of all users. */
function accessOf(path: string, owner: string | undefined): Access {
  const usual = defaultAccess(path)
  return owner === undefined || usual === 'anyone' || usual.includes('service') ? usual : [...usual, 'service']
}

function idOf({ id }: ResourceOptions): { readonly field: readonly string[]; readonly as: RowId['as'] | undefined } {
  const { field = 'id', as } = typeof id === 'string' ? { field: id } : { ...id }
  return { field: field.split('.'), as }
}
