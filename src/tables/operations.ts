/** Operations on the tables, by which tests read and prepare their rows. */
import { anything, arrayOf, closed, objectOf, text } from '../check/forms.js'
import { dataOf, operation } from '../core/operation.js'
import type { TableRows } from './index.js'

const row = objectOf<Readonly<Record<string, unknown>>>()

export const tableOperations = ({ tables }: { readonly tables: TableRows }) => ({
  listTableRows: operation({
    at: 'GET /tables/{table}/rows',
    does: 'Lists all rows of a table below /rest/v1, as the service role sees them.',
    returns: dataOf(row),
    run: async ({ table }) => ({ data: await tables.rows(table) }),
  }),
  runSql: operation({
    at: 'POST /tables/sql',
    does: 'Runs one statement as the owner of the database, and returns its rows. `$1` and so on stand for its values.',
    body: closed({ text, values: arrayOf(anything) }),
    returns: dataOf(row),
    run: async ({ body }) => ({ data: await tables.sql(body.text, body.values) }),
  }),
})
