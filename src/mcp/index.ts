/** Answers requests to the paths of MCP servers. Loaded only if one is configured. */
import path from 'node:path'
import { pathInWords } from '../check/check.js'
import { type Problem, ProblemsError, unreadable } from '../check/problem.js'
import { methodNotAllowed } from '../core/errors.js'
import type { Exchange, OwnPath, PathSource } from '../core/exchange.js'
import { isStateless, RpcError, sessionVersions } from '../core/json-rpc.js'
import type { Origins } from '../core/origins.js'
import { AUTH, lookupMethod } from '../core/paths.js'
import { jsonReply, type Reply } from '../core/reply.js'
import { readBodyFile } from '../replies/index.js'
import type { McpOverrides } from './changes.js'
import { schemaProblem } from './check-call.js'
import { errorReply } from './deliver.js'
import { endSession, generalStream } from './legacy.js'
import type { LoadedMcp } from './options.js'
import { mcpServerAt, mcpServers } from './options.js'
import { type PaceOf, postReply } from './post.js'
import type { RunningServer } from './sessions.js'

export { announceChanges, createMcpLists, createMcpOverrides, type McpOverrides } from './changes.js'
export { misfittingRules } from './check-output.js'
export { createMcpSessions, type McpSessions } from './sessions.js'

interface SourceParts extends Omit<RunningServer, 'path' | 'options' | 'configured' | 'readFile'> {
  readonly origins: Pick<Origins, 'requireOwnPage'>
  readonly paceOf: PaceOf
  readonly overrides: Pick<McpOverrides, 'apply'>
}

/** The servers of a configuration that `requireUsableServers` has accepted. */
export function mcpSource(loaded: LoadedMcp, { origins, paceOf, overrides, ...shared }: SourceParts): PathSource {
  const readFile = fileReader(loaded)
  const servers = [...mcpServers(loaded.config.mcp)].map(([path, options]) => ({
    ...shared,
    path,
    options,
    configured: options,
    readFile,
  }))
  const serverFor: ServerFor = (server, { scope }) => {
    const options = overrides.apply(server.path, server.options, scope)
    return options === server.options ? server : { ...server, options }
  }
  const endpoints = servers.flatMap(server => endpointsOf(server, serverFor, paceOf))
  const [first] = servers
  if (first) endpoints.push({ own: publicGet(WELL_KNOWN), answer: exchange => metadata(first, exchange) })
  const at = (path: string) => endpoints.filter(({ own }) => own.path === path)
  return {
    at: path => at(path).map(({ own }) => own),
    // The metadata documents are not listed.
    paths: () => endpoints.map(({ own }) => own).filter(({ path }) => !path.startsWith(WELL_KNOWN)),
    answer(exchange) {
      origins.requireOwnPage(exchange.headers)
      const method = lookupMethod(exchange.method)
      return at(exchange.path)
        .find(({ own }) => own.method === method)
        ?.answer(exchange)
    },
  }
}

/** Returns the server with the run-time changes for the scope of an exchange. */
type ServerFor = (server: RunningServer, exchange: Exchange) => RunningServer

interface ServerEndpoint {
  readonly own: OwnPath
  readonly answer: (exchange: Exchange) => Reply | Promise<Reply>
}

const publicGet = (path: string): OwnPath => ({ method: 'GET', path, access: 'anyone', isLocal: true })

/** The endpoints of a server, including that of its metadata document. */
function endpointsOf(server: RunningServer, serverFor: ServerFor, paceOf: PaceOf): ServerEndpoint[] {
  const { path, options } = server
  const endpoint = (method: string, answer: ServerEndpoint['answer']): ServerEndpoint => ({
    own: { method, path, access: options.access, challenge: exchange => challenge(path, exchange) },
    answer,
  })
  const inSession = (method: string, answer: (server: RunningServer, exchange: Exchange) => Reply) =>
    endpoint(method, exchange => {
      const { method, headers } = exchange
      if (isStateless(String(headers['mcp-protocol-version']))) throw methodNotAllowed(method, ['POST'])
      return orErrorReply(() => answer(serverFor(server, exchange), exchange))
    })
  const hasSessions = sessionVersions.some(version => options.protocolVersions.includes(version))
  return [
    endpoint('POST', async exchange => ({
      answeredBy: { kind: 'mcp', path },
      ...(await postReply(serverFor(server, exchange), exchange, paceOf)),
    })),
    ...(hasSessions ? [inSession('GET', generalStream), inSession('DELETE', endSession)] : []),
    { own: publicGet(`${WELL_KNOWN}${path}`), answer: exchange => metadata(server, exchange) },
  ]
}

function orErrorReply(answer: () => Reply): Reply {
  try {
    return answer()
  } catch (error) {
    if (error instanceof RpcError) return errorReply(error, undefined)
    throw error
  }
}

/** Files are relative to the configuration. */
const fileReader =
  ({ dir }: LoadedMcp) =>
  (name: string) =>
    readBodyFile(path.resolve(dir, name))

/** Rejects with a ProblemsError for tools and resources that could not be used at all. */
export async function requireUsableServers(loaded: LoadedMcp): Promise<void> {
  const { placeOf, config, dir } = loaded
  const readFile = fileReader(loaded)
  const problems: Problem[] = []
  const files: string[] = []
  for (const [server, options] of mcpServers(config.mcp)) {
    const serverOption = mcpServerAt(config.mcp, server)
    for (const [i, tool] of options.tools.entries()) {
      const problem = schemaProblem(tool)
      if (problem) problems.push({ ...placeOf([...serverOption, 'tools', i, problem.key]), sentence: problem.sentence })
    }
    for (const [i, { file: name }] of options.resources.entries()) {
      if (name === undefined) continue
      const option = [...serverOption, 'resources', i, 'file']
      files.push(path.resolve(dir, name))
      await readFile(name).catch(error =>
        problems.push({
          ...placeOf(option),
          sentence: `${pathInWords(option)}: ${name} ${unreadable('', error).sentence}`,
        }),
      )
    }
  }
  if (problems.length > 0) throw new ProblemsError(problems, files)
}

/** RFC 9728: the documents that say which credentials a server accepts. The header of a 401 points to them. */
const WELL_KNOWN = '/.well-known/oauth-protected-resource'

/** The address that the client used to reach us. */
const baseOf = ({ headers: { host } }: Pick<Exchange, 'headers'>) => `http://${host ?? 'localhost'}`

/** The header of a 401. */
const challenge = (path: string, exchange: Pick<Exchange, 'headers'>): string =>
  `Bearer resource_metadata="${baseOf(exchange)}${WELL_KNOWN}${path}"`

/**
 * Names the auth backend if the server accepts user tokens, because the backend issues them. API keys come from the
 * dashboard, so they have no authorization server. The backend is not an OAuth server, so no scopes are listed.
 */
const metadata = ({ path, options }: RunningServer, exchange: Exchange): Reply =>
  jsonReply({
    resource: `${baseOf(exchange)}${path}`,
    resource_name: options.title ?? options.name,
    ...(options.access !== 'anyone' &&
      options.access.includes('user') && { authorization_servers: [`${baseOf(exchange)}${AUTH}`] }),
    bearer_methods_supported: ['header'],
  })
