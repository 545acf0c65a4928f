/** Reads and changes the rows of all users, for the control API and tests. */
import { didYouMean } from '../check/suggest.js'
import { noSuchResource } from '../core/errors.js'
import type { Json, ResourceRow, State, Tables } from '../state/rows.js'
import { type ReadyResource, rowValue } from './resource.js'
import { allRows, changeRow, insertRow, listRows, MOST_ROWS, type RowSet, removeRow } from './rows.js'
import { headOf, seededHead } from './seeds.js'

interface Parts {
  readonly resources: () => readonly ReadyResource[]
  readonly state: State
  readonly now: () => number
}

/** A resource in a scope. */
export interface ResourceAddress {
  /** As configured. */
  readonly path: string
  readonly scope: string
}

export type ResourceRows = ReturnType<typeof createResourceRows>

/** All methods that take an address reject with a 404 if there is no such resource. */
export function createResourceRows({ resources, state, now }: Parts) {
  const rowSetOf = async (tables: Tables, resource: ReadyResource, scope: string): Promise<RowSet> => {
    const head = await seededHead(tables, resource, scope, now())
    return { resource, head, params: {}, viewer: allRows }
  }

  async function write<T>({ path, scope }: ResourceAddress, work: (tables: Tables, set: RowSet) => Promise<T>) {
    const resource = resourceAt(resources(), path)
    return state.write(async tables => work(tables, await rowSetOf(tables, resource, scope)))
  }

  return {
    async list(scope: string) {
      const all = resources()
      return state.read(tables => Promise.all(all.map(one => summaryOf(tables, one, scope))))
    },
    /** One page, in the order of the rows, and the total count. */
    rows: (address: ResourceAddress, limit = MOST_ROWS, offset = 0) =>
      write(address, async (tables, set) => {
        const { rows, total } = await listRows(tables, set, { filters: [], limit, offset })
        return { data: rows.map(row => viewOf(row, set)), total }
      }),
    insert: (address: ResourceAddress, row: Json) =>
      write(address, (tables, set) => insertRow(tables, set, row, now())),
    change: (address: ResourceAddress, id: string, body: Json) =>
      write(address, (tables, set) => changeRow(tables, set, { id, body, keepsOmitted: true }, now())),
    remove: (address: ResourceAddress, id: string) => write(address, (tables, set) => removeRow(tables, set, id)),
  }
}

function resourceAt(all: readonly ReadyResource[], path: string): ReadyResource {
  const resource = all.find(one => one.path === path)
  if (resource) return resource
  const known = all.map(({ path }) => path)
  throw noSuchResource(path, didYouMean(path, known))
}

async function summaryOf(tables: Tables, resource: ReadyResource, scope: string) {
  const { path, access, only, id, owner, seeds } = resource
  const head = await headOf(tables, resource, scope)
  const count = head ? await tables.resource_rows.count({ resource: head.id }) : seeds.length
  return { path, access, only, id: { field: id.field.join('.'), as: id.as }, owner: owner ?? null, rows: count }
}

const viewOf = ({ row, owner, seed, created_at, updated_at }: ResourceRow, { resource }: RowSet) => ({
  id: String(rowValue(row, resource.id.field)),
  row,
  owner,
  isFromStart: seed !== null,
  created_at,
  updated_at,
})
