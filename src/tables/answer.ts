/** Runs a request as its caller, in one transaction, and answers as PostgREST does: status, headers, body and errors. */
import { nearest } from '../check/suggest.js'
import { PlatformError } from '../core/errors.js'
import type { Exchange } from '../core/exchange.js'
import type { Reply } from '../core/reply.js'
import { type Catalogue, keyOf, type Relation, type Routine, type RoutineParameter } from './catalogue.js'
import { type Engine, type RunSql, SqlError, type Statement } from './engine.js'
import { badRange, type RestRequest, readRequest, restError } from './request.js'
import { identifier, rowsIn, SqlWriter } from './sql.js'

/** As which role a request runs, and what policies know of its caller. */
export interface RoleAndClaims {
  readonly role: string
  /** JSON. */
  readonly claims: string
}

export interface Answering {
  readonly engine: Engine
  readonly catalogue: Catalogue
  /** The schemas that clients may use. */
  readonly schemas: readonly string[]
}

interface Plan {
  readonly exchange: Exchange
  readonly request: RestRequest
  readonly caller: RoleAndClaims
  readonly main: Statement
  /** What is read or changed; undefined for a call. */
  readonly relation: Relation | undefined
  readonly routine: Routine | undefined
  /** Counts all rows that match, as far as the caller sees them. */
  readonly counting: Statement
}

export async function answerTo(exchange: Exchange, caller: RoleAndClaims, answering: Answering): Promise<Reply> {
  const request = readRequest(exchange, answering.schemas)
  const plan: Plan = { exchange, request, caller, ...planOf(request, answering) }
  exchange.sql = { role: caller.role, text: plan.main.sql }
  const found = await databaseAnswer(plan, answering)
  const remark = found.rows === 0 ? await whatIsHidden(plan, answering).catch(() => undefined) : undefined
  return {
    ...replyOf(plan, found),
    answeredBy: { kind: 'tables', role: caller.role },
    ...(remark !== undefined && { remark: () => remark }),
  }
}

/** Undoes a transaction whose result is sent all the same. */
class Undone extends Error {
  constructor(readonly found: Found) {
    super('undone')
  }
}

async function databaseAnswer(plan: Plan, { engine }: Answering): Promise<Found> {
  try {
    return await engine.transaction(run => runPlan(run, plan), true)
  } catch (error) {
    if (error instanceof Undone) return error.found
    throw error instanceof SqlError ? errorOf(error, plan.caller.role) : error
  }
}

/** As at Supabase. */
const MOST_ROWS = 1000

function planOf(request: RestRequest, { catalogue }: Answering) {
  const { method, isCall, prefer, wishes } = request
  const most = Number(catalogue.settings.db_max_rows ?? MOST_ROWS)
  const writer = new SqlWriter(catalogue, request, most)
  const finished = (parts: string, body: string, total?: string) =>
    writer.statement(`with ${parts} ${resultOf(body, total)}`)
  const routine = isCall ? routineFor(request, catalogue) : undefined
  if (routine) {
    const source = writer.call(routine)
    const { columns = ['value'], returns } = routine
    const root = writer.root(returns === undefined ? undefined : catalogue.relations.get(returns), 'source', columns)
    const parts = `source as (${source}), page as (${writer.read(root)})`
    const total = prefer.count === undefined ? undefined : writer.count(root)
    const main = finished(parts, bodyOf(request, routine), total)
    return { main, routine, relation: undefined, counting: { sql: 'select 0 as count' } }
  }
  const relation = writer.relation()
  const second = new SqlWriter(catalogue, request, most)
  const counting = second.statement(`select count(*) from (${second.count(second.root(relation))}) as all_rows`)
  if (method === 'GET') {
    const root = writer.root(relation)
    const total = prefer.count === undefined ? undefined : writer.count(root)
    return { main: finished(`page as (${writer.read(root)})`, bodyOf(request), total), relation, routine, counting }
  }
  const source = `source as (${writer.change(relation)})`
  if (prefer.return !== 'representation')
    return { main: finished(`${source}, page as (select 1 from source)`, "''"), relation, routine, counting }
  // The conditions have chosen what to change; what is returned is only ordered.
  const { order = [] } = wishes.get('') ?? {}
  const returned = { ...writer.root(relation, 'source'), wish: { conditions: [], order, limit: undefined, offset: 0 } }
  const main = finished(`${source}, page as (${writer.read(returned)})`, bodyOf(request))
  return { main, relation, routine, counting }
}

const setting = (name: string) => `nullif(current_setting('${name}', true), '')`

const resultOf = (body: string, total: string | undefined) =>
  `select ${body} as body, (select count(*) from page) as rows, ` +
  `${total === undefined ? 'null' : `(select count(*) from (${total}) as all_rows)`} as total, ` +
  `${setting('response.headers')} as headers, ${setting('response.status')} as status, ${setting('standin.inserted')} as inserted from page`

const csvHead =
  "(select coalesce(string_agg(key, ','), '') from json_object_keys((select row_to_json(page) from page limit 1)) as key)"
const csvBody = "coalesce(string_agg(substring(page::text, 2, length(page::text) - 2), E'\\n'), '')"

/** The page of rows as a text. */
function bodyOf({ media, stripsNulls }: RestRequest, routine?: Routine): string {
  if (media === 'csv') return `${csvHead} || E'\\n' || ${csvBody}`
  const all = `json_agg(${routine && !routine.columns ? 'page.value' : 'page'})`
  const stripped = stripsNulls ? `json_strip_nulls(${all})` : all
  const isOne = media === 'object' || (routine && !routine.isSet)
  return isOne ? `coalesce((${stripped} -> 0)::text, 'null')` : `coalesce(${stripped}::text, '[]')`
}

interface Found {
  readonly body: string
  readonly rows: number
  readonly total?: number | undefined
  /** What functions of the app have set. */
  readonly headers?: string | null | undefined
  readonly status?: string | null | undefined
  /** How many rows of an upsert are new. */
  readonly inserted?: string | null | undefined
}

async function runPlan(run: RunSql, plan: Plan): Promise<Found> {
  const { request, main, counting, caller } = plan
  const { prefer, media, method, isCall } = request
  const isPlanned = prefer.count === 'planned'
  const planning = isPlanned ? [{ ...counting, sql: `explain (format json) ${counting.sql}` }] : []
  const [, result, planned] = await run(settingsFor(plan, caller), main, ...planning)
  const { body, rows: count, total, ...rest } = result?.rows[0] ?? {}
  const rows = Number(count)
  const [explained] = isPlanned ? JSON.parse(planned?.rows[0]?.['QUERY PLAN'] ?? '[]') : []
  const found = {
    ...rest,
    body: body ?? '',
    rows,
    total: explained?.Plan.Plans[0]['Plan Rows'] ?? (total ? Number(total) : undefined),
  }
  if (media === 'object' && rows !== 1 && prefer.return !== 'minimal')
    throw restError(406, 'PGRST116', 'Cannot coerce the result to a single JSON object', {
      details: `The result contains ${rows} rows`,
    })
  const isLimited = prefer['max-affected'] !== undefined && prefer.handling === 'strict'
  if (isLimited && (isCall || method === 'PATCH' || method === 'DELETE') && rows > Number(prefer['max-affected']))
    throw restError(400, 'PGRST124', 'Query result exceeds max-affected preference constraint', {
      details: `The query affects ${rows} rows`,
    })
  if (prefer.tx === 'rollback') throw new Undone(found)
  return found
}

/** The role, the claims and what functions can read of the request: for this transaction only. */
function settingsFor({ exchange, request, routine }: Plan, { role, claims }: RoleAndClaims): Statement {
  const { path, method, headers } = exchange
  const { schema, prefer } = request
  const searchPath = [...new Set([schema, 'public', 'extensions'])].map(identifier).join(', ')
  const { cookie: _cookie, ...shown } = headers
  const changesNothing = method === 'GET' || method === 'HEAD' || (routine && !routine.isVolatile)
  const settings: readonly (readonly string[])[] = [
    ['search_path', searchPath],
    ['request.jwt.claims', claims],
    ['request.method', method],
    ['request.path', path.replace(/^\/rest\/v1/, '')],
    ['request.headers', JSON.stringify(shown)],
    ...(prefer.timezone === undefined ? [] : [['timezone', prefer.timezone]]),
    ...(changesNothing ? [['transaction_read_only', 'on']] : []),
    ['role', role],
  ]
  const calls = settings.map((_, i) => `set_config($${2 * i + 1}, $${2 * i + 2}, true)`)
  return { sql: `select ${calls.join(', ')}`, values: settings.flat() }
}

function replyOf(plan: Plan, found: Found): Reply {
  const { request, routine } = plan
  const { prefer, media, stripsNulls, method, isCall } = request
  const isEmpty = method === 'GET' || isCall ? routine?.isVoid : prefer.return !== 'representation'
  const own = found.headers ? (JSON.parse(found.headers) as object[]) : []
  const applied = Object.entries(prefer).filter(([name]) => name !== 'return' || !(method === 'GET' || isCall))
  return {
    kind: 'reply',
    status: found.status ? Number(found.status) : statusOf(plan, found, isEmpty === true),
    contentType: isEmpty ? '' : contentTypeOf(media, stripsNulls),
    body: isEmpty ? '' : found.body,
    headers: [
      ...['content-range', rangeOf(request, found)],
      ...(request.hasProfile ? ['content-profile', request.schema] : []),
      ...(applied.length > 0 ? ['preference-applied', applied.map(pair => pair.join('=')).join(', ')] : []),
      ...own.flatMap(one => Object.entries(one).flat().map(String)),
    ],
  }
}

function statusOf({ request }: Plan, { rows, total, inserted }: Found, isEmpty: boolean): number {
  const { method, isCall, wishes } = request
  const { offset = 0 } = wishes.get('') ?? {}
  if (method === 'GET' || isCall) {
    if (total !== undefined && offset > total)
      throw badRange(`An offset of ${offset} was requested, but there are only ${total} rows.`)
    if (isEmpty) return 204
    return total !== undefined && rows < total ? 206 : 200
  }
  if (method === 'POST') return inserted === '0' ? 200 : 201
  return isEmpty ? 204 : 200
}

/** The value of `Content-Range`, such as `0-9/42`. */
function rangeOf({ method, isCall, wishes, prefer }: RestRequest, { rows, total }: Found): string {
  const isRead = method === 'GET' || isCall
  const { offset = 0 } = isRead ? (wishes.get('') ?? {}) : {}
  const counted = isRead ? total : prefer.count === undefined ? undefined : rows
  const isListed = (isRead || method === 'PATCH') && rows > 0 && counted !== 0
  return `${isListed ? `${offset}-${offset + rows - 1}` : '*'}/${counted ?? '*'}`
}

function contentTypeOf(media: RestRequest['media'], stripsNulls: boolean): string {
  const stripped = stripsNulls ? ';nulls=stripped' : ''
  const types = {
    json: stripsNulls ? `application/vnd.pgrst.array+json${stripped}` : 'application/json',
    object: `application/vnd.pgrst.object+json${stripped}`,
    csv: 'text/csv',
  }
  return `${types[media]}; charset=utf-8`
}

/** The statuses of PostgreSQL's errors, by the beginning of their codes; the first that fits counts. */
const statuses: readonly (readonly [codes: RegExp, status: number])[] = [
  [/^(23503|23505)/, 409],
  [/^25006/, 405],
  [/^(42883|42P01)/, 404],
  [/^(42P17|21000|53400|P0(?!001))/, 500],
  [/^(0L|0P|28)/, 403],
  [/^(08|53|57P01)/, 503],
  [/^(09|25|2D|38|39|3B|40|54|55|57|58|F0|HV|XX)/, 500],
]

function errorOf({ code, fault, message }: SqlError, role: string): PlatformError {
  const { detail: details = null, hint } = fault
  if (code === 'PGRST') return raised(message, details)
  // Functions of the app choose a status with `PT` and its number.
  const chosen = /^PT(\d{3})$/.exec(code)?.[1]
  const withoutRight = code === '42501' && (role === 'anon' ? 401 : 403)
  const status = withoutRight || statuses.find(([codes]) => codes.test(code))?.[1] || 400
  return restError(chosen === undefined ? status : Number(chosen), code, message, { details, hint: hint ?? null })
}

/** A function of the app decides the whole error with `raise sqlstate 'PGRST'`. */
function raised(message: string, detail: string | null): PlatformError {
  try {
    const { code, message: text, details = null, hint = null } = JSON.parse(message)
    const { status, headers } = JSON.parse(detail ?? '')
    const flat = Object.entries(headers).flat().map(String)
    return new PlatformError(status, code, text, flat, { details: { details, hint } })
  } catch {
    return restError(500, 'PGRST121', `Could not parse JSON in the "RAISE SQLSTATE 'PGRST'" error`)
  }
}

function routineFor(request: RestRequest, { routines }: Catalogue): Routine {
  const { schema, name, method, args, body, contentType, columns } = request
  const isPost = method === 'POST'
  const isJson = /json/.test(contentType)
  const posted = () => (isJson ? rowsIn(body === '' ? '{}' : body, contentType, columns).keys : [])
  const keys = isPost ? posted() : [...new Set(args.map(([key]) => key))]
  const all = routines.get(keyOf(schema, name)) ?? []
  const fit = all.filter(one => takes(one.parameters, keys) && (isJson || !isPost || one.parameters.length > 0))
  const bodyTypes = isJson ? /^jsonb?$/ : /^(text|xml|bytea)$/
  const ofBody = all.filter(one => isPost && isOfBody(one) && bodyTypes.test(one.parameters[0]?.type ?? ''))
  const [found, ...others] = fit.length > 0 ? fit : ofBody
  if (found && others.length === 0) return found
  throw found
    ? ambiguousCall([found, ...others])
    : noFunction(request, keys.toSorted(), all.length > 0 ? all : [...routines.values()].flat())
}

/** Whether its only parameter has no name, so that it takes the body as a whole. */
export const isOfBody = ({ parameters: [only, ...more] }: Routine) => only?.name === '' && more.length === 0

const takes = (parameters: readonly RoutineParameter[], keys: readonly string[]) =>
  keys.every(key => parameters.some(({ name }) => name === key)) &&
  parameters.every(({ isRequired, name }) => !isRequired || keys.includes(name))

function ambiguousCall(all: readonly Routine[]) {
  const shown = all.map(({ parameters }) => parameters.map(one => `${one.name} => ${one.type}`).join(', '))
  const listed = shown.sort().map(parameters => `${all[0]?.schema}.${all[0]?.name}(${parameters})`)
  return restError(300, 'PGRST203', `Could not choose the best candidate function between: ${listed.join(', ')}`, {
    hint: 'Try renaming the parameters or the function itself in the database so function overloading can be resolved',
  })
}

function noFunction({ schema, name, method }: RestRequest, keys: readonly string[], known: readonly Routine[]) {
  const called = (list: readonly string[]) => (list.length === 0 ? ' without parameters' : `(${list.join(', ')})`)
  const searched =
    keys.length === 0 ? ' without parameters' : ` with parameter${keys.length > 1 ? 's' : ''} ${keys.join(', ')}`
  const orOfBody = method === 'POST' ? ' or with a single unnamed json/jsonb parameter' : ''
  const [same] = known.filter(one => one.schema === schema && one.name === name)
  const near = nearest(name, [...new Set(known.filter(one => one.schema === schema).map(one => one.name))])
  const meant = same ? name + called(same.parameters.map(one => one.name).toSorted()) : near
  return restError(
    404,
    'PGRST202',
    `Could not find the function ${schema}.${name}${called(keys)} in the schema cache`,
    {
      details: `Searched for the function ${schema}.${name}${searched}${orOfBody}, but no matches were found in the schema cache.`,
      hint: meant === undefined ? null : `Perhaps you meant to call the function ${schema}.${meant}`,
    },
  )
}

const commands: Readonly<Record<string, string>> = { GET: 'SELECT', PATCH: 'UPDATE', DELETE: 'DELETE' }

const policiesSql = `select string_agg(policyname, ', ' order by policyname) as names, count(*) as count from pg_policies
  where schemaname = $1 and tablename = $2 and cmd in ('ALL', $3) and roles && array['public', $4]::name[]`

/** Why a caller found no row, if the service role would have found some. */
async function whatIsHidden(plan: Plan, { engine }: Answering): Promise<string | undefined> {
  const { request, relation, counting, caller } = plan
  const { role } = caller
  const command = commands[request.method]
  if (!relation?.isSecured || role === 'service_role' || command === undefined) return undefined
  const policies = { sql: policiesSql, values: [relation.schema, relation.name, command, role] }
  const [, counted, found] = await engine.transaction(run =>
    run(settingsFor(plan, { ...caller, role: 'service_role' }), counting, policies),
  )
  const hidden = Number(counted?.rows[0]?.count ?? 0)
  const { names, count } = found?.rows[0] ?? {}
  if (hidden === 0) return undefined
  if (!names) return `0 rows: ${relation.name} has no policy for ${command} by ${role}, which hides ${hidden}`
  return `0 rows: ${count === '1' ? `policy ${names} hides` : `policies ${names} hide`} ${hidden}`
}
