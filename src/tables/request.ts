/** Reads what a client of PostgREST asks for: the language of its query, its preferences and its body. */
import { PlatformError } from '../core/errors.js'
import type { Exchange } from '../core/exchange.js'

/** An error in PostgREST's form. `more` becomes part of the body. */
export const restError = (
  status: number,
  code: string,
  message: string,
  { details = null, hint = null }: { readonly details?: unknown; readonly hint?: string | null | undefined } = {},
) => new PlatformError(status, code, message, [], { details: { details, hint } })

/** A column, or a value inside of its JSON. */
export interface NamedField {
  readonly name: string
  readonly path: readonly { readonly arrow: string; readonly key: string | number }[]
}

export interface SelectedField {
  readonly field: NamedField
  readonly cast: string | undefined
  readonly aggregate: string | undefined
  readonly aggregateCast: string | undefined
  readonly alias: string | undefined
}

export interface Embed {
  readonly name: string
  readonly alias: string | undefined
  readonly hint: string | undefined
  readonly isInner: boolean
  readonly isSpread: boolean
  readonly select: Select
}

export interface Select {
  readonly fields: readonly SelectedField[]
  readonly embeds: readonly Embed[]
}

export interface RowFilter {
  readonly kind: 'filter'
  readonly field: NamedField
  readonly isNot: boolean
  readonly operator: string
  /** `any` or `all` of several values. */
  readonly quantifier: string | undefined
  readonly language: string | undefined
  readonly value: string
  readonly list: readonly string[]
}

export type RowCondition =
  | RowFilter
  | { readonly kind: 'and' | 'or'; readonly isNot: boolean; readonly conditions: readonly RowCondition[] }

export interface Order {
  readonly relation: string | undefined
  readonly field: NamedField
  readonly direction: string
}

/** What is asked of one resource: the one in the path, or an embedded one. */
export interface Wish {
  readonly conditions: RowCondition[]
  order: readonly Order[]
  limit: number | undefined
  offset: number
}

export interface RestRequest {
  readonly method: string
  readonly schema: string
  /** The relation or function. */
  readonly name: string
  readonly isCall: boolean
  readonly select: Select
  /** By the path to the embedded resource, with dots; the empty one is the resource itself. */
  readonly wishes: ReadonlyMap<string, Wish>
  readonly columns: readonly string[] | undefined
  readonly onConflict: readonly string[] | undefined
  /** The arguments of a function in the query. */
  readonly args: readonly (readonly [name: string, value: string])[]
  readonly prefer: Preferences
  readonly media: Media
  readonly stripsNulls: boolean
  readonly body: string
  readonly contentType: string
  /** Whether a header named the schema. */
  readonly hasProfile: boolean
}

export type Media = 'json' | 'object' | 'csv'

const operators =
  'eq|neq|gte|gt|lte|lt|like|ilike|match|imatch|in|isdistinct|is|fts|plfts|phfts|wfts|cs|cd|ov|sl|sr|nxr|nxl|adj'
const operator = new RegExp(`(not\\.)?(${operators})(?:\\((\\w[\\w $]*)\\))?\\.`, 'y')
const name = /"((?:[^"\\]|\\.)*)"|((?:[\p{L}\p{N}_ $]|-(?!>))+)/uy
const key = /"((?:[^"\\]|\\.)*)"|([^-:.,()>]+)/y
const type = /[\p{L}\p{N}_ $]+/uy
/** Deeper ones would take more stack than there is. */
const MOST_LEVELS = 100

class Reader {
  private at: number
  private level = 0

  constructor(
    private readonly text: string,
    private readonly what: string,
  ) {
    // A name becomes part of the SQL, which a NUL would end.
    this.at = text.indexOf('\0')
    if (this.at >= 0) this.fail('a character other than NUL')
    this.at = 0
  }

  get isAtEnd(): boolean {
    return this.at >= this.text.length
  }

  fail(expecting: string): never {
    const next = [...this.text.slice(this.at)][0]
    const found = next === undefined ? 'unexpected end of input' : `unexpected ${JSON.stringify(next)}`
    throw restError(
      400,
      'PGRST100',
      `"failed to parse ${this.what} (${this.text.slice(0, 500)})" (line 1, column ${this.at + 1})`,
      { details: `${found} expecting ${expecting}` },
    )
  }

  /** Goes past a sign or an expression, if it is next. */
  take(sign: string): boolean {
    if (!this.text.startsWith(sign, this.at)) return false
    this.at += sign.length
    return true
  }

  match(expression: RegExp): RegExpExecArray | undefined {
    expression.lastIndex = this.at
    const found = expression.exec(this.text)
    if (!found) return undefined
    this.at = expression.lastIndex
    return found
  }

  need(sign: string): void {
    if (!this.take(sign)) this.fail(JSON.stringify(sign))
  }

  name(): string {
    const found = this.match(name) ?? this.fail('field name (* or [a..z0..9_$])')
    return found[1]?.replace(/\\(.)/gs, '$1') ?? (found[2] as string).trim()
  }

  field(): NamedField {
    const field = this.name()
    const path: { arrow: string; key: string | number }[] = []
    for (let arrow = this.match(/->>?/y); arrow; arrow = this.match(/->>?/y)) {
      const number = this.match(/-?\d+(?=->|::|[.,)]|$)/y)
      const found = number ?? this.match(key) ?? this.fail('a key of JSON')
      path.push({ arrow: arrow[0], key: number ? Number(number[0]) : (found[1] ?? (found[2] as string)) })
    }
    return { name: field, path }
  }

  list<T>(item: () => T): T[] {
    const items = [item()]
    while (this.take(',')) items.push(item())
    return items
  }

  inside<T>(read: () => T): T {
    if (++this.level > MOST_LEVELS) this.fail(`at most ${MOST_LEVELS} levels of parentheses`)
    this.need('(')
    const result = read()
    this.need(')')
    this.level--
    return result
  }

  select(): Select {
    const fields: SelectedField[] = []
    const embeds: Embed[] = []
    if (this.isAtEnd || this.text[this.at] === ')') return { fields, embeds }
    this.list(() => {
      const item = this.selected()
      if ('select' in item) embeds.push(item)
      else fields.push(item)
    })
    return { fields, embeds }
  }

  private selected(): SelectedField | Embed {
    this.match(/ +/y)
    if (this.take('...')) return this.embed(this.name(), undefined, true)
    if (this.match(/\*(?= *[,)]| *$)/y)) return { ...plainField, field: { name: '*', path: [] } }
    const start = this.at
    const alias = this.match(/("(?:[^"\\]|\\.)*"|[\p{L}\p{N}_ $-]+):(?!:)/uy)?.[1]
      ?.replace(/^"(.*)"$/s, '$1')
      .trim()
    if (this.match(/count\(\)/y))
      return { ...plainField, field: { name: '*', path: [] }, aggregate: 'count', aggregateCast: this.cast(), alias }
    if (start !== this.at && this.isAtEnd) this.fail('field name (* or [a..z0..9_$])')
    const field = this.field()
    if (field.path.length === 0 && /[!(]/.test(this.text[this.at] ?? '')) return this.embed(field.name, alias, false)
    const cast = this.cast()
    const aggregate = this.match(/\.(sum|avg|count|max|min)\(\)/y)?.[1]
    const aggregateCast = aggregate === undefined ? undefined : this.cast()
    this.match(/ +/y)
    if (!this.isAtEnd && !/[,)]/.test(this.text[this.at] ?? ''))
      this.fail('letter, digit, "-", "->>", "->", "::", ".", ")", "," or end of input')
    return { field, cast, aggregate, aggregateCast, alias }
  }

  private cast = (): string | undefined =>
    this.take('::') ? (this.match(type) ?? this.fail('letter or digit'))[0].trim() : undefined

  private embed(name: string, alias: string | undefined, isSpread: boolean): Embed {
    let hint: string | undefined
    let isInner = false
    for (let count = 0; count < 2 && this.take('!'); count++) {
      const join = this.match(/(inner|left)(?=[!(])/y)?.[1]
      if (join === undefined) hint = this.name()
      else isInner = join === 'inner'
    }
    const select = this.inside(() => this.select())
    this.match(/ +/y)
    return { name, alias, hint, isInner, isSpread, select }
  }

  /** `isInLogic`: a comma or a parenthesis ends the value. */
  filter(field: NamedField, isInLogic: boolean): RowFilter {
    const found = this.match(operator) ?? this.fail('"not" or operator (eq, gt, ...)')
    const [, not, operation = '', inBrackets] = found
    const isSearch = /fts$/.test(operation)
    const isQuantified = inBrackets !== undefined && /^(eq|gte?|lte?|i?like|i?match)$/.test(operation)
    if (inBrackets !== undefined && !isSearch && !(isQuantified && /^(any|all)$/.test(inBrackets)))
      this.fail('operator (eq, gt, ...)')
    const list = operation === 'in' ? this.inside(() => this.list(() => this.listed())) : []
    const value = operation === 'in' ? '' : isInLogic ? this.logicValue() : this.rest()
    if (operation === 'is' && !/^(null|not_null|true|false|unknown)$/i.test(value))
      this.fail('isVal: (null, not_null, true, false, unknown)')
    const rest = { quantifier: isSearch ? undefined : inBrackets, language: isSearch ? inBrackets : undefined }
    return { kind: 'filter', field, isNot: not !== undefined, operator: operation, ...rest, value, list }
  }

  private rest(): string {
    const value = this.text.slice(this.at)
    this.at = this.text.length
    return value
  }

  private quoted = () => this.match(/"((?:[^"\\]|\\.)*)"(?=[,)]|$)/sy)?.[1]?.replace(/\\(.)/gs, '$1')
  private listed = () => this.quoted() ?? this.match(/[^,)]*/y)?.[0] ?? ''
  private logicValue = () => this.quoted() ?? this.match(/\{[^{}]*\}|[^,)]*/y)?.[0] ?? ''

  logic(): RowCondition {
    this.match(/ +/y)
    const tree = this.match(/(not\.)?(and|or)(?=\()/y)
    if (!tree) {
      const field = this.field()
      this.need('.')
      return this.filter(field, true)
    }
    const conditions = this.inside(() => this.list(() => this.logic()))
    return { kind: tree[2] as 'and' | 'or', isNot: tree[1] !== undefined, conditions }
  }

  order(): Order {
    this.match(/ +/y)
    const field = this.field()
    const related = field.path.length === 0 && this.text[this.at] === '(' ? this.inside(() => this.field()) : undefined
    const direction = this.match(/\.(asc|desc)/y)?.[1] ?? ''
    const nulls = this.match(/\.nulls(first|last)/y)?.[1]
    if (!this.isAtEnd && this.text[this.at] !== ',') this.fail('"asc", "desc", "nullsfirst" or "nullslast"')
    return {
      relation: related && field.name,
      field: related ?? field,
      direction: `${direction}${nulls === undefined ? '' : ` nulls ${nulls}`}`,
    }
  }

  end<T>(value: T): T {
    return this.isAtEnd ? value : this.fail('end of input')
  }
}

const plainField = { cast: undefined, aggregate: undefined, aggregateCast: undefined, alias: undefined }

const newWish = (): Wish => ({ conditions: [], order: [], limit: undefined, offset: 0 })

type Query = Pick<RestRequest, 'select' | 'wishes' | 'columns' | 'onConflict' | 'args'>

/** `isCall`: parameters without an operator are arguments of the function. */
export function readQuery(query: string, isCall: boolean): Query {
  const wishes = new Map<string, Wish>([['', newWish()]])
  const args: [string, string][] = []
  const at = (path: string): Wish => {
    const wish = wishes.get(path) ?? newWish()
    wishes.set(path, wish)
    return wish
  }
  let [select, columns, onConflict]: (string | undefined)[] = []
  for (const [key, value] of new URLSearchParams(query)) {
    const steps = key.split('.')
    const last = steps.pop() ?? ''
    const path = steps.join('.')
    if (key === 'select') select ??= value
    else if (key === 'columns') columns ??= value
    else if (key === 'on_conflict') onConflict ??= value
    else if (last === 'order') at(path).order = listIn(value, 'order', reader => reader.order())
    else if (last === 'limit') at(path).limit = numberIn(value)
    else if (last === 'offset') at(path).offset = numberIn(value) ?? 0
    else if (last === 'and' || last === 'or')
      at(steps.filter(step => step !== 'not').join('.')).conditions.push(treeIn(steps, last + value))
    else if (key !== 'apikey') {
      if (isCall && !new RegExp(`^(not\\.)?(${operators})(\\(.*?\\))?\\.`).test(value)) {
        args.push([key, value])
        continue
      }
      const target = targetIn(key)
      const reader = new Reader(value, 'filter')
      at(target.path).conditions.push(reader.end(reader.filter(target.field, false)))
    }
  }
  const reader = new Reader(select ?? '*', 'select parameter')
  return {
    select: reader.end(reader.select()),
    wishes,
    columns: columns === undefined ? undefined : listIn(columns, 'columns parameter', reader => reader.name()),
    onConflict: onConflict ? listIn(onConflict, 'on_conflict parameter', reader => reader.name()) : undefined,
    args,
  }
}

function treeIn(steps: readonly string[], written: string) {
  const reader = new Reader(`${steps.includes('not') ? 'not.' : ''}${written}`, 'logic tree')
  return reader.end(reader.logic())
}

function listIn<T>(text: string, what: string, item: (reader: Reader) => T): readonly T[] {
  const reader = new Reader(text, what)
  return reader.end(reader.list(() => item(reader)))
}

const numberIn = (text: string) => (/^-?\d{1,15}$/.test(text) ? Number(text) : undefined)

/** `messages.channel.data->>slug`: the embedded resource, and a field of it. */
function targetIn(text: string): { readonly path: string; readonly field: NamedField } {
  const reader = new Reader(text, 'tree path')
  const names: string[] = []
  let field = reader.field()
  while (field.path.length === 0 && reader.take('.')) {
    names.push(field.name)
    field = reader.field()
  }
  return reader.end({ path: names.join('.'), field })
}

const preferences = {
  return: ['representation', 'minimal', 'headers-only'],
  count: ['exact', 'planned', 'estimated'],
  resolution: ['merge-duplicates', 'ignore-duplicates'],
  missing: ['default', 'null'],
  handling: ['strict', 'lenient'],
  tx: ['commit', 'rollback'],
  'max-affected': undefined,
  timezone: undefined,
} as const satisfies Record<string, readonly string[] | undefined>

/** The values of `Prefer`, those that are known. */
export type Preferences = Readonly<Partial<Record<keyof typeof preferences, string>>>

function readPreferences(header: string): Preferences {
  const found: Record<string, string> = {}
  const unknown: string[] = []
  for (const preference of header.split(',').map(part => part.trim())) {
    const [name = '', value = ''] = preference.split('=', 2)
    const values: readonly string[] | undefined = preferences[name as keyof Preferences]
    const isKnown = values
      ? values.includes(value)
      : name === 'timezone' || (name === 'max-affected' && /^\d+$/.test(value))
    if (isKnown) found[name] ??= value
    else if (preference !== '') unknown.push(preference)
  }
  if (unknown.length > 0 && found.handling === 'strict')
    throw restError(400, 'PGRST122', 'Invalid preferences given with handling=strict', {
      details: `Invalid preferences: ${unknown.join(', ')}`,
    })
  return found
}

const media: readonly (readonly [RegExp, Media])[] = [
  [/^application\/vnd\.pgrst\.object(\+json)?$/, 'object'],
  [/^text\/csv$/, 'csv'],
  [/^(application\/(json|vnd\.pgrst\.array(\+json)?|\*)|\*\/\*)$/, 'json'],
]

function readAccept(header: string) {
  for (const part of header.split(',')) {
    const [type = '', ...parameters] = part
      .trim()
      .split(';')
      .map(text => text.trim())
    const known = media.find(([expression]) => expression.test(type))
    if (known) return { media: known[1], stripsNulls: parameters.includes('nulls=stripped') }
  }
  throw restError(406, 'PGRST107', `None of these media types are available: ${header}`)
}

/** Reads a request. `schemas` are those that clients may use, the default one first. */
export function readRequest(exchange: Exchange, schemas: readonly string[]): RestRequest {
  const { headers, query, body } = exchange
  const method = exchange.method === 'HEAD' ? 'GET' : exchange.method
  const steps = exchange.path.split('/').slice(3).map(decoded)
  const isCall = steps[0] === 'rpc' && steps.length === 2
  const [name] = steps.slice(isCall ? 1 : 0)
  if (name === undefined || name === '' || steps.length > (isCall ? 2 : 1))
    throw restError(404, 'PGRST125', 'Invalid path specified in request URL')
  if (isCall && method !== 'GET' && method !== 'POST')
    throw restError(405, 'PGRST101', `Cannot use the ${method} method on RPC`)
  if (!/^(GET|POST|PATCH|DELETE)$/.test(method)) throw restError(405, 'PGRST117', `Unsupported HTTP method: ${method}`)
  const profile = headers[method === 'GET' ? 'accept-profile' : 'content-profile']
  const schema = typeof profile === 'string' ? profile : (schemas[0] ?? 'public')
  if (!schemas.includes(schema))
    throw restError(406, 'PGRST106', `Invalid schema: ${schema}`, {
      hint: `Only the following schemas are exposed: ${schemas.join(', ')}`,
    })
  const read = readQuery(query, isCall && method === 'GET')
  if (method === 'GET') limitByRange(read.wishes.get('') as Wish, headers.range)
  return {
    ...read,
    ...readAccept(headers.accept || '*/*'),
    ...{ method, schema, name, isCall, hasProfile: profile !== undefined },
    prefer: readPreferences(String(headers.prefer ?? '')),
    body: body?.toString() ?? '',
    contentType: (headers['content-type'] ?? 'application/json').split(';', 1)[0]?.trim().toLowerCase() ?? '',
  }
}

function decoded(step: string): string {
  try {
    return decodeURIComponent(step)
  } catch {
    throw restError(404, 'PGRST125', 'Invalid path specified in request URL')
  }
}

/** The header `Range: 0-9`, together with `limit` and `offset`. */
function limitByRange(wish: Wish, range: string | undefined): void {
  const [, first, last] = /^(?:\w+=)?(\d+)-(\d*)$/.exec(range ?? '') ?? []
  if (first !== undefined) {
    const from = Math.max(Number(first), wish.offset)
    const limits = [
      ...(last ? [Number(last) - from + 1] : []),
      ...(wish.limit === undefined ? [] : [wish.offset + wish.limit - from]),
    ]
    if (limits.some(limit => limit <= 0))
      throw badRange('The lower boundary must be lower than or equal to the upper boundary in the Range header.')
    wish.offset = from
    wish.limit = limits.length === 0 ? undefined : Math.min(...limits)
  }
  if (wish.limit !== undefined && wish.limit < 0) throw badRange('Limit should be greater than or equal to zero.')
}

export const badRange = (details: string) => restError(416, 'PGRST103', 'Requested range not satisfiable', { details })
