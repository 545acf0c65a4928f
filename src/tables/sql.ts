/** Writes the SQL for a request: values are parameters without exception, and every name comes from the catalogue. */
import { nearest } from '../check/suggest.js'
import { type Catalogue, type ColumnPair, keyOf, type Relation, type Relationship, type Routine } from './catalogue.js'
import type { Statement } from './engine.js'
import type {
  Embed,
  NamedField,
  Order,
  RestRequest,
  RowCondition,
  RowFilter,
  Select,
  SelectedField,
  Wish,
} from './request.js'
import { restError } from './request.js'

export const identifier = (name: string) => `"${name.replaceAll('"', '""')}"`

const nameOf = ({ schema, name }: { readonly schema: string; readonly name: string }) =>
  `${identifier(schema)}.${identifier(name)}`

class Values {
  readonly all: (string | null)[] = []
  readonly put = (value: string | null): string => `$${this.all.push(value)}`
}

/** A resource that is read: a relation, or the rows that a function or a change returned. */
interface Node {
  readonly from: string
  readonly alias: string
  /** Where its columns are looked up; undefined for rows of no relation. */
  readonly relation: Relation | undefined
  /** The names of its columns, if it is of no relation. */
  readonly columns?: readonly string[] | undefined
  readonly select: Select
  readonly wish: Wish
  readonly joins: readonly string[]
  readonly children: readonly Child[]
}

interface Child extends Node {
  readonly embed: Embed
  readonly isToOne: boolean
  readonly name: string
  /** The alias of its aggregated rows. */
  readonly rows: string
}

/** A column that a spread resource adds to its parent. */
interface Spread {
  readonly sql: string
  readonly name: string
  readonly aggregate?: string | undefined
}

const noWish: Wish = { conditions: [], order: [], limit: undefined, offset: 0 }

const comparisons: Readonly<Record<string, string>> = {
  ...{
    eq: '=',
    neq: '<>',
    gt: '>',
    gte: '>=',
    lt: '<',
    lte: '<=',
    like: 'like',
    ilike: 'ilike',
    match: '~',
    imatch: '~*',
  },
  ...{ cs: '@>', cd: '<@', ov: '&&', sl: '<<', sr: '>>', nxr: '&<', nxl: '&>', adj: '-|-' },
  ...{ isdistinct: 'is distinct from', fts: 'to_tsquery', plfts: 'plainto_tsquery', phfts: 'phraseto_tsquery' },
  wfts: 'websearch_to_tsquery',
}

/** An array as PostgreSQL reads it. */
export const arrayOf = (values: readonly (string | null)[]) =>
  `{${values.map(value => (value === null ? 'null' : `"${value.replace(/["\\]/g, '\\$&')}"`)).join(',')}}`

/** What can be written for a request to one relation or function. */
export class SqlWriter {
  private readonly values = new Values()

  constructor(
    private readonly catalogue: Catalogue,
    private readonly request: RestRequest,
    private readonly mostRows: number | undefined,
  ) {}

  statement(sql: string): Statement {
    return { sql, values: this.values.all }
  }

  // Resources and what they embed.

  relation(): Relation {
    const { schema, name } = this.request
    const relation = this.catalogue.relations.get(keyOf(schema, name))
    if (relation) return relation
    const known = [...this.catalogue.relations.values()].filter(one => one.schema === schema).map(one => one.name)
    const near = nearest(name, known)
    throw restError(404, 'PGRST205', `Could not find the table '${schema}.${name}' in the schema cache`, {
      hint: near === undefined ? null : `Perhaps you meant the table '${schema}.${near}'`,
    })
  }

  /** The tree of resources, with `from` as its root. */
  root(relation: Relation | undefined, from?: string, columns?: readonly string[]): Node {
    const { select, wishes, name } = this.request
    const alias = relation?.name ?? name
    const node = { from: from ?? (relation ? nameOf(relation) : ''), alias, relation, columns, select, joins: [] }
    const known = new Set([''])
    const children = this.children(node, '', 1, known)
    for (const path of wishes.keys())
      if (!known.has(path)) {
        const unknown = path.split('.').find((_, i, all) => !known.has(all.slice(0, i + 1).join('.'))) ?? path
        throw restError(400, 'PGRST108', `'${unknown}' is not an embedded resource in this request`, {
          hint: `Verify that '${unknown}' is included in the 'select' query parameter.`,
        })
      }
    return { ...node, wish: wishes.get('') ?? noWish, children }
  }

  private children(parent: Omit<Node, 'wish' | 'children'>, path: string, depth: number, known: Set<string>) {
    return parent.select.embeds.map((embed): Child => {
      const relationship = this.relationship(parent, embed)
      const { to, isToOne } = relationship
      const name = embed.alias ?? embed.name
      const paths = [name, embed.name].map(one => (path === '' ? one : `${path}.${one}`))
      for (const one of paths) known.add(one)
      const alias = `${to.name}_${depth}`
      const node = {
        ...this.joined(relationship, parent.alias, alias),
        ...{ alias, relation: to, select: embed.select, embed, isToOne, name },
        rows: `${parent.alias}_${name}_${depth}`,
        wish: paths.map(one => this.request.wishes.get(one)).find(one => one) ?? noWish,
      }
      return { ...node, children: this.children(node, paths[0] ?? '', depth + 1, known) }
    })
  }

  private joined({ kind, name, from, to, pairs, junction }: Relationship, parent: string, alias: string) {
    const equal = (one: string, other: string, [own, their]: ColumnPair) =>
      `${identifier(one)}.${identifier(own)} = ${identifier(other)}.${identifier(their)}`
    if (kind === 'computed') {
      const [schema = '', called = ''] = JSON.parse(name) as string[]
      return { from: `${nameOf({ schema, name: called })}(${identifier(parent)}::${nameOf(from)})`, joins: [] }
    }
    if (!junction) return { from: nameOf(to), joins: pairs.map(pair => equal(parent, alias, pair)) }
    const between = `${alias}_by`
    return {
      from: `${nameOf(junction.of)} as ${identifier(between)}, ${nameOf(to)}`,
      joins: [
        ...pairs.map(pair => equal(parent, between, pair)),
        ...junction.pairs.map(pair => equal(between, alias, pair)),
      ],
    }
  }

  private relationship({ relation, alias }: Pick<Node, 'relation' | 'alias'>, { name, hint }: Embed): Relationship {
    const { schema } = this.request
    const all = relation ? (this.catalogue.relationships.get(keyOf(relation.schema, relation.name)) ?? []) : []
    const found = all.filter(one => one.to.schema === schema && isMeant(one, name, hint))
    // A function that computes rows replaces the foreign key.
    const computed = found.filter(({ kind }) => kind === 'computed')
    const [first, ...others] = computed.length > 0 ? computed : found
    if (first && others.length === 0) return first
    const origin = relation?.name ?? alias
    if (first) throw ambiguous(origin, name, [first, ...others])
    const near = nearest(
      name,
      [...new Set(all.map(({ to }) => to.name))].filter(one => one !== name),
    )
    const using = hint === undefined ? '' : `' using the hint '${hint}`
    throw restError(
      400,
      'PGRST200',
      `Could not find a relationship between '${origin}' and '${name}' in the schema cache`,
      {
        details: `Searched for a foreign key relationship between '${origin}' and '${name}${using}' in the schema '${schema}', but no matches were found.`,
        hint: near === undefined ? null : `Perhaps you meant '${near}' instead of '${name}'.`,
      },
    )
  }

  // Reading.

  /** The rows of a resource and of all that it embeds. */
  read(node: Node): string {
    const { alias, from, wish, joins, select, children } = node
    const { columns, groups } = this.columns(node)
    const where = [...joins, ...wish.conditions.map(one => this.condition(node, one))]
    const order = wish.order.map(one => this.order(node, one))
    const limit = this.limitOf(wish)
    const isEmpty = select.fields.length === 0 && children.length === 0
    return [
      `select ${[...(isEmpty ? [`${identifier(alias)}.*`] : []), ...columns].join(', ')}`,
      `from ${from} as ${identifier(alias)}`,
      ...children.map(child => this.join(child)),
      ...(where.length > 0 ? [`where ${where.join(' and ')}`] : []),
      ...(groups.length > 0 ? [`group by ${groups.join(', ')}`] : []),
      ...(order.length > 0 ? [`order by ${order.join(', ')}`] : []),
      ...(limit === undefined ? [] : [`limit ${this.values.put(String(limit))}`]),
      ...(wish.offset > 0 ? [`offset ${this.values.put(String(wish.offset))}`] : []),
    ].join(' ')
  }

  private limitOf({ limit }: Wish): number | undefined {
    const { mostRows } = this
    if (this.request.method !== 'GET' && !this.request.isCall) return undefined
    return mostRows === undefined ? limit : Math.min(limit ?? mostRows, mostRows)
  }

  private columns(node: Node) {
    const columns: string[] = []
    const groups: string[] = []
    const isAggregated = hasAggregate(node)
    const add = (sql: string, name: string | undefined, aggregate?: string) => {
      columns.push(name === undefined ? (aggregate ?? sql) : `${aggregate ?? sql} as ${identifier(name)}`)
      if (isAggregated && aggregate === undefined) groups.push(sql)
    }
    for (const field of this.starsExpanded(node, isAggregated)) {
      const isRow = field.field.name === '*' && field.alias !== undefined
      const sql = isRow ? '1' : this.cast(this.field(node, field.field), field.cast)
      add(sql, nameIn(field), this.aggregate(field.field.name === '*' ? '*' : sql, field))
    }
    for (const child of node.children) {
      if (child.embed.isSpread) for (const one of this.spread(child)) add(one.sql, one.name, one.aggregate)
      else if (child.isToOne) {
        if (!isNull(child)) add(`row_to_json(${identifier(child.rows)}.*)::jsonb`, child.name)
      } else if (!isNull(child)) add(`coalesce(${identifier(child.rows)}.${identifier(child.rows)}, '[]')`, child.name)
    }
    return { columns, groups }
  }

  /** `*` as single columns, which an aggregate and a spread need. */
  private starsExpanded(node: Node, isAggregated: boolean) {
    const { select, relation } = node
    if (!isAggregated || !relation) return select.fields
    return select.fields.flatMap(field =>
      field.field.name === '*' && field.aggregate === undefined
        ? [...relation.columns.keys()].map(name => ({ ...field, field: { name, path: [] } }))
        : [field],
    )
  }

  private aggregate(sql: string, { aggregate, aggregateCast }: SelectedField): string | undefined {
    if (aggregate === undefined) return undefined
    if (this.catalogue.settings.db_aggregates_enabled !== 'true')
      throw restError(400, 'PGRST123', 'Use of aggregate functions is not allowed')
    return this.cast(`${aggregate}(${sql})`, aggregateCast)
  }

  private join(child: Child): string {
    const { embed, isToOne, rows } = child
    const alias = identifier(rows)
    const join = embed.isInner ? 'inner join lateral' : 'left join lateral'
    const inner = this.read(embed.isSpread ? plainSpread(child) : child)
    if (isToOne) return `${join} (${inner}) as ${alias} on true`
    const lists = embed.isSpread
      ? this.spreadColumns(child).map(
          ({ name }) => `coalesce(json_agg(${alias}.${identifier(name)}), '[]')::jsonb as ${identifier(name)}`,
        )
      : []
    const aggregated = [`json_agg(${alias})::jsonb as ${alias}`, ...lists].join(', ')
    return `${join} (select ${aggregated} from (${inner}) as ${alias}) as ${alias} on ${embed.isInner ? `${alias}.${alias} is not null` : 'true'}`
  }

  /** The columns that a spread resource has by itself, and those of what it spreads in turn. */
  private spreadColumns(child: Child): readonly { readonly name: string; readonly field?: SelectedField }[] {
    const expanded = this.starsExpanded(child, true)
    return [
      ...expanded.map(field => ({ name: nameIn(field) ?? field.field.name, field })),
      ...child.children.flatMap(one => (one.embed.isSpread ? this.spreadColumns(one) : [{ name: one.name }])),
    ]
  }

  private spread(child: Child): readonly Spread[] {
    return this.spreadColumns(child).map(({ name, field }) => {
      const sql = `${identifier(child.rows)}.${identifier(name)}`
      if (field?.aggregate !== undefined && !child.isToOne)
        throw restError(400, 'PGRST127', 'Feature not implemented', {
          details: 'Aggregates are not implemented for one-to-many or many-to-many spreads.',
        })
      return { sql, name, aggregate: field && this.aggregate(sql, field) }
    })
  }

  // Fields, conditions, order.

  private field(node: Node, { name, path }: NamedField): string {
    const { alias } = node
    if (name === '*') return `${identifier(alias)}.*`
    const column = this.column(node, name)
    if (path.length === 0) return column
    const isJson = node.relation?.columns.get(name)?.isJson
    const steps = path.map(({ arrow, key }) =>
      typeof key === 'number' ? `${arrow}${this.values.put(String(key))}::int` : `${arrow}${this.values.put(key)}`,
    )
    return (isJson ? column : `to_jsonb(${column})`) + steps.join('')
  }

  private column({ alias, relation, columns }: Node, name: string): string {
    const known = relation ? relation.columns.has(name) || relation.computed.has(name) : columns?.includes(name)
    if (known !== false || (columns === undefined && !relation)) return `${identifier(alias)}.${identifier(name)}`
    // For PostgreSQL, `messages.count` is a call of count.
    if (name === 'count') return `count(${identifier(alias)})`
    const near = nearest(name, [...(relation?.columns.keys() ?? columns ?? [])])
    throw restError(400, '42703', `column ${alias}.${name} does not exist`, {
      hint: near === undefined ? null : `Perhaps you meant to reference the column "${alias}.${near}".`,
    })
  }

  private cast(sql: string, type: string | undefined): string {
    if (type === undefined) return sql
    const known = this.catalogue.types.get(type) ?? this.catalogue.types.get(type.toLowerCase())
    if (known === undefined) throw restError(400, '42704', `type "${type}" does not exist`)
    return `cast(${sql} as ${known})`
  }

  condition(node: Node, condition: RowCondition): string {
    if (condition.kind === 'filter') return this.filter(node, condition)
    const parts = condition.conditions.map(one => this.condition(node, one)).join(` ${condition.kind} `)
    return `${condition.isNot ? 'not ' : ''}(${parts})`
  }

  private filter(node: Node, filter: RowFilter): string {
    const { field, operator, quantifier, value, list } = filter
    const not = filter.isNot ? 'not ' : ''
    const { put } = this.values
    const child = field.path.length === 0 && node.children.find(({ name }) => name === field.name)
    if (child && operator === 'is' && /^null$/i.test(value))
      return `${identifier(child.rows)} is ${filter.isNot ? '' : 'not '}distinct from null`
    const column = this.field(node, field)
    switch (operator) {
      case 'in':
        return `${not}${column} = any(${list.join() === '' ? "'{}'" : put(arrayOf(list))})`
      case 'is':
        return `${not}${column} is ${value.toLowerCase().replace('_', ' ')}`
      case 'fts':
      case 'plfts':
      case 'phfts':
      case 'wfts': {
        const language = filter.language === undefined ? '' : `${put(filter.language)}, `
        const isSearch = node.relation?.columns.get(field.name)?.isSearch
        const searched = isSearch ? column : `to_tsvector(${language}${column})`
        return `${not}${searched} @@ ${comparisons[operator]}(${language}${put(value)})`
      }
      default: {
        const pattern = /like$/.test(operator) ? value.replaceAll('*', '%') : value
        const right = quantifier === undefined ? put(pattern) : `${quantifier}(${put(pattern)})`
        return `${not}${column} ${comparisons[operator]} ${right}`
      }
    }
  }

  private order(node: Node, { relation, field, direction }: Order): string {
    if (relation === undefined) return `${this.field(node, field)} ${direction}`
    const child = node.children.find(({ name }) => name === relation)
    if (!child)
      throw restError(400, 'PGRST108', `'${relation}' is not an embedded resource in this request`, {
        hint: `Verify that '${relation}' is included in the 'select' query parameter.`,
      })
    if (!child.isToOne)
      throw restError(400, 'PGRST118', `A related order on '${relation}' is not possible`, {
        details: `'${node.alias}' and '${relation}' do not form a many-to-one or one-to-one relationship`,
      })
    return `${this.field({ ...child, alias: child.rows }, field)} ${direction}`
  }

  /** The rows that match, whatever the limit. */
  count(node: Node): string {
    const { alias, from, wish, joins, children } = node
    const isNullTest = (condition: RowCondition) =>
      condition.kind === 'filter' &&
      condition.operator === 'is' &&
      children.some(({ name }) => name === condition.field.name)
    const where = [
      ...joins,
      ...wish.conditions.map(one =>
        isNullTest(one) ? this.existence(node, one as RowFilter) : this.condition(node, one),
      ),
      ...children.filter(({ embed }) => embed.isInner).map(child => `exists (${this.count(child)})`),
    ]
    return `select 1 from ${from} as ${identifier(alias)}${where.length > 0 ? ` where ${where.join(' and ')}` : ''}`
  }

  private existence(node: Node, { field, isNot }: RowFilter): string {
    const child = node.children.find(({ name }) => name === field.name)
    return child ? `${isNot ? '' : 'not '}exists (${this.count(child)})` : 'true'
  }

  // Changes.

  /** The statement that changes rows, and returns what `node` needs. */
  change(relation: Relation): string {
    const { method, wishes, prefer } = this.request
    const target = `${nameOf(relation)} as ${identifier(relation.name)}`
    const node: Node = { ...this.plain(relation), wish: wishes.get('') ?? noWish }
    const where = node.wish.conditions.map(one => this.condition(node, one))
    const filter = where.length > 0 ? ` where ${where.join(' and ')}` : ''
    const returning = ` returning ${prefer.return === 'representation' ? this.returned(relation) : '1'}`
    if (method === 'DELETE') return `delete from ${target}${filter}${returning}`
    const { columns, rows } = this.body(relation)
    const names = columns.map(identifier)
    if (method === 'PATCH') {
      if (names.length === 0)
        return `select ${prefer.return === 'representation' ? '*' : '1'} from ${nameOf(relation)} where false`
      return `update ${target} set ${names.map(name => `${name} = body.${name}`).join(', ')} from (${rows} limit 1) as body${filter}${returning}`
    }
    const into = names.length > 0 ? ` (${names.join(', ')})` : ''
    const listed = names.map(name => `body.${name}`).join(', ')
    const onConflict = this.onConflict(relation, names)
    const counted = onConflict.includes(' do update ') ? ` where ${counting('+ 1')}` : ''
    return `insert into ${target}${into} select ${listed} from (${rows}) as body${counted}${onConflict}${returning}`
  }

  private plain = (relation: Relation): Node => ({
    ...{ from: nameOf(relation), alias: relation.name, relation, joins: [], children: [] },
    ...{ select: { fields: [], embeds: [] }, wish: noWish },
  })

  private onConflict({ key, name, columns }: Relation, names: readonly string[]): string {
    const { prefer, onConflict = key } = this.request
    if (prefer.resolution === undefined || onConflict.length === 0) return ''
    for (const one of onConflict) if (!columns.has(one)) throw noColumn(name, one)
    const isMerged = prefer.resolution === 'merge-duplicates' && names.length > 0
    const set = names.map(name => `${name} = excluded.${name}`).join(', ')
    return ` on conflict (${onConflict.map(identifier).join(', ')}) do ${isMerged ? `update set ${set} where ${counting('- 1')}` : 'nothing'}`
  }

  /** The columns that the answer and its embedded resources need. A caller may be allowed to see no others. */
  private returned(relation: Relation): string {
    const { fields, embeds } = this.request.select
    const node = this.plain(relation)
    const joining = embeds.flatMap(embed => this.relationship(node, embed))
    if (fields.some(({ field }) => field.name === '*') || (fields.length === 0 && embeds.length === 0)) return '*'
    if (
      joining.some(({ kind }) => kind === 'computed') ||
      fields.some(({ field }) => relation.computed.has(field.name))
    )
      return '*'
    const names = [
      ...fields.map(({ field }) => field.name),
      ...joining.flatMap(({ pairs }) => pairs.map(([own]) => own)),
    ]
    return [...new Set(names)].map(name => this.column(node, name)).join(', ') || '1'
  }

  private body(relation: Relation) {
    const { body, contentType, columns: wanted, prefer } = this.request
    const { keys, isList } = rowsIn(body, contentType, wanted)
    const columns = keys.map(name => relation.columns.get(name) ?? noColumnOf(relation.name, name))
    const names = columns.map(({ name }) => name)
    const defaults = prefer.missing === 'default' ? columns.filter(one => one.default !== null) : []
    const all = this.values.put(isList ? body : `[${body}]`)
    const source = `jsonb_array_elements(${all}::jsonb) as item(row)`
    if (columns.length === 0) return { columns: names, rows: `select 1 from ${source}` }
    const defaulted = defaults.map(one => `${this.values.put(one.name)}::text, ${one.default}`).join(', ')
    const typed = `as typed(${columns.map(({ name, type }) => `${identifier(name)} ${type}`).join(', ')})`
    if (defaults.length === 0) return { columns: names, rows: `select * from json_to_recordset(${all}::json) ${typed}` }
    const row = `jsonb_build_object(${defaulted}) || item.row`
    const rows = `select typed.* from ${source}, lateral jsonb_to_record(${row}) ${typed}`
    return { columns: names, rows }
  }

  // Calls.

  /** The rows that a function returns, as `call`; a single value is its column `value`. */
  call(routine: Routine): string {
    const { parameters, columns } = routine
    const { body, contentType, args, method } = this.request
    const [only] = parameters
    const given = method === 'GET' ? args : undefined
    const call = (sql: string) => {
      const called = `${nameOf(routine)}(${sql})`
      return columns ? `select call.* from ${called} as call` : `select ${called} as value`
    }
    if (only && only.name === '' && parameters.length === 1)
      return call(`${this.values.put(body === '' ? null : body)}::${only.type}`)
    if (given) {
      const named = parameters.flatMap(({ name, type, isVariadic }) => {
        const all = given.filter(([key]) => key === name).map(([, value]) => value)
        if (all.length === 0) return []
        const value = this.values.put(isVariadic ? arrayOf(all) : (all.at(-1) ?? ''))
        return [`${isVariadic ? 'variadic ' : ''}${identifier(name)} => ${value}::${type}`]
      })
      return call(named.join(', '))
    }
    const json = body === '' ? '{}' : body
    const { keys } = rowsIn(json, contentType, undefined)
    const used = parameters.filter(({ name }) => keys.includes(name))
    if (used.length === 0) return call('')
    const typed = used.map(({ name, type }) => `${identifier(name)} ${type}`).join(', ')
    const named = used.map(
      ({ name, isVariadic }) => `${isVariadic ? 'variadic ' : ''}${identifier(name)} => args.${identifier(name)}`,
    )
    const from = `json_to_record(${this.values.put(json)}::json) as args(${typed})`
    const called = `${nameOf(routine)}(${named.join(', ')})`
    return columns ? `select call.* from ${from}, lateral ${called} as call` : `select ${called} as value from ${from}`
  }
}

/** Counts new rows as it goes through all of them, less those that were there. */
const counting = (step: string) =>
  `set_config('standin.inserted', (coalesce(nullif(current_setting('standin.inserted', true), '')::int, 0) ${step})::text, true) is not null`

/** The keys of the rows in a body. */
export function rowsIn(body: string, contentType: string, wanted: readonly string[] | undefined) {
  if (!/^application\/(.*\+)?json$/.test(contentType))
    throw restError(415, 'PGRST102', `Content-Type not acceptable: ${contentType}`)
  const rows = parsed(body)
  const all = Array.isArray(rows) ? rows : [rows]
  const keys = [...new Set(Object.keys(all[0] ?? {}))]
  const isEven = all.every(row => row !== null && typeof row === 'object' && hasKeys(row, keys))
  if (wanted === undefined && !isEven) throw restError(400, 'PGRST102', 'All object keys must match')
  return { keys: wanted ?? keys, isList: Array.isArray(rows) }
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    throw restError(400, 'PGRST102', 'Empty or invalid json')
  }
}

const hasKeys = (row: object, keys: readonly string[]) =>
  Object.keys(row).length === keys.length && keys.every(key => Object.hasOwn(row, key))

/** The name in the answer, if it is not that of the column. */
function nameIn({ alias, field, aggregate }: SelectedField): string | undefined {
  if (alias !== undefined || aggregate !== undefined) return alias ?? aggregate
  if (field.path.length === 0) return undefined
  return String(field.path.findLast(({ key }) => typeof key === 'string')?.key ?? field.name)
}

/** A resource whose selection is empty is only there to be tested. */
const isNull = ({ select, children }: Child): boolean =>
  select.fields.length === 0 && (children.length > 0 || select.embeds.length === 0) && children.every(isNull)

const hasAggregate = ({ select, children }: Node): boolean =>
  select.fields.some(({ aggregate }) => aggregate !== undefined) ||
  children.some(child => child.embed.isSpread && hasAggregate(child))

/** A spread resource yields plain columns, with a 1 for each row to count; its parent applies the aggregates. */
const plainSpread = (child: Child): Child => ({
  ...child,
  select: {
    ...child.select,
    fields: child.select.fields.map(field =>
      field.aggregate === undefined
        ? field
        : { ...field, alias: nameIn(field), aggregate: undefined, aggregateCast: undefined },
    ),
  },
})

/** Whether `name`, with the hint behind the exclamation mark, means this relationship. */
function isMeant({ from, to, kind, name: own, pairs, junction }: Relationship, name: string, hint?: string): boolean {
  const [pair, ...more] = pairs
  const [column, other] = more.length === 0 && kind !== 'many-to-many' && pair ? pair : []
  if (kind === 'computed') return (JSON.parse(own) as string[])[1] === name
  if (from === to) {
    if (hint !== undefined) return name === to.name && kind === 'one-to-many' && hint === other
    return (name === to.name && kind === 'one-to-many') || (kind === 'many-to-one' && name === column)
  }
  if (hint === undefined) return name === to.name || (!to.isView && (name === own || name === column) && !junction)
  return name === to.name && (hint === (junction?.of.name ?? own) || hint === column || hint === other)
}

function ambiguous(origin: string, name: string, all: readonly Relationship[]) {
  const listed = (pairs: readonly ColumnPair[], side: 0 | 1) => `(${pairs.map(pair => pair[side]).join(', ')})`
  return restError(
    300,
    'PGRST201',
    `Could not embed because more than one relationship was found for '${origin}' and '${name}'`,
    {
      details: all.map(({ from, to, kind, name, pairs, junction }) => ({
        cardinality: kind,
        embedding: `${from.name} with ${to.name}`,
        relationship: junction
          ? `${junction.of.name} using ${junction.names[0]}${listed(pairs, 1)} and ${junction.names[1]}${listed(junction.pairs, 0)}`
          : `${name} using ${from.name}${listed(pairs, 0)} and ${to.name}${listed(pairs, 1)}`,
      })),
      hint: `Try changing '${name}' to one of the following: ${all.map(one => `'${one.to.name}!${one.junction?.of.name ?? one.name}'`).join(', ')}. Find the desired relationship in the 'details' key.`,
    },
  )
}

const noColumn = (relation: string, column: string) =>
  restError(400, 'PGRST204', `Could not find the '${column}' column of '${relation}' in the schema cache`)

const noColumnOf = (relation: string, column: string): never => {
  throw noColumn(relation, column)
}
