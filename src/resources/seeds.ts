/** Adds the rows of data files to the state, in each scope when it is first used. */
import type { ResourceHead, ResourceRow, State, Tables } from '../core/state.js'
import { parentOf, type ReadyResource, type SeedRow } from './resource.js'
import { headId, nextIdAfter, rowKey } from './rows.js'

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
  const next_id = Math.max(existing?.next_id ?? 1, highestOf(resource.seeds))
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

const highestOf = (seeds: readonly SeedRow[]) =>
  seeds.reduce((highest, { id }) => Math.max(highest, nextIdAfter(id)), 1)

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
