/** What the database has: relations, foreign keys, functions and types. Names in SQL come from here, never from a request. */
import type { RunSql } from './engine.js'

export interface TableColumn {
  readonly name: string
  /** As SQL writes it. */
  readonly type: string
  readonly isJson: boolean
  readonly isSearch: boolean
  /** The expression of the default value. */
  readonly default: string | null
}

export interface Relation {
  readonly schema: string
  readonly name: string
  readonly isView: boolean
  /** Whether row level security is on. */
  readonly isSecured: boolean
  readonly key: readonly string[]
  readonly columns: ReadonlyMap<string, TableColumn>
  /** Functions of its rows that can be selected as columns. */
  readonly computed: ReadonlySet<string>
}

/** Which column of one relation refers to which of another. */
export type ColumnPair = readonly [from: string, to: string]

/** How rows of one relation belong to rows of another. */
export interface Relationship {
  readonly from: Relation
  readonly to: Relation
  readonly kind: 'many-to-one' | 'one-to-many' | 'one-to-one' | 'many-to-many' | 'computed'
  /** The foreign key, or the function that computes the rows. */
  readonly name: string
  readonly pairs: readonly ColumnPair[]
  readonly isToOne: boolean
  readonly junction?: { readonly of: Relation; readonly pairs: readonly ColumnPair[]; readonly names: ColumnPair }
}

export interface RoutineParameter {
  readonly name: string
  readonly type: string
  readonly isRequired: boolean
  readonly isVariadic: boolean
}

export interface Routine {
  readonly schema: string
  readonly name: string
  readonly parameters: readonly RoutineParameter[]
  readonly isSet: boolean
  readonly isVoid: boolean
  readonly isVolatile: boolean
  /** The names of its columns, if it returns rows of no relation; undefined if it returns single values. */
  readonly columns: readonly string[] | undefined
  /** The schema and name of the relation whose rows it returns. */
  readonly returns: string | undefined
}

export interface Catalogue {
  /** By schema and name. */
  readonly relations: ReadonlyMap<string, Relation>
  /** By the schema and name of the relation that they start from. */
  readonly relationships: ReadonlyMap<string, readonly Relationship[]>
  readonly routines: ReadonlyMap<string, readonly Routine[]>
  /** As SQL writes them, by each name that they have. */
  readonly types: ReadonlyMap<string, string>
  /** Settings of PostgREST that the app has made, such as `db_aggregates_enabled`. */
  readonly settings: Readonly<Record<string, string>>
}

export const keyOf = (schema: string, name: string) => JSON.stringify([schema, name])

/** Views whose columns come from tables: the tree of a view's query names the origin of each column. */
interface ViewRow {
  readonly schema: string
  readonly name: string
  readonly columns: Readonly<Record<string, string>>
  readonly tree: string
}

interface RelationRow extends Omit<Relation, 'columns' | 'computed'> {
  readonly oid: string
  readonly columns: readonly (TableColumn & { readonly number: number })[]
}

interface ForeignKeyRow {
  readonly from: string
  readonly to: string
  readonly name: string
  readonly pairs: readonly ColumnPair[]
  readonly isUnique: boolean
}

interface ComputedRow extends Pick<Routine, 'schema' | 'name'> {
  /** The relation whose row it takes, and the one whose rows it returns. */
  readonly of: readonly [schema: string, name: string]
  readonly to: readonly [schema: string, name: string] | null
  readonly isOne: boolean
}

const OURS = "('pg_catalog', 'information_schema', 'pg_toast', 'standin')"

const relationsSql = `
select json_agg(json_build_object('oid', c.oid::text, 'schema', n.nspname, 'name', c.relname, 'isView', c.relkind in ('v', 'm'),
  'isSecured', c.relrowsecurity,
  'key', (select coalesce(json_agg(a.attname order by a.attname), '[]') from pg_constraint k
    join pg_attribute a on a.attrelid = c.oid and a.attnum = any(k.conkey) where k.conrelid = c.oid and k.contype = 'p'),
  'columns', (select coalesce(json_agg(json_build_object('number', a.attnum, 'name', a.attname,
      'type', format_type(a.atttypid, case when t.typnamespace = 'pg_catalog'::regnamespace then null else a.atttypmod end),
      'isJson', a.atttypid in ('json'::regtype, 'jsonb'::regtype), 'isSearch', a.atttypid = 'tsvector'::regtype,
      'default', case when a.attgenerated <> '' then null
        when a.attidentity <> '' then format('nextval(%L)', pg_get_serial_sequence(format('%I.%I', n.nspname, c.relname), a.attname))
        when d.adbin is null then pg_get_expr(t.typdefaultbin, 0) else pg_get_expr(d.adbin, d.adrelid) end
    ) order by a.attnum), '[]')
    from pg_attribute a join pg_type t on t.oid = a.atttypid left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
    where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped))) as found
from pg_class c join pg_namespace n on n.oid = c.relnamespace
where c.relkind in ('r', 'v', 'm', 'f', 'p') and not c.relispartition and n.nspname not in ${OURS}`

const foreignKeysSql = `
select json_agg(json_build_object('from', k.conrelid::text, 'to', k.confrelid::text, 'name', k.conname,
  'pairs', (select json_agg(json_build_array(f.attname, t.attname) order by place) from unnest(k.conkey, k.confkey) with ordinality as _(own, other, place)
    join pg_attribute f on f.attrelid = k.conrelid and f.attnum = own join pg_attribute t on t.attrelid = k.confrelid and t.attnum = other),
  'isUnique', exists (select from pg_constraint u where u.conrelid = k.conrelid and u.contype in ('p', 'u') and u.conkey <@ k.conkey and u.conkey @> k.conkey))
  order by k.conrelid, k.conname) as found
from pg_constraint k where k.contype = 'f' and k.conparentid = 0`

const viewsSql = `
select json_agg(json_build_object('schema', n.nspname, 'name', c.relname, 'tree', r.ev_action::text,
  'columns', (select json_object_agg(a.attnum, a.attname) from pg_attribute a where a.attrelid = c.oid and a.attnum > 0))
  order by c.oid) as found
from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_rewrite r on r.ev_class = c.oid and r.rulename = '_RETURN'
where c.relkind in ('v', 'm') and n.nspname not in ${OURS}`

const routinesSql = `
select json_agg(json_build_object('schema', n.nspname, 'name', p.proname, 'isSet', p.proretset, 'isVoid', p.prorettype = 'void'::regtype,
  'isVolatile', p.provolatile = 'v',
  'parameters', (select coalesce(json_agg(json_build_object('name', coalesce(name, ''), 'type', format_type(type, null),
      'isRequired', place <= p.pronargs - p.pronargdefaults, 'isVariadic', coalesce(mode = 'v', false)) order by place), '[]')
    from unnest(p.proargnames[1:coalesce(array_length(p.proargmodes, 1), p.pronargs)], p.proargtypes::oid[], p.proargmodes)
      with ordinality as _(name, type, mode, place) where type is not null and type <> 0),
  'columns', case when p.proargmodes && '{t,b,o}'::"char"[] then (select json_agg(name) from unnest(p.proargnames, p.proargmodes) as _(name, mode) where mode in ('t', 'b', 'o'))
    when t.typtype = 'c' then (select json_agg(attname) from pg_attribute where attrelid = t.typrelid and attnum > 0 and not attisdropped) end,
  'returns', case when t.typrelid <> 0 then (select json_build_array(rn.nspname, rc.relname)::text from pg_class rc join pg_namespace rn on rn.oid = rc.relnamespace where rc.oid = t.typrelid and rc.relkind <> 'c') end
  )) as found
from pg_proc p join pg_namespace n on n.oid = p.pronamespace join pg_type t on t.oid = p.prorettype
where p.prokind = 'f' and p.prorettype <> 'trigger'::regtype and n.nspname not in ${OURS}
  -- Of unnamed parameters, only a single one that takes the body as a whole.
  and case (select count(*) from unnest(p.proargtypes::oid[]) with ordinality as _(type, place) where coalesce(p.proargnames[place], '') = '')
    when 0 then true when 1 then p.pronargs = 1 and p.proargtypes[0] in ('json'::regtype, 'jsonb'::regtype, 'text'::regtype, 'xml'::regtype, 'bytea'::regtype)
    else false end`

const computedSql = `
select json_agg(json_build_object('schema', n.nspname, 'name', p.proname, 'of', json_build_array(an.nspname, a.relname),
  'to', case when r.oid is not null then json_build_array(rn.nspname, r.relname) end,
  'isOne', not p.proretset or p.prorows = 1)) as found
from pg_proc p join pg_namespace n on n.oid = p.pronamespace
join pg_type at on at.oid = p.proargtypes[0] join pg_class a on a.oid = at.typrelid join pg_namespace an on an.oid = a.relnamespace
join pg_type rt on rt.oid = p.prorettype left join pg_class r on r.oid = rt.typrelid and r.relkind <> 'c' left join pg_namespace rn on rn.oid = r.relnamespace
where p.pronargs = 1 and a.relkind <> 'c'`

const typesSql = `
select json_agg(json_build_array(t.typname, format_type(t.oid, null)) order by t.typnamespace <> 'public'::regnamespace desc) as found
from pg_type t where t.typtype <> 'p'`

const settingsSql = `
select json_agg(regexp_split_to_array(substr(entry, 7), '=')) as found from pg_db_role_setting s
join pg_roles r on r.oid = s.setrole, unnest(s.setconfig) as entry where r.rolname = 'authenticator' and entry like 'pgrst.%'`

/** The names of types that only SQL's grammar knows. */
const grammarTypes = {
  int: 'integer',
  dec: 'numeric',
  decimal: 'numeric',
  float: 'double precision',
  char: 'character',
}

export async function readCatalogue(run: RunSql): Promise<Catalogue> {
  const sql = [relationsSql, foreignKeysSql, viewsSql, routinesSql, computedSql, typesSql, settingsSql]
  // With an empty search path, the database writes all names with their schemas.
  const [, ...results] = await run({ sql: "set local search_path = ''" }, ...sql.map(sql => ({ sql })))
  const found = results.map(({ rows }) => JSON.parse(rows[0]?.found ?? '[]'))
  const [relationRows, foreignKeys, views, routines, computed, types, settings] = found as [
    RelationRow[],
    ForeignKeyRow[],
    ViewRow[],
    (Omit<Routine, 'returns'> & { returns: string | null })[],
    ComputedRow[],
    ColumnPair[],
    ColumnPair[],
  ]
  const origins = viewOrigins(relationRows, views)
  const relations = new Map(
    relationRows.map(row => [keyOf(row.schema, row.name), relationOf(row, relationRows, computed, origins)]),
  )
  const byOid = new Map(relationRows.map(({ oid, schema, name }) => [oid, relations.get(keyOf(schema, name))]))
  return {
    relations,
    relationships: grouped(relationshipsOf({ foreignKeys, byOid, origins, relations, computed }), ({ from }) => from),
    routines: grouped(
      routines.map(one => ({
        ...one,
        columns: one.columns ?? undefined,
        returns: one.returns ? keyIn(one.returns) : undefined,
      })),
      one => one,
    ),
    types: new Map([...types, ...types.map(([, sql]) => [sql, sql] as const), ...Object.entries(grammarTypes)]),
    settings: Object.fromEntries(settings),
  }
}

const keyIn = (json: string) => keyOf(...(JSON.parse(json) as [string, string]))

function grouped<T>(all: readonly T[], of: (one: T) => { readonly schema: string; readonly name: string }) {
  return Map.groupBy(all, one => keyOf(of(one).schema, of(one).name)) as ReadonlyMap<string, readonly T[]>
}

/** By the relation of a column and its name: the columns of views that show it. */
type Origins = ReadonlyMap<string, readonly { readonly view: string; readonly column: string }[]>

function relationOf(
  row: RelationRow,
  rows: readonly RelationRow[],
  computed: readonly ComputedRow[],
  origins: Origins,
) {
  const { oid: _oid, columns, key, ...rest } = row
  const own = keyOf(row.schema, row.name)
  const ofIt = computed.filter(({ of, to }) => to === null && keyOf(...of) === own)
  return {
    ...rest,
    key: row.isView ? keyOfView(own, rows, origins) : key,
    columns: new Map(columns.map(column => [column.name, column])),
    computed: new Set(ofIt.map(({ name }) => name)),
  } satisfies Relation
}

/** The key of the first table of which the view shows the whole key. */
function keyOfView(view: string, rows: readonly RelationRow[], origins: Origins): readonly string[] {
  for (const { schema, name, key } of rows) {
    const shown = key.map(column => origins.get(columnKey(keyOf(schema, name), column))?.find(one => one.view === view))
    const names = shown.flatMap(one => one?.column ?? [])
    if (names.length > 0 && names.length === key.length) return names
  }
  return []
}

const columnKey = (relation: string, column: string) => `${relation} ${column}`

/** Follows each column of a view to the table that it comes from, also through other views. */
function viewOrigins(relations: readonly RelationRow[], views: readonly ViewRow[]): Origins {
  const byOid = new Map(relations.map(row => [row.oid, row]))
  const origins = new Map<string, { view: string; column: string }[]>()
  const comesFrom = new Map<string, string>()
  for (const { schema, name, columns, tree } of views) {
    const view = keyOf(schema, name)
    for (const { result, table, column } of targetsIn(tree)) {
      const row = byOid.get(table)
      const original = row?.columns.find(({ number }) => number === column)
      const shown = columns[result]
      if (!row || !original || shown === undefined) continue
      const direct = columnKey(keyOf(row.schema, row.name), original.name)
      const origin = comesFrom.get(direct) ?? direct
      comesFrom.set(columnKey(view, shown), origin)
      origins.set(origin, [...(origins.get(origin) ?? []), { view, column: shown }])
    }
  }
  return origins
}

/** The target list of the outermost query in PostgreSQL's text of a query tree: nodes in braces, of which it is the second level. */
function targetsIn(tree: string) {
  const found: { readonly result: number; readonly table: string; readonly column: number }[] = []
  let depth = 0
  let start = 0
  for (const { 0: sign, index } of tree.matchAll(/\\.|[{}]/gs)) {
    if (sign === '{' && ++depth === 2) start = index
    if (sign !== '}' || depth-- !== 2 || !tree.startsWith('{TARGETENTRY', start)) continue
    const entry = tree.slice(start, index)
    // The entry's own fields follow its expression.
    const own = entry.slice(Math.max(0, entry.lastIndexOf(' :resno ')))
    const [, result] = /^ :resno (\d+) /.exec(own) ?? []
    const [, table, column] = / :resorigtbl (\d+) :resorigcol (\d+) /.exec(own) ?? []
    if (table !== undefined && table !== '0') found.push({ result: Number(result), table, column: Number(column) })
  }
  return found
}

interface RelationshipParts {
  readonly foreignKeys: readonly ForeignKeyRow[]
  readonly byOid: ReadonlyMap<string, Relation | undefined>
  readonly origins: Origins
  readonly relations: ReadonlyMap<string, Relation>
  readonly computed: readonly ComputedRow[]
}

function relationshipsOf(parts: RelationshipParts): readonly Relationship[] {
  const { foreignKeys, byOid, origins, relations, computed } = parts
  const toOne = foreignKeys.flatMap(({ from, to, name, pairs, isUnique }): readonly Relationship[] => {
    const kind = isUnique ? 'one-to-one' : 'many-to-one'
    // The relations themselves, and the views that show the columns of the key.
    return sidesOf(
      byOid.get(from),
      pairs.map(([own]) => own),
      origins,
      relations,
    ).flatMap(own =>
      sidesOf(
        byOid.get(to),
        pairs.map(([, other]) => other),
        origins,
        relations,
      ).map(other => ({
        ...{ from: own.relation, to: other.relation, kind, name, isToOne: true },
        pairs: own.columns.map((column, i) => [column, other.columns[i] ?? ''] as const),
      })),
    )
  })
  const back = toOne.map(
    (one): Relationship => ({
      ...one,
      from: one.to,
      to: one.from,
      kind: one.kind === 'one-to-one' ? one.kind : 'one-to-many',
      isToOne: one.kind === 'one-to-one',
      pairs: one.pairs.map(([own, other]) => [other, own]),
    }),
  )
  const byFunction = computed.flatMap(({ schema, name, of, to, isOne }): readonly Relationship[] => {
    const [from, target] = [relations.get(keyOf(...of)), to && relations.get(keyOf(...to))]
    if (!from || !target) return []
    return [{ from, to: target, kind: 'computed', name: keyOf(schema, name), pairs: [], isToOne: isOne }]
  })
  return [...toOne, ...back, ...throughJunctions(toOne), ...byFunction]
}

function sidesOf(
  table: Relation | undefined,
  columns: readonly string[],
  origins: Origins,
  relations: ReadonlyMap<string, Relation>,
) {
  if (!table) return []
  const shown = columns.map(column => origins.get(columnKey(keyOf(table.schema, table.name), column)) ?? [])
  const views = new Set(shown.flat().map(({ view }) => view))
  return [
    { relation: table, columns },
    ...[...views].flatMap(view => {
      const names = shown.map(all => all.find(one => one.view === view)?.column)
      const relation = relations.get(view)
      return relation && names.every(name => name !== undefined) ? [{ relation, columns: names as string[] }] : []
    }),
  ]
}

/** A table whose primary key has two foreign keys joins what they refer to. */
function throughJunctions(toOne: readonly Relationship[]): readonly Relationship[] {
  const byJunction = Map.groupBy(
    toOne.filter(({ kind }) => kind === 'many-to-one'),
    ({ from }) => from,
  )
  return [...byJunction].flatMap(([of, keys]) =>
    keys.flatMap(one =>
      keys
        .filter(other => other.name !== one.name)
        .filter(other => [...one.pairs, ...other.pairs].every(([column]) => of.key.includes(column)))
        .map(
          (other): Relationship => ({
            ...{ from: one.to, to: other.to, kind: 'many-to-many', name: of.name, isToOne: false },
            pairs: one.pairs.map(([junction, own]) => [own, junction]),
            junction: { of, pairs: other.pairs, names: [one.name, other.name] },
          }),
        ),
    ),
  )
}
