/** Answers requests to the paths of MCP servers. Loaded only if one is configured. */
import path from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { pathInWords } from '../check/check.js'
import { type Problem, ProblemsError, unreadable } from '../check/problem.js'
import { methodNotAllowed } from '../core/errors.js'
import type { Exchange, OwnPath, PathSource } from '../core/exchange.js'
import { isStateless, RpcError, sessionVersions } from '../core/json-rpc.js'
import type { Origins } from '../core/origins.js'
import { AUTH, lookupMethod } from '../core/paths.js'
import { jsonReply, type Reply } from '../core/reply.js'
import { readBodyFile } from '../replies/index.js'
import { schemaProblem } from './check-call.js'
import { errorReply } from './deliver.js'
import { endSession, generalStream } from './legacy.js'
import type { LoadedMcp } from './options.js'
import { mcpServerAt, mcpServers } from './options.js'
import { type PaceOf, postReply } from './post.js'
import { listChanged, type McpSessions, type RunningServer } from './sessions.js'

export { misfittingRules } from './check-output.js'
export { createMcpSessions, type McpSessions } from './sessions.js'

interface SourceParts extends Omit<RunningServer, 'path' | 'options' | 'readFile'> {
  readonly origins: Pick<Origins, 'requireOwnPage'>
  readonly paceOf: PaceOf
}

/** The servers of a configuration that `requireUsableServers` has accepted. */
export function mcpSource(loaded: LoadedMcp, { origins, paceOf, ...shared }: SourceParts): PathSource {
  const readFile = fileReader(loaded)
  const servers = [...mcpServers(loaded.config.mcp)].map(([path, options]) => ({
    ...shared,
    path,
    options,
    readFile,
  }))
  const endpoints = servers.flatMap(server => endpointsOf(server, paceOf))
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

interface ServerEndpoint {
  readonly own: OwnPath
  readonly answer: (exchange: Exchange) => Reply | Promise<Reply>
}

const publicGet = (path: string): OwnPath => ({ method: 'GET', path, access: 'anyone', isLocal: true })

/** The endpoints of a server, including that of its metadata document. */
function endpointsOf(server: RunningServer, paceOf: PaceOf): ServerEndpoint[] {
  const { path, options } = server
  const endpoint = (method: string, answer: ServerEndpoint['answer']): ServerEndpoint => ({
    own: { method, path, access: options.access, challenge: exchange => challenge(path, exchange) },
    answer,
  })
  const inSession = (method: string, answer: (server: RunningServer, exchange: Exchange) => Reply) =>
    endpoint(method, exchange => {
      const { method, headers } = exchange
      if (isStateless(String(headers['mcp-protocol-version']))) throw methodNotAllowed(method, ['POST'])
      return orErrorReply(() => answer(server, exchange))
    })
  const hasSessions = sessionVersions.some(version => options.protocolVersions.includes(version))
  return [
    endpoint('POST', async exchange => ({
      answeredBy: { kind: 'mcp', path },
      ...(await postReply(server, exchange, paceOf)),
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

const lists = ['tools', 'resources', 'resourceTemplates', 'prompts'] as const

/** Notifies the clients of all servers whose lists have changed in a reload. */
export function announceChanges(sessions: McpSessions, before: LoadedMcp, next: LoadedMcp): void {
  const servers = mcpServers(next.config.mcp)
  for (const [path, old] of mcpServers(before.config.mcp)) {
    const now = servers.get(path)
    const changed = now ? lists.filter(list => !isDeepStrictEqual(old[list], now[list])) : []
    const announced = new Set(changed.map(list => (list === 'resourceTemplates' ? 'resources' : list)))
    for (const list of announced) sessions.notify(path, undefined, listChanged(list))
  }
}
