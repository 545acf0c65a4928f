/** The options of tables. */
import * as v from 'valibot'
import { filled, group, list, option, text } from '../check/forms.js'

const database = v.pipe(
  text,
  v.regex(/^(state|memory|file:.+|postgres(ql)?:\/\/.+)$/s, 'state, memory, file:PATH or postgres://…'),
)

export const tableOptions = group(
  {
    migrations: option(
      text,
      'supabase/migrations',
      'Folder with the SQL migrations of your Supabase project. If it is there, /rest/v1 answers from its tables, of the schemas in config.toml beside it (api.schemas). Empty switches them off.',
    ),
    seed: option(
      v.union([text, list(filled, 'files')], 'a file, or a list of files'),
      'supabase/seed.sql',
      'SQL for the first rows: a file, or a list of them.',
    ),
    database: option(
      database,
      'state',
      'Where the tables are: memory, file:PATH (a folder) or postgres://… (a server). By default in memory if state is memory, otherwise in file:.standin/tables.',
    ),
  },
  'Tables for supabase-js, on the engine of PostgreSQL.',
)
