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
import type { ReadyResource, RowId } from './resource.js'
import { schemaCheck } from './row-schema.js'
import { seedsOf } from './seed-rows.js'
import { wrapsOf } from './wrap.js'

export type LoadedResources = Awaited<ReturnType<typeof loadResources>>

export interface Loading {
  readonly resources: Readonly<Record<string, ResourceOptions>>
  /** Files are relative to this folder. */
  readonly dir: string
  readonly placeOf: LoadedConfig['placeOf']
  /** The id of the configured user with an email address; `undefined` if there is none. */
  readonly userIdOf: (email: string) => string | undefined
}

/**
 * Returns the resources, and the files that they are made from, which are watched along with the configuration. Rejects
 * with a ProblemsError that lists all mistakes.
 */
export async function loadResources(loading: Loading) {
  const entries = Object.entries(loading.resources)
  const problems: Problem[] = [...troubleWithPaths(loading)]
  const resources: ReadyResource[] = []
  const files = entries.flatMap(([, { data, schema }]) =>
    [data, schema].flatMap(one => (typeof one === 'string' ? [path.resolve(loading.dir, one)] : [])),
  )
  for (const [path, options] of problems.length > 0 ? [] : entries) {
    try {
      resources.push(await loadResource(path, options, loading))
    } catch (error) {
      if (!(error instanceof ProblemsError)) throw error
      problems.push(...error.problems)
    }
  }
  if (problems.length > 0) throw new ProblemsError(problems, files)
  return { resources, files }
}

/** What is wrong with the paths. */
function troubleWithPaths({ placeOf, resources }: Loading): readonly Problem[] {
  const all = Object.keys(resources).map(path => ({ path, form: formOf(path), route: routeOf(`GET ${path}`) }))
  return all.flatMap(({ path, form, route }, i) => {
    const rival = all.slice(0, i).find(other => other.form === form || areAmbiguous(other.route, route))
    const trouble = troubleWith(path, route) ?? (rival && `matches the same paths as ${rival.path}.`)
    return trouble === undefined ? [] : [{ ...placeOf(['resources', path]), sentence: `${path} ${trouble}` }]
  })
}

type Route = ReturnType<typeof routeOf>

/** The same text for paths that differ only in the names of their parameters. */
const formOf = (path: string) => path.replace(/\/:\w+/g, '/:')

/** What is wrong with one path, as the rest of a sentence. */
function troubleWith(path: string, { segments }: Route): string | undefined {
  const trouble = whyInvalidRoute(`GET ${path}`)
  if (trouble !== undefined) return `${trouble}.`
  if (documentedPaths.includes(path)) return 'is an endpoint of the platform, and its answers are documented.'
  const last = segments.at(-1)
  return last?.kind === 'literal' && last.text !== ''
    ? undefined
    : 'must end with the name of the collection, such as /builder/projects.'
}

async function loadResource(path: string, options: ResourceOptions, loading: Loading): Promise<ReadyResource> {
  const { data, schema, owner, wrap = {}, only = resourceActions } = options
  const at = (...steps: readonly (string | number)[]) => loading.placeOf(['resources', path, ...steps])
  const open = async (written: unknown, name: 'data' | 'schema'): Promise<Source> =>
    typeof written === 'string' ? readSource(written, loading.dir) : inlineSource(written, place => at(name, ...place))
  const problems: Problem[] = []
  const wraps = await wrapsOf(wrap, path, (place, sentence) => {
    problems.push({ ...at('wrap', ...place), sentence: `wrap.${place.join('.')}: ${sentence}` })
  })
  const params = Object.keys(paramsIn(routeOf(`GET ${path}`), []))
  const form = { path, params, owner: owner === 'user' ? 'user_id' : owner?.field, id: idOf(options) }
  const check = schema === undefined ? undefined : await schemaCheck(await open(schema, 'schema'), form)
  const source = await open(data ?? [], 'data')
  const { seeds, mistakes, areWhole } = await seedsOf(source.value, { ...form, check, userIdOf: loading.userIdOf })
  problems.push(...(await source.problems(mistakes)))
  if (problems.length > 0) throw new ProblemsError(problems)
  const as = form.id.as ?? (areWhole ? 'integer' : 'uuid')
  return {
    ...form,
    id: { ...form.id, as },
    ...{ only, seeds, wraps },
    access: options.access ?? accessOf(path, form.owner),
    digest: hash('sha256', JSON.stringify(seeds), 'hex'),
    numeric: new Set(params.filter(name => typeof seeds[0]?.row[name] === 'number')),
    mistakeOf: check && (row => check(row)?.sentence),
  }
}

/** The service key sees the rows of all users, so it may call by default. */
function accessOf(path: string, owner: string | undefined): Access {
  const usual = defaultAccess(path)
  return owner === undefined || usual === 'anyone' || usual.includes('service') ? usual : [...usual, 'service']
}

function idOf({ id }: ResourceOptions): { readonly field: readonly string[]; readonly as: RowId['as'] | undefined } {
  const { field = 'id', as } = typeof id === 'string' ? { field: id } : { ...id }
  return { field: field.split('.'), as }
}
