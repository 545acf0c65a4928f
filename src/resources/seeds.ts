/** Adds the rows of data files to the state, in each scope when it is first used. */
import type { ResourceHead, ResourceRow, State, Tables } from '../core/state.js'
import { nextTurn } from '../core/work.js'
import type { ReadyResource, SeedRow } from './resource.js'
import { headId, nextAfter, rowKey } from './rows.js'

/**
 * Adds the rows of all resources. Existing rows stay as the app left them, unless their row in the data file has
 * changed since. A row that is no longer in the file is removed.
 */
export async function plantResources(state: State, resources: readonly ReadyResource[], atMs: number): Promise<void> {
  const changed = await state.read(tables => changedHeads(tables, resources))
  if (changed.length === 0) return
  await state.write(async tables => {
    // Another process may have added them in the meantime.
    for (const { resource, scope } of await changedHeads(tables, resources)) await plant(tables, resource, scope, atMs)
  })
}

/** Those of the empty scope, and of scopes in which an older data file was used. */
async function changedHeads(tables: Tables, resources: readonly ReadyResource[]) {
  const byPath = new Map(resources.map(resource => [resource.path, resource]))
  const heads = await tables.resources.find({})
  const planted = new Set(heads.filter(({ scope }) => scope === '').map(({ path }) => path))
  const fresh = resources.filter(({ path }) => !planted.has(path)).map(resource => ({ resource, scope: '' }))
  const changed = heads.flatMap(({ path, scope, seed }) => {
    const resource = byPath.get(path)
    return resource && resource.digest !== seed ? [{ resource, scope }] : []
  })
  return [...fresh, ...changed]
}

/** The head of a resource in a scope; `undefined` before the scope is used for the first time. */
export const headOf = (tables: Tables, { path }: ReadyResource, scope: string): Promise<ResourceHead | undefined> =>
  tables.resources.get(headId(scope, path))

/** The same, with the rows of the data file if the scope is new. */
export const plantedHead = async (
  tables: Tables,
  resource: ReadyResource,
  scope: string,
  atMs: number,
): Promise<ResourceHead> => (await headOf(tables, resource, scope)) ?? plant(tables, resource, scope, atMs)

async function plant(tables: Tables, resource: ReadyResource, scope: string, atMs: number): Promise<ResourceHead> {
  const at = new Date(atMs).toISOString()
  const before = await headOf(tables, resource, scope)
  const id = headId(scope, resource.path)
  const present = before ? await withoutStale(tables, resource, id) : new Map<string, ResourceRow>()
  let position = before?.next_position ?? 1
  for (const [i, seed] of resource.seeds.entries()) {
    if (i % ROWS === 0) await nextTurn()
    const known = present.get(rowKey(id, seed.id))
    const { owner, parent, row, mark } = seed
    const content = { owner, parent, row, seed: mark, updated_at: at }
    if (!known) {
      const fresh = { id: rowKey(id, seed.id), resource: id, position: position++, created_at: at }
      await tables.resource_rows.insert({ ...fresh, ...content })
    } else if (known.seed !== mark) await tables.resource_rows.update(known.id, content)
  }
  const next_id = Math.max(before?.next_id ?? 1, highestOf(resource.seeds))
  const changes = { seed: resource.digest, next_position: position, next_id, updated_at: at }
  const head = { id, scope, path: resource.path, created_at: before?.created_at ?? at, ...changes }
  if (before) await tables.resources.update(id, changes)
  else await tables.resources.insert(head)
  return head
}

/** How many rows are added before other requests are handled. */
const ROWS = 200

const highestOf = (seeds: readonly SeedRow[]) => seeds.reduce((highest, { id }) => Math.max(highest, nextAfter(id)), 1)

/** Removes rows of the data file that are no longer in it. Returns the others by their keys. */
async function withoutStale(tables: Tables, { seeds }: ReadyResource, head: string): Promise<Map<string, ResourceRow>> {
  const wanted = new Set(seeds.map(({ id }) => rowKey(head, id)))
  const kept = new Map<string, ResourceRow>()
  for (const row of await tables.resource_rows.find({ resource: head })) {
    if (row.seed === null || wanted.has(row.id)) kept.set(row.id, row)
    else await tables.resource_rows.remove({ id: row.id })
  }
  return kept
}

/** Removes the rows of a scope. They are those of the data files again when the scope is next used. */
export async function forgetScope(state: State, scope: string): Promise<void> {
  const heads = await state.read(tables => tables.resources.find({ scope }))
  if (heads.length === 0) return
  await state.write(async tables => {
    for (const { id } of heads) await forgetRows(tables, id)
  })
}

/** The same for one resource. */
export async function forgetRows(tables: Tables, head: string): Promise<void> {
  await tables.resource_rows.remove({ resource: head })
  await tables.resources.remove({ id: head })
}
