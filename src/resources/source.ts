/** Answers requests for the paths of resources. */
import type { ResourceAction } from '../config/resource-options.js'
import { type Caller, type Exchange, jsonReply, type OwnPath, type PathSource, type Reply } from '../core/exchange.js'
import { lookupMethod } from '../core/paths.js'
import type { Json, State, Tables } from '../core/state.js'
import { createPathTree, paramsIn, pathOf, routeOf, stepsOfPath } from '../replies/index.js'
import { rowIn } from './body.js'
import { type ListQuery, listQuery } from './query.js'
import { type ReadyResource, valueIn } from './resource.js'
import {
  allRows,
  changeRow,
  etagOf,
  getRow,
  insertRow,
  listRows,
  type RowPage,
  type RowSet,
  removeRow,
  type Viewer,
} from './rows.js'
import { headOf, seededHead } from './seeds.js'

interface Parts {
  readonly state: State
  readonly now: () => number
}

const methods = {
  list: 'GET',
  create: 'POST',
  get: 'GET',
  update: 'PATCH',
  replace: 'PUT',
  delete: 'DELETE',
} as const satisfies Record<ResourceAction, string>

/** An endpoint, and the action of the resource that it stands for. */
interface ResourceEndpoint {
  readonly resource: ReadyResource
  readonly action: ResourceAction
  readonly own: OwnPath
}

export function createResourceSource(resources: readonly ReadyResource[], parts: Parts): PathSource {
  const tree = createPathTree<ResourceEndpoint>()
  const endpoints = resources.flatMap(resource => resource.only.map(action => endpointOf(resource, action)))
  for (const { route, spot } of endpoints) tree.put(route, spot)
  const at = (path: string) => tree.find(stepsOfPath(path))
  return {
    at: path => at(path).map(({ own }) => own),
    paths: () => endpoints.map(({ spot }) => spot.own),
    answer(exchange) {
      const method = lookupMethod(exchange.method)
      const spot = at(exchange.path).find(({ own }) => own.method === method)
      return spot && answerOf(spot, exchange, parts)
    },
  }
}

function endpointOf(resource: ReadyResource, action: ResourceAction) {
  const { path, params, access } = resource
  const isOfCollection = action === 'list' || action === 'create'
  const route = routeOf(`GET ${path}${isOfCollection ? '' : params.includes('id') ? '/:rowId' : '/:id'}`)
  const says = async () => (await import('./says.js')).describe(resource, action)
  return { route, spot: { resource, action, own: { method: methods[action], path: pathOf(route), access, says } } }
}

/** The input of an action. */
interface ResourceRequest {
  readonly exchange: Exchange
  readonly params: Readonly<Record<string, string>>
  /** The last step of the path. */
  readonly id: string
}

async function answerOf({ resource, action }: ResourceEndpoint, exchange: Exchange, parts: Parts): Promise<Reply> {
  const steps = stepsOfPath(exchange.path)
  const params = paramsIn(routeOf(`GET ${resource.path}`), steps)
  const request = { exchange, params, id: steps.at(-1) ?? '' }
  const reply = await (action === 'list' || action === 'get'
    ? readReply(resource, action, request, parts)
    : writeReply(resource, action, request, parts))
  return { ...reply, answeredBy: { kind: 'resource', path: resource.path } }
}

async function readReply(
  resource: ReadyResource,
  action: 'list' | 'get',
  request: ResourceRequest,
  { state, now }: Parts,
): Promise<Reply> {
  const { exchange, id } = request
  const query = listQuery(exchange.query, resource)
  const work = async (tables: Tables, set: RowSet) =>
    action === 'get'
      ? rowReply(request, set, (await getRow(tables, set, id)).row)
      : listReply(request, set, query, await listRows(tables, set, query))
  const opened = state
  const found = await opened.read(async tables => {
    const set = await rowSetOf(tables, resource, request, await headOf(tables, resource, exchange.scope))
    return set && work(tables, set)
  })
  const reply =
    found ??
    // The first request of a scope.
    (await opened.write(async tables => {
      const set = await rowSetOf(tables, resource, request, await seededHead(tables, resource, exchange.scope, now()))
      return work(tables, set as RowSet)
    }))
  return notModifiedOr(exchange, reply)
}

async function rowSetOf(
  tables: Tables,
  resource: ReadyResource,
  { exchange, params }: ResourceRequest,
  head: RowSet['head'] | undefined,
): Promise<RowSet | undefined> {
  return head && { resource, head, params, viewer: await viewerOf(tables, exchange.caller) }
}

async function writeReply(
  resource: ReadyResource,
  action: Exclude<ResourceAction, 'list' | 'get'>,
  request: ResourceRequest,
  { state, now }: Parts,
): Promise<Reply> {
  const { exchange, id } = request
  const body = action === 'delete' ? {} : rowIn(exchange)
  const ifMatch = exchange.headers['if-match']
  return state.write(async tables => {
    const head = await seededHead(tables, resource, exchange.scope, now())
    const set = (await rowSetOf(tables, resource, request, head)) as RowSet
    switch (action) {
      case 'create':
        return createdReply(request, set, await insertRow(tables, set, body, now()))
      case 'delete':
        await removeRow(tables, set, id, ifMatch)
        return { kind: 'reply', status: 204, contentType: '', body: '' } as const
      default: {
        const change = { id, body, keepsOmitted: action === 'update', ifMatch }
        return rowReply(request, set, await changeRow(tables, set, change, now()))
      }
    }
  })
}

/** Callers see their own rows, as with row-level security. An API key acts as its owner. */
async function viewerOf({ api_keys }: Tables, caller: Caller): Promise<Viewer> {
  if (caller.kind === 'service') return allRows
  if (caller.kind === 'user') return { user: caller.id, seesAll: false }
  const key = caller.kind === 'apiKey' ? await api_keys.get(caller.id) : undefined
  return { user: key?.user_id ?? null, seesAll: false }
}

function rowReply({ exchange, params }: ResourceRequest, { resource }: RowSet, row: Json): Reply {
  const body = resource.wraps.one({ row, params, caller: exchange.caller })
  return { ...jsonReply(body), headers: ['etag', etagOf(row)] }
}

function createdReply(request: ResourceRequest, set: RowSet, row: Json): Reply {
  const reply = rowReply(request, set, row)
  const id = encodeURIComponent(String(valueIn(row, set.resource.id.field)))
  return { ...reply, status: 201, headers: [...(reply.headers ?? []), 'location', `${request.exchange.path}/${id}`] }
}

function listReply(request: ResourceRequest, set: RowSet, query: ListQuery, found: RowPage): Reply {
  const { exchange, params } = request
  const rows = found.rows.map(({ row }) => row)
  const { total } = found
  const { page, limit } = query
  const pages = Math.max(1, Math.ceil(total / limit))
  const body = set.resource.wraps.list({ rows, total, page, pages, limit, params, caller: exchange.caller })
  const link = query.isPaged ? ['link', linksOf(exchange, page, pages)] : []
  const remark = isOwnerless(set) ? ownerlessRemark : undefined
  return { ...jsonReply(body), remark, headers: ['x-total-count', String(total), 'etag', etagOf(body), ...link] }
}

/** Explains an empty list in the log. */
const ownerlessRemark = () => 'Rows belong to users, and this credential belongs to no user, so it sees none.'

const isOwnerless = ({ resource, viewer }: RowSet) =>
  resource.owner !== undefined && viewer.user === null && !viewer.seesAll

/** The Link header (RFC 8288) with the same relations as those of json-server and GitHub. */
function linksOf({ path, query }: Exchange, page: number, pages: number): string {
  const linked = { first: 1, ...(page > 1 && { prev: page - 1 }), ...(page < pages && { next: page + 1 }), last: pages }
  return Object.entries(linked)
    .map(([rel, to]) => {
      const params = new URLSearchParams(query)
      params.set('_page', String(to))
      return `<${path}?${params}>; rel="${rel}"`
    })
    .join(', ')
}

/** The reply, or a 304 if the client has it already (RFC 9110 §13.1.2). */
function notModifiedOr({ headers }: Exchange, reply: Reply): Reply {
  const known = headers['if-none-match']?.split(',').map(tag => tag.trim().replace(/^W\//, '')) ?? []
  const [etag = ''] = (reply.headers ?? []).filter((_, i, all) => all[i - 1] === 'etag')
  if (!known.includes(etag) && !known.includes('*')) return reply
  return { ...reply, status: 304, contentType: '', body: '' }
}
