/** MCP servers, as a source of answers on configured paths. Loaded only if one is configured. */
import path from 'node:path'
import { pathInWords } from '../check/check.js'
import { type Problem, ProblemsError, unreadable } from '../check/problem.js'
import type { LoadedConfig } from '../config/load.js'
import { mcpServerAt, mcpServers } from '../config/mcp-options.js'
import { methodNotAllowed } from '../core/errors.js'
import type { Exchange, OwnPath, PathSource, Reply } from '../core/exchange.js'
import type { Origins } from '../core/origins.js'
import { lookupMethod } from '../core/paths.js'
import { readBodyFile } from '../replies/index.js'
import { RpcError } from '../rpc/frames.js'
import { isStateless, sessionVersions } from '../rpc/versions.js'
import { troubleWith } from './called.js'
import type { RunningServer } from './context.js'
import { errorReply } from './deliver.js'
import { ended, generalStream } from './legacy.js'
import { challenge, metadata, WELL_KNOWN } from './metadata.js'
import type { McpOffers } from './offers.js'
import { type PaceOf, posted } from './post.js'

export { announceChanges, createMcpLists } from './manage.js'
export { createMcpOffers, type McpOffers } from './offers.js'
export { createRequestStates, type RequestStates } from './request-state.js'
export { createMcpSessions, type McpSessions } from './sessions.js'

interface Needed extends Omit<RunningServer, 'path' | 'options' | 'configured' | 'file'> {
  readonly origins: Pick<Origins, 'requireOwnPage'>
  readonly paceOf: PaceOf
  readonly offers: Pick<McpOffers, 'of'>
}

/** Rejects with a ProblemsError for schemas and files that cannot be used. */
export async function mcpSource(
  loaded: LoadedConfig,
  { origins, paceOf, offers, ...shared }: Needed,
): Promise<PathSource> {
  const file = (name: string) => readBodyFile(path.resolve(loaded.dir, name))
  const servers = [...mcpServers(loaded.config.mcp)].map(([path, options]) => ({
    ...{ ...shared, path, options, configured: options, file },
  }))
  await requireUsable(servers, loaded)
  const offering: Offering = (server, { scope }) => {
    const options = offers.of(server.path, server.options, scope)
    return options === server.options ? server : { ...server, options }
  }
  const answers = new Map(servers.flatMap(server => answersOf(server, offering, paceOf)))
  const [first] = servers
  if (first) answers.set(getting(WELL_KNOWN), exchange => metadata(first, exchange))
  const byPath = new Map<string, OwnPath[]>()
  for (const own of answers.keys()) byPath.set(own.path, [...(byPath.get(own.path) ?? []), own])
  return {
    at: path => byPath.get(path) ?? [],
    // The metadata documents are not listed.
    paths: () => [...answers.keys()].filter(({ path }) => !path.startsWith(WELL_KNOWN)),
    answer(exchange) {
      origins.requireOwnPage(exchange.headers)
      const method = lookupMethod(exchange.method)
      const own = byPath.get(exchange.path)?.find(one => one.method === method)
      return own && answers.get(own)?.(exchange)
    },
  }
}

/** The server as an exchange sees it. */
type Offering = (server: RunningServer, exchange: Exchange) => RunningServer

type Answering = (exchange: Exchange) => Reply | Promise<Reply>

const getting = (path: string): OwnPath => ({ method: 'GET', path, access: 'anyone', isLocal: true })

/** The paths of a server: its own, and that of its metadata document. */
function answersOf(
  server: RunningServer,
  offering: Offering,
  paceOf: PaceOf,
): readonly (readonly [OwnPath, Answering])[] {
  const { path, options } = server
  const own = (method: string): OwnPath => ({
    ...{ method, path, access: options.access },
    challenge: exchange => challenge(path, exchange),
  })
  const inSessions = (answer: (server: RunningServer, exchange: Exchange) => Reply) => (exchange: Exchange) => {
    const { method, headers } = exchange
    if (isStateless(String(headers['mcp-protocol-version']))) throw methodNotAllowed(method, ['POST'])
    return orError(() => answer(offering(server, exchange), exchange))
  }
  const hasSessions = sessionVersions.some(version => options.protocolVersions.includes(version))
  return [
    [
      own('POST'),
      async exchange => ({
        answeredBy: { kind: 'mcp', path },
        ...(await posted(offering(server, exchange), exchange, paceOf)),
      }),
    ],
    ...(hasSessions
      ? ([
          [own('GET'), inSessions(generalStream)],
          [own('DELETE'), inSessions(ended)],
        ] as const)
      : []),
    [getting(`${WELL_KNOWN}${path}`), exchange => metadata(server, exchange)],
  ]
}

function orError(answer: () => Reply): Reply {
  try {
    return answer()
  } catch (error) {
    if (error instanceof RpcError) return errorReply(error, undefined)
    throw error
  }
}

/** With such a mistake, every call of the tool or every reading of the resource would fail. */
async function requireUsable(servers: readonly RunningServer[], { placeOf, config, dir }: LoadedConfig): Promise<void> {
  const problems: Problem[] = []
  const files: string[] = []
  for (const { path: server, options, file } of servers) {
    const at = mcpServerAt(config.mcp, server)
    for (const [i, tool] of options.tools.entries()) {
      const sentence = troubleWith(tool)
      if (sentence !== undefined) problems.push({ ...placeOf([...at, 'tools', i, 'inputSchema']), sentence })
    }
    for (const [i, { file: name }] of options.resources.entries()) {
      if (name === undefined) continue
      const option = [...at, 'resources', i, 'file']
      files.push(path.resolve(dir, name))
      await file(name).catch(error =>
        problems.push({
          ...placeOf(option),
          sentence: `${pathInWords(option)}: ${name} ${unreadable('', error).sentence}`,
        }),
      )
    }
  }
  if (problems.length > 0) throw new ProblemsError(problems, files)
}
