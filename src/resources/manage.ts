/** The rows of resources as the control API, the dashboard and tests see them: those of all users. */
import { didYouMean } from '../check/suggest.js'
import { noSuchResource } from '../core/errors.js'
import type { ResourceRow, State, Tables } from '../core/state.js'
import { requireShallow } from './body.js'
import type { ResourceAddress, ResourceRows, ResourceSummary, RowsQuery, RowView } from './operations.js'
import { type ListQuery, MOST_ROWS } from './query.js'
import { type ReadyResource, valueIn } from './resource.js'
import { changeRow, everything, insertRow, listRows, type RowSet, removeRow } from './rows.js'
import { forgetRows, headOf, plantedHead } from './seeds.js'

interface Parts {
  readonly resources: () => Promise<readonly ReadyResource[]>
  readonly state: () => Promise<State>
  readonly now: () => number
}

export function createResourceRows({ resources, state, now }: Parts): ResourceRows {
  const setOf = async (tables: Tables, resource: ReadyResource, scope: string): Promise<RowSet> => {
    const head = await plantedHead(tables, resource, scope, now())
    return { resource, head, params: {}, viewer: everything }
  }

  async function write<T>({ path, scope }: ResourceAddress, work: (tables: Tables, set: RowSet) => Promise<T>) {
    const resource = resourceAt(await resources(), path)
    return (await state()).write(async tables => work(tables, await setOf(tables, resource, scope)))
  }

  return {
    async list(scope) {
      const all = await resources()
      return (await state()).read(tables => Promise.all(all.map(one => summaryOf(tables, one, scope))))
    },
    rows: (address, wanted = {}) =>
      write(address, async (tables, set) => {
        const { rows, total } = await listRows(tables, set, queryOf(wanted))
        return { data: rows.map(row => viewOf(row, set)), total }
      }),
    insert: (address, row) => {
      requireShallow(row)
      return write(address, (tables, set) => insertRow(tables, set, row, now()))
    },
    change: (address, id, body, how = 'update') => {
      requireShallow(body)
      return write(address, (tables, set) => changeRow(tables, set, { id, body, keeps: how === 'update' }, now()))
    },
    remove: (address, id) => write(address, (tables, set) => removeRow(tables, set, id)),
    restore: address =>
      write(address, async (tables, { resource, head }) => {
        await forgetRows(tables, head.id)
        await setOf(tables, resource, address.scope)
      }),
  }
}

function resourceAt(all: readonly ReadyResource[], path: string): ReadyResource {
  const resource = all.find(one => one.path === path)
  if (resource) return resource
  const known = all.map(({ path }) => path)
  throw noSuchResource(path, didYouMean(path, known))
}

async function summaryOf(tables: Tables, resource: ReadyResource, scope: string): Promise<ResourceSummary> {
  const { path, access, only, id, owner, seeds } = resource
  const head = await headOf(tables, resource, scope)
  const count = head ? await tables.resource_rows.count({ resource: head.id }) : seeds.length
  return { path, access, only, id: { field: id.field.join('.'), as: id.as }, owner: owner ?? null, rows: count }
}

function queryOf({ search = '', limit = MOST_ROWS, offset = 0 }: RowsQuery): ListQuery {
  return { filters: [], search: search.toLowerCase(), order: [], page: 1, offset, limit, isPaged: true }
}

const viewOf = ({ row, owner, seed, created_at, updated_at }: ResourceRow, { resource }: RowSet): RowView => ({
  ...{ id: String(valueIn(row, resource.id.field)), row, owner },
  ...{ isFromStart: seed !== null, created_at, updated_at },
})
