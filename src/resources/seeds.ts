/** The rows of data files: checks them, and adds them to the state, in each scope when it is first used. */
import { hash } from 'node:crypto'
import { AN_OBJECT, type Mistake, mustBe, type Path } from '../check/check.js'
import type { Validator } from '../check/json-schema.js'
import { type Problem, ProblemsError } from '../check/problem.js'
import { UnfitSchema } from '../check/unfit-schema.js'
import { isObject, stringifyExact } from '../core/json.js'
import type { Json, ResourceHead, ResourceRow, State, Tables } from '../state/rows.js'
import { idText, isWhole, parentOf, type ReadyResource, rowValue, type SeedRow } from './resource.js'
import { headId, nextIdAfter, rowKey } from './rows.js'

/** Rows or a schema, from a file or the configuration. */
export interface SeedSource {
  readonly value: unknown
  /** Adds file, line and column to mistakes. */
  problems(mistakes: readonly Mistake[]): Promise<readonly Problem[]>
}

/** The fields of a row that Standin fills in. */
interface RowFields {
  readonly params: readonly string[]
  readonly owner: string | undefined
  readonly id: { readonly field: readonly string[] }
}

type RowCheck = (row: Json) => Mistake | undefined

/** Returns a function that finds the first mistake of a row. Rejects with a ProblemsError for a schema that cannot be used. */
export async function createRowCheck(schema: SeedSource, form: RowFields): Promise<RowCheck> {
  const { TooManySteps, validatorOf } = await import('../check/json-schema.js')
  let validate: Validator
  try {
    validate = validatorOf(schema.value, true)
  } catch (error) {
    if (!(error instanceof UnfitSchema)) throw error
    const sentence = `The schema cannot be used: ${error.message}.`
    throw new ProblemsError(await schema.problems([{ path: [], sentence }]))
  }
  const assigned = assignedFields(schema.value, form)
  return row => {
    const shownFields = Object.fromEntries(Object.entries(row).filter(([name]) => !assigned.has(name)))
    try {
      return validate(shownFields, { firstOnly: true, whole: 'The row' })[0]
    } catch (error) {
      if (!(error instanceof TooManySteps || error instanceof RangeError)) throw error
      return { path: [], sentence: 'The row takes too long to check against its schema.' }
    }
  }
}

/**
 * Fields that Standin fills in (the id, the owner, path parameters) and that the schema does not name. Schemas often
 * describe only what apps send, and forbid other fields.
 */
function assignedFields(schema: unknown, { id, owner, params }: RowFields): ReadonlySet<string> {
  const { properties = {} } = (schema ?? {}) as { readonly properties?: object }
  const assigned = [...params, ...(owner === undefined ? [] : [owner]), ...(id.field.length === 1 ? id.field : [])]
  return new Set(assigned.filter(name => !Object.hasOwn(properties, name)))
}

interface SeedForm extends RowFields {
  readonly check: RowCheck | undefined
  readonly userIdOf: (email: string) => string | undefined
}

const MOST_MISTAKES = 20

/** Returns the rows of a data file, and their mistakes. A file without data has no rows. */
export function readSeeds(data: unknown, form: SeedForm) {
  const seeds: SeedRow[] = []
  const mistakes: Mistake[] = []
  const used = new Map<string, number>()
  const rows = data ?? []
  if (!Array.isArray(rows)) mistakes.push({ path: [], sentence: 'The data must be a list of rows.' })
  for (const [i, row] of Array.isArray(rows) ? rows.entries() : []) {
    if (mistakes.length >= MOST_MISTAKES) break
    const seed = seedOf(row, form)
    const same = 'sentence' in seed ? undefined : used.get(seed.id)
    if ('sentence' in seed) mistakes.push({ path: [i, ...seed.path], sentence: `Row ${i + 1}: ${seed.sentence}` })
    else if (same === undefined) seeds.push(seed)
    else mistakes.push({ path: [i], sentence: `Row ${i + 1} has the same id as row ${same + 1}: ${seed.id}.` })
    if (!('sentence' in seed)) used.set(seed.id, i)
  }
  /** Whether there are rows and all ids are whole numbers. */
  const haveIntegerIds = seeds.length > 0 && seeds.every(({ row }) => isWhole(rowValue(row, form.id.field)))
  return { seeds, mistakes, haveIntegerIds }
}

function seedOf(row: unknown, form: SeedForm): SeedRow | Mistake {
  const mistakeAt = (sentence: string, path: Path = []) => ({ path, sentence })
  if (!isObject(row)) return mistakeAt(`it ${mustBe(AN_OBJECT)}.`)
  const own = row as Json
  const id = idText(rowValue(own, form.id.field))
  if (id === undefined)
    return mistakeAt(`${form.id.field.join('.')} must be a string or a number that identifies the row.`)
  const missing = form.params.find(name => idText(rowValue(own, [name])) === undefined)
  if (missing !== undefined) return mistakeAt(`${missing} is missing. It is a parameter of the path.`)
  const owned = ownerOf(own, form)
  if (typeof owned === 'string') return mistakeAt(owned, form.owner === undefined ? [] : [form.owner])
  const { owner } = owned
  const complete = form.owner === undefined ? own : { ...own, [form.owner]: owner }
  const mistake = form.check?.(complete)
  if (mistake) return mistake
  const parent = parentOf(form.params, complete)
  const digest = hash('sha256', stringifyExact([owner, complete]), 'hex')
  return { id, ...owned, parent, row: complete, digest }
}

/** The owner of a row (an id, or the email address of a configured user), or the problem with it. */
function ownerOf(row: Json, { owner: field, userIdOf }: SeedForm): Pick<SeedRow, 'owner' | 'ownerEmail'> | string {
  const written = field === undefined ? null : rowValue(row, [field])
  if (written === null) return { owner: null, ownerEmail: undefined }
  if (typeof written !== 'string' || written === '')
    return `${field} must be the email address or the id of a user, or null for a row that only the service key sees.`
  if (!written.includes('@')) return { owner: written, ownerEmail: undefined }
  const id = userIdOf(written)
  if (id === undefined) return `${field}: ${written} is not the email address of a user in the option users.`
  return { owner: id, ownerEmail: written.toLowerCase() }
}

/**
 * Adds the rows of all resources. Existing rows keep the changes that the app has made, unless their row in the data file
 * has changed since. Rows that are no longer in the file are removed.
 */
export async function seedResources(state: State, resources: readonly ReadyResource[], atMs: number): Promise<void> {
  const changed = await state.read(tables => changedHeads(tables, resources))
  if (changed.length === 0) return
  await state.write(async tables => {
    // Another process may have added them in the meantime.
    for (const { resource, scope } of await changedHeads(tables, resources))
      await seedRows(tables, resource, scope, atMs)
  })
}

/** The resources that are new in the empty scope, and those of any scope that has rows of an older data file. */
async function changedHeads(tables: Tables, resources: readonly ReadyResource[]) {
  const byPath = new Map(resources.map(resource => [resource.path, resource]))
  const heads = await tables.resources.find({})
  const seeded = new Set(heads.filter(({ scope }) => scope === '').map(({ path }) => path))
  const fresh = resources.filter(({ path }) => !seeded.has(path)).map(resource => ({ resource, scope: '' }))
  const changed = heads.flatMap(({ path, scope, seed }) => {
    const resource = byPath.get(path)
    return resource && resource.digest !== seed ? [{ resource, scope }] : []
  })
  return [...fresh, ...changed]
}

/** The head of a resource in a scope; `undefined` before the scope is used for the first time. */
export const headOf = (tables: Tables, { path }: ReadyResource, scope: string): Promise<ResourceHead | undefined> =>
  tables.resources.get(headId(scope, path))

/** The head of a resource in a scope. If the scope is new, adds the rows of the data file. */
export const seededHead = async (
  tables: Tables,
  resource: ReadyResource,
  scope: string,
  atMs: number,
): Promise<ResourceHead> => (await headOf(tables, resource, scope)) ?? seedRows(tables, resource, scope, atMs)

async function seedRows(tables: Tables, resource: ReadyResource, scope: string, atMs: number): Promise<ResourceHead> {
  const at = new Date(atMs).toISOString()
  const existing = await headOf(tables, resource, scope)
  const id = headId(scope, resource.path)
  const present = existing ? await removeStale(tables, resource, id) : new Map<string, ResourceRow>()
  let position = existing?.next_position ?? 1
  for (const seed of resource.seeds) {
    const known = present.get(rowKey(id, seed.id))
    if (known?.seed === seed.digest) continue
    const content = { ...(await ownedContent(tables, resource, seed)), seed: seed.digest, updated_at: at }
    if (known) await tables.resource_rows.update(known.id, content)
    else {
      const fresh = { id: rowKey(id, seed.id), resource: id, position: position++, created_at: at }
      await tables.resource_rows.insert({ ...fresh, ...content })
    }
  }
  const next_id = resource.seeds.reduce((next, { id }) => Math.max(next, nextIdAfter(id)), existing?.next_id ?? 1)
  const changes = { seed: resource.digest, next_position: position, next_id, updated_at: at }
  const head = { id, scope, path: resource.path, created_at: existing?.created_at ?? at, ...changes }
  if (existing) await tables.resources.update(id, changes)
  else await tables.resources.insert(head)
  return head
}

/** A user who had signed up before they were configured has an id of their own. Their rows get that id. */
async function ownedContent({ users }: Tables, { owner: field, params }: ReadyResource, seed: SeedRow) {
  const { owner, ownerEmail, parent, row } = seed
  const isByEmail = field !== undefined && owner !== null && ownerEmail !== undefined
  const [user] = isByEmail && !(await users.get(owner)) ? await users.find({ email: ownerEmail }) : []
  if (!user || field === undefined) return { owner, parent, row }
  const ownRow = { ...row, [field]: user.id }
  return { owner: user.id, parent: parentOf(params, ownRow), row: ownRow }
}

/** Removes rows of the data file that are no longer in it. Returns the others by their keys. */
async function removeStale(tables: Tables, { seeds }: ReadyResource, head: string): Promise<Map<string, ResourceRow>> {
  const wanted = new Set(seeds.map(({ id }) => rowKey(head, id)))
  const kept = new Map<string, ResourceRow>()
  for (const row of await tables.resource_rows.find({ resource: head })) {
    if (row.seed === null || wanted.has(row.id)) kept.set(row.id, row)
    else await tables.resource_rows.remove({ id: row.id })
  }
  return kept
}

/** Removes the rows of a scope. The next use of the scope adds the rows of the data files again. */
export async function removeScope(state: State, scope: string): Promise<void> {
  const heads = await state.read(tables => tables.resources.find({ scope }))
  if (heads.length === 0) return
  await state.write(async tables => {
    for (const { id } of heads) await removeAllRows(tables, id)
  })
}

/** The same for one resource. */
export async function removeAllRows(tables: Tables, head: string): Promise<void> {
  await tables.resource_rows.remove({ resource: head })
  await tables.resources.remove({ id: head })
}
