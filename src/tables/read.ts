/** Reads which tables there are, if the configuration or the folder of the project has some. */
import { existsSync } from 'node:fs'
import path from 'node:path'
import type * as v from 'valibot'
import { type Loaded, readText } from '../check/problem.js'
import type { TablesSource } from './cluster.js'
import { pgliteIn } from './engine.js'
import { readAppSql } from './migrations.js'
import type { tableOptions } from './options.js'

interface TableConfig {
  readonly tables: v.InferOutput<typeof tableOptions>
  readonly auth: { readonly mode: 'local' | 'proxy' }
  readonly state: string
}

/** The tables of a configuration, and the files to watch. */
export interface PreparedTables extends TablesSource {
  readonly files: readonly string[]
}

/** Reads the migrations; `undefined` if they cannot be used. Rejects with a ProblemsError. */
export async function readTables(
  loaded: Loaded<TableConfig>,
  warn: (sentence: string) => void,
): Promise<PreparedTables | undefined> {
  const { config, dir, originOf } = loaded
  const { migrations, seed, database } = config.tables
  if (config.auth.mode === 'proxy') {
    if (originOf(['tables', 'migrations']) !== 'default')
      warn('tables have no effect with auth.mode proxy: the rows are where the users are.')
    return undefined
  }
  const isOnServer = /^postgres/.test(database)
  if (!isOnServer && !pgliteIn(dir)) {
    warn(
      `To answer /rest/v1 from ${migrations}, install PostgreSQL's engine: npm install --save-dev @electric-sql/pglite`,
    )
    return undefined
  }
  const isThere = originOf(['tables', 'seed']) !== 'default' || existsSync(path.resolve(dir, String(seed)))
  const seeds = isThere ? [seed].flat().filter(file => file !== '') : []
  const app = readAppSql({ dir, migrations, seeds })
  for (const sentence of app.warnings) warn(sentence)
  const inMemory = config.state === 'memory'
  const project = path.resolve(dir, migrations, '../config.toml')
  const schemas = schemasIn(existsSync(project) ? readText(project, project) : '')
  const files = [migrations, project, ...app.migrations.map(({ name }) => name), ...seeds].map(file =>
    path.resolve(dir, file),
  )
  return {
    ...{ dir, app, schemas, isOwn: inMemory, files },
    database: database !== 'state' ? database : inMemory ? 'memory' : 'file:.standin/tables',
  }
}

/** The schemas that clients may use, the default one first: `api.schemas` of a config.toml, or what `supabase init` writes there. */
function schemasIn(toml: string): readonly string[] {
  const api = toml.split(/^[ \t]*\[/m).find(table => table.startsWith('api]')) ?? ''
  const [, list = '"public", "graphql_public"'] = /^[ \t]*schemas\s*=\s*\[([^\]]+)\]/m.exec(api) ?? []
  return [...list.matchAll(/["']([^"']+)["']/g)].map(([, name = '']) => name)
}
