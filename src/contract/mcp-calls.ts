/** The calls of clauses about MCP servers: in a session, or without one if the server has no sessions. */
import { dataIn } from '../completions/events.js'
import { isObject } from '../core/json.js'
import type { RpcErrorBody } from '../rpc/frames.js'
import { metaKeys } from '../rpc/meta.js'
import { sessionVersions, statelessVersions } from '../rpc/versions.js'
import { jsonIn } from './answer-checks.js'
import { type Call, CallNotMade, type CallResult } from './call.js'
import { apiKeyOf, bearer, get, index } from './calls.js'
import type { CallFor } from './clause.js'
import type { Target } from './target.js'

/** The answer to a call, if there is one. */
interface McpAnswer {
  readonly result?: Readonly<Record<string, unknown>>
  readonly error?: Partial<RpcErrorBody>
}

/** Reads the answer from JSON or from the last event of a stream. */
export function mcpAnswerIn(answer: CallResult): McpAnswer {
  if (answer.kind === 'unanswered') return {}
  const { headers, text } = answer
  const isStream = /^text\/event-stream\b/i.test(headers.get('content-type') ?? '')
  const value = jsonIn(isStream ? (dataIn(Buffer.from(text)).at(-1) ?? '') : text).value
  const { result, error } = (value ?? {}) as McpAnswer
  return { ...(isObject(result) && { result }), ...(isObject(error) && { error }) }
}

const UNKNOWN_METHOD = 'there/is-no-such-method'
const foreignPage = 'https://there-is-no-such-page.example'
const client = { name: 'standin verify', version: '1.0.0' }
const latest = sessionVersions.at(-1) as string
const [STATELESS] = statelessVersions

const initialization = { protocolVersion: latest, capabilities: {}, clientInfo: client }

/** Without credentials of its own. */
async function post(target: Target, body: string, headers: Call['headers']): Promise<Call> {
  return {
    ...{ to: 'mcp', method: 'POST', path: await pathOf(target), body },
    headers: { accept: 'application/json, text/event-stream', 'content-type': 'application/json', ...headers },
  }
}

const message = (method: string, params: object) => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
const keyOf = (target: Target) => ({ authorization: bearer(apiKeyOf(target)) })

interface Listed {
  readonly method: string
  readonly path: string
  readonly credential?: unknown
}

async function pathOf(target: Target): Promise<string> {
  const path = target.mcpPath ?? (await listedServers(target))[0]?.path
  if (path === undefined) throw new CallNotMade('the API index lists no MCP server, and none is given')
  return path
}

/** The MCP servers in the API index. Empty if the index cannot be read. */
async function listedServers(target: Target): Promise<readonly Listed[]> {
  if (!target.credentials.anonKey) return []
  const result = await target.ask(await index(target))
  const { endpoints } = ((result.kind === 'answered' && jsonIn(result.text).value) || {}) as { endpoints?: unknown }
  const isServer = (one: unknown): one is Listed =>
    isObject(one) && one.method === 'POST' && typeof one.path === 'string' && isServerPath(one.path, target)
  return Array.isArray(endpoints) ? endpoints.filter(isServer) : []
}

const isServerPath = (path: string, { mcpPath }: Target) =>
  mcpPath === undefined ? /\/mcp$/.test(path) : path === mcpPath

export const initialize: CallFor = async target => post(target, message('initialize', initialization), keyOf(target))

export const discover: CallFor = async target => stateless('server/discover', target)

async function stateless(method: string, target: Target): Promise<Call> {
  const meta = { [metaKeys.version]: STATELESS, [metaKeys.clientInfo]: client, [metaKeys.capabilities]: {} }
  const headers = { 'mcp-protocol-version': STATELESS, 'mcp-method': method, ...keyOf(target) }
  return post(target, message(method, { _meta: meta }), headers)
}

/** A client's first call: `initialize`, or `server/discover` if the server has no sessions. */
export const opening: CallFor = async target => {
  const first = await initialize(target)
  if (!mcpAnswerIn(await target.ask(first)).error) return first
  const other = await discover(target)
  return mcpAnswerIn(await target.ask(other)).result ? other : first
}

/** Skipped if the server has no sessions. */
export const initializeWithSessions: CallFor = async target => {
  if (await isStateless(target)) throw new CallNotMade('the server has no versions with sessions')
  return initialize(target)
}

const isStateless = async (target: Target) => 'mcp-method' in (await opening(target)).headers

/** Skipped if the server only has versions with sessions. */
export const discoverWithoutSessions: CallFor = async target => {
  const call = await discover(target)
  const result = await target.ask(call)
  const isRefused = result.kind === 'answered' && result.status >= 400 && result.status < 500
  if (isRefused || mcpAnswerIn(result).error) throw new CallNotMade('the server has no version without sessions')
  return call
}

/** Sent in the session that `initialize` opened, with the body unchanged. */
async function inSession(target: Target, body: string): Promise<Call> {
  const initialized = await target.ask(await initialize(target))
  const id = initialized.kind === 'answered' ? initialized.headers.get('mcp-session-id') : null
  const version = mcpAnswerIn(initialized).result?.protocolVersion
  const isKnown = (sessionVersions as readonly unknown[]).includes(version)
  const headers = {
    ...keyOf(target),
    ...(id !== null && { 'mcp-session-id': id }),
    ...(isKnown && { 'mcp-protocol-version': String(version) }),
  }
  const ready = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })
  await target.ask(await post(target, ready, headers))
  return post(target, body, headers)
}

const calling =
  (method: string): CallFor =>
  async target =>
    (await isStateless(target)) ? stateless(method, target) : inSession(target, message(method, {}))

/** Skipped if the server does not announce tools. */
export const listTools: CallFor = async target => {
  const { result } = mcpAnswerIn(await target.ask(await opening(target)))
  if (!isObject(result?.capabilities) || !result.capabilities.tools) throw new CallNotMade('the server has no tools')
  return calling('tools/list')(target)
}

export const unknownMcpMethod: CallFor = calling(UNKNOWN_METHOD)

export const brokenMessage: CallFor = async target =>
  (await isStateless(target)) ? { ...(await discover(target)), body: '{' } : inSession(target, '{')

/** Skipped if the server is open to anyone. */
export const withoutCredential: CallFor = async target => {
  const call = await post(target, message('initialize', initialization), {})
  const [listed] = await listedServers(target)
  if (Array.isArray(listed?.credential) && listed.credential.length === 0)
    throw new CallNotMade('the server needs no credential')
  return call
}

/** From a web page of another site. */
export const fromForeignPage: CallFor = async target => {
  const call = await opening(target)
  return { ...call, headers: { ...call.headers, origin: foreignPage } }
}

/** The document that a 401 names. */
export const metadataDocument: CallFor = async target => {
  const result = await target.ask(await withoutCredential(target))
  const address = result.kind === 'answered' ? metadataAddress(result.headers) : undefined
  if (address === undefined) throw new CallNotMade('no 401 names the metadata document')
  if (!address.startsWith(`${target.url}/`)) throw new CallNotMade('the metadata document is on another server')
  return get(address.slice(target.url.length))
}

/** RFC 9728, section 5.1. */
export const metadataAddress = (headers: Headers): string | undefined =>
  /^Bearer\b.*\bresource_metadata="([^"]+)"/i.exec(headers.get('www-authenticate') ?? '')?.[1]
