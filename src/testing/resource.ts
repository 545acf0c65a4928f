/** The rows of a resource for tests, whatever user they belong to. */
import { plainJson } from '../check/plain-json.js'
import type { Json } from '../core/state.js'
import type { Platform } from '../platform.js'

export interface TestResource {
  /** All rows, in their order. */
  rows(): Promise<readonly Json[]>
  /** Adds a row. Rejects if it does not match the schema, or if its id is taken. */
  insert(row: Json): Promise<Json>
  /** Changes the fields that are given. Rejects if there is no such row. */
  update(id: string | number, changes: Json): Promise<Json>
  /** Rejects if there is no such row. */
  remove(id: string | number): Promise<void>
}

/** The source of rows: this process, or another one. */
interface RowSource {
  page(
    limit: number,
    offset: number,
  ): Promise<{ readonly data: readonly { readonly row: Json }[]; readonly total: number }>
  insert(row: Json): Promise<Json>
  change(id: string, changes: Json): Promise<Json>
  remove(id: string): Promise<void>
}

/** The number of rows on a page. */
const PAGE_SIZE = 1000

export const resourceOf = ({ page, insert, change, remove }: RowSource): TestResource => ({
  async rows() {
    const rows: Json[] = []
    for (;;) {
      const { data, total } = await page(PAGE_SIZE, rows.length)
      rows.push(...data.map(({ row }) => row))
      if (data.length === 0 || rows.length >= total) return rows
    }
  },
  insert: async row => insert(plainJson(row, { origin: 'insert' }) as Json),
  update: async (id, changes) => change(String(id), plainJson(changes, { origin: 'update' }) as Json),
  remove: id => remove(String(id)),
})

export function testResource({ resources }: Pick<Platform, 'resources'>, path: string, scope = ''): TestResource {
  const address = { path, scope }
  return resourceOf({
    page: (limit, offset) => resources.rows(address, { limit, offset }),
    insert: row => resources.insert(address, row),
    change: (id, changes) => resources.change(address, id, changes),
    remove: id => resources.remove(address, id),
  })
}
