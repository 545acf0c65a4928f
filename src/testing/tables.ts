/** What tests do with the tables below /rest/v1. It is a separate file, since the types of rows and SQL are about tables only. */
import * as v from 'valibot'
import type { Row } from '../tables/index.js'
import type { Door } from './door.js'
import { inputCheck } from './input-check.js'

export interface TestTables {
  /**
   * All rows of a table below `/rest/v1`, whoever may see them.
   *
   * ```ts
   * expect(await platform.rows('chats')).toMatchObject([{ title: 'Plans' }])
   * ```
   */
  rows<R = Row>(table: string): Promise<readonly R[]>
  /**
   * Runs a statement as the owner of the database, and returns its rows. Values become parameters.
   *
   * ```ts
   * await platform.sql`insert into chats (user_id, title) values (${user.id}, 'Plans')`
   * ```
   */
  sql<R = Row>(strings: TemplateStringsArray, ...values: readonly unknown[]): Promise<readonly R[]>
}

const aTable = 'the name of a table, such as chats'
const tableName = inputCheck('rows', v.pipe(v.string(aTable), v.nonEmpty(aTable)))

export const createTestTables = ({ control }: Pick<Door, 'control'>): TestTables => ({
  rows: async <R>(table: string) =>
    (await control('GET /tables/{table}/rows', { table: tableName(table) })).data as readonly R[],
  async sql<R>(strings: TemplateStringsArray, ...values: readonly unknown[]) {
    if (!Array.isArray(strings?.raw))
      throw new Error('platform.sql is a template: platform.sql`select * from chats where id = ${' + 'id}`.')
    const text = strings.raw.map((part, i) => (i === 0 ? part : `$${i}${part}`)).join('')
    return (await control('POST /tables/sql', { body: { text, values } })).data as readonly R[]
  },
})
