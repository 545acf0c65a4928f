/** Answers requests for the paths of resources. */

import { emptyBody, invalidRequest, notJsonContent } from '../core/errors.js'
import type { Caller, Exchange, OwnPath, PathSource } from '../core/exchange.js'
import { exactJsonBody, isJsonType, isObject, requireUnencoded, stringifyExact } from '../core/json.js'
import { lookupMethod } from '../core/paths.js'
import { jsonReply, type Reply } from '../core/reply.js'
import { createPathTree, paramsIn, pathOf, routeOf, stepsOfPath } from '../replies/index.js'
import type { Json, ResourceHead, State, Tables } from '../state/rows.js'
import type { ResourceAction } from './options.js'
import { type ReadyResource, rowValue } from './resource.js'
import {
  allRows,
  changeRow,
  etagOf,
  getRow,
  insertRow,
  listQuery,
  listRows,
  type RowPage,
  type RowSet,
  removeRow,
  requireNoQuery,
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
  return { route, spot: { resource, action, own: { method: methods[action], path: pathOf(route), access } } }
}

interface ResourceRequest {
  readonly exchange: Exchange
  readonly resource: ReadyResource
  readonly params: Readonly<Record<string, string>>
  /** The last step of the path. */
  readonly id: string
}

async function answerOf({ resource, action }: ResourceEndpoint, exchange: Exchange, parts: Parts): Promise<Reply> {
  if (action !== 'list') requireNoQuery(exchange.query)
  const steps = stepsOfPath(exchange.path)
  const params = paramsIn(routeOf(`GET ${resource.path}`), steps)
  const request = { exchange, resource, params, id: steps.at(-1) ?? '' }
  const reply = await (action === 'list' || action === 'get'
    ? readReply(action, request, parts)
    : writeReply(action, request, parts))
  return { ...reply, answeredBy: { kind: 'resource', path: resource.path } }
}

async function readReply(action: 'list' | 'get', request: ResourceRequest, { state, now }: Parts): Promise<Reply> {
  const { exchange, resource, id } = request
  const query = listQuery(exchange.query)
  const read = async (tables: Tables, head: ResourceHead) => {
    const set = await rowSetOf(tables, request, head)
    return action === 'get'
      ? rowReply((await getRow(tables, set, id)).row)
      : listReply(set, await listRows(tables, set, query))
  }
  const found = await state.read(async tables => {
    const head = await headOf(tables, resource, exchange.scope)
    return head && read(tables, head)
  })
  // The first request of a scope adds the rows.
  const first = async (tables: Tables) => read(tables, await seededHead(tables, resource, exchange.scope, now()))
  return notModifiedOr(exchange, found ?? (await state.write(first)))
}

async function writeReply(
  action: Exclude<ResourceAction, 'list' | 'get'>,
  request: ResourceRequest,
  { state, now }: Parts,
): Promise<Reply> {
  const { exchange, resource, id } = request
  const body = action === 'delete' ? {} : rowIn(exchange)
  const ifMatch = exchange.headers['if-match']
  return state.write(async tables => {
    const set = await rowSetOf(tables, request, await seededHead(tables, resource, exchange.scope, now()))
    switch (action) {
      case 'create':
        return createdReply(request, await insertRow(tables, set, body, now()))
      case 'delete':
        await removeRow(tables, set, id, ifMatch)
        return { kind: 'reply', status: 204, contentType: '', body: '' } as const
      default: {
        const change = { id, body, keepsOmitted: action === 'update', ifMatch }
        return rowReply(await changeRow(tables, set, change, now()))
      }
    }
  })
}

async function rowSetOf(
  tables: Tables,
  { resource, params, exchange }: ResourceRequest,
  head: ResourceHead,
): Promise<RowSet> {
  return { resource, head, params, viewer: await viewerOf(tables, exchange.caller) }
}

/** Callers see their own rows, as with row-level security. An API key acts as its owner. */
async function viewerOf({ api_keys }: Tables, caller: Caller): Promise<Viewer> {
  if (caller.kind === 'service') return allRows
  if (caller.kind === 'user') return { user: caller.id, seesAll: false }
  const key = caller.kind === 'apiKey' ? await api_keys.get(caller.id) : undefined
  return { user: key?.user_id ?? null, seesAll: false }
}

/** A 200 in which long numbers keep their digits. */
const exactReply = (body: unknown) => ({ ...jsonReply(null), body: stringifyExact(body) })

const rowReply = (row: Json): Reply => ({ ...exactReply(row), headers: ['etag', etagOf(row)] })

function createdReply({ exchange, resource }: ResourceRequest, row: Json): Reply {
  const { headers = [], ...reply } = rowReply(row)
  const id = encodeURIComponent(String(rowValue(row, resource.id.field)))
  return { ...reply, status: 201, headers: [...headers, 'location', `${exchange.path}/${id}`] }
}

function listReply(set: RowSet, { rows, total }: RowPage): Reply {
  const body = rows.map(({ row }) => row)
  const remark = isOwnerless(set) ? ownerlessRemark : undefined
  return { ...exactReply(body), remark, headers: ['x-total-count', String(total), 'etag', etagOf(body)] }
}

/** Explains an empty list in the log. */
const ownerlessRemark = () => 'Rows belong to users, and this credential belongs to no user, so it sees none.'

const isOwnerless = ({ resource, viewer }: RowSet) =>
  resource.owner !== undefined && viewer.user === null && !viewer.seesAll

/** The reply, or a 304 if the client has it already (RFC 9110 §13.1.2). */
function notModifiedOr({ headers }: Exchange, reply: Reply): Reply {
  const known = headers['if-none-match']?.split(',').map(tag => tag.trim().replace(/^W\//, '')) ?? []
  const [etag = ''] = (reply.headers ?? []).filter((_, i, all) => all[i - 1] === 'etag')
  if (!known.includes(etag) && !known.includes('*')) return reply
  return { ...reply, status: 304, contentType: '', body: '' }
}

/** The row in the body. Throws a 400 or 415 if it is not a JSON object. */
function rowIn({ body, headers }: Pick<Exchange, 'body' | 'headers'>): Json {
  const { 'content-type': type, 'content-encoding': encoding } = headers
  if (type !== undefined && !isJsonType(type)) throw notJsonContent(type)
  requireUnencoded(encoding)
  if (!body || body.length === 0) throw emptyBody()
  const row = exactJsonBody(body)
  if (!isObject(row)) throw invalidRequest('The request body must be a JSON object.')
  return row as Json
}
