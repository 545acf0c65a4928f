/** Clauses about MCP servers. Skipped if the target has none. */

import { isObject } from '../../core/json.js'
import { rpcCodes } from '../../rpc/frames.js'
import { sessionVersions, statelessVersions } from '../../rpc/versions.js'
import { jsonIn, jsonObject, status } from '../answer-checks.js'
import { type AnswerCheck, asking, type CallFor, type ClauseForm } from '../clause.js'
import {
  brokenMessage,
  discoverWithoutSessions,
  fromForeignPage,
  initializeWithSessions,
  listTools,
  mcpAnswerIn,
  metadataAddress,
  metadataDocument,
  opening,
  unknownMcpMethod,
  withoutCredential,
} from '../mcp-calls.js'

type Result = Readonly<Record<string, unknown>>

/** Expects a result; `differs` returns what is wrong with it. */
const result = (expected: string, differs: (result: Result) => string | undefined = () => undefined): AnswerCheck => ({
  expected,
  differs(answered) {
    const { result, error } = mcpAnswerIn(answered)
    if (error) return `the JSON-RPC error ${error.code}: ${error.message}`
    return result ? differs(result) : `no JSON-RPC result, with status ${answered.status}`
  },
})

const errorCode = (wanted: number): AnswerCheck => ({
  expected: `the JSON-RPC error ${wanted}`,
  differs(answered) {
    const { result, error } = mcpAnswerIn(answered)
    if (error) return error.code === wanted ? undefined : `the JSON-RPC error ${error.code}`
    return result ? 'a result' : `no JSON-RPC error, with status ${answered.status}`
  },
})

const knownVersion = result(`one of the protocolVersions ${sessionVersions.join(', ')}`, ({ protocolVersion }) =>
  (sessionVersions as readonly unknown[]).includes(protocolVersion)
    ? undefined
    : `protocolVersion ${JSON.stringify(protocolVersion)}`,
)

const knownVersions = result(
  `capabilities, and supportedVersions with ${statelessVersions.join(', ')}`,
  ({ supportedVersions: spoken, capabilities }) => {
    if (!isObject(capabilities)) return 'no capabilities'
    const isSpoken = Array.isArray(spoken) && statelessVersions.some(version => spoken.includes(version))
    return isSpoken ? undefined : `supportedVersions ${JSON.stringify(spoken)}`
  },
)

const toolList = result('tools with different names, each with an inputSchema of type object', ({ tools }) => {
  if (!Array.isArray(tools)) return 'no array of tools'
  const names = tools.map(tool => (isObject(tool) && typeof tool.name === 'string' ? tool.name : ''))
  if (names.includes('')) return 'a tool without a name'
  const duplicate = names.find((name, i) => names.indexOf(name) !== i)
  if (duplicate !== undefined) return `the tool ${JSON.stringify(duplicate)} twice`
  const odd = tools.findIndex(({ inputSchema }) => !isObject(inputSchema) || inputSchema.type !== 'object')
  return odd < 0 ? undefined : `the tool ${JSON.stringify(names[odd])} without an inputSchema of type object`
})

const namesMetadata: AnswerCheck = {
  expected: 'WWW-Authenticate: Bearer resource_metadata="…"',
  differs: ({ headers }) =>
    metadataAddress(headers) === undefined
      ? `WWW-Authenticate: ${headers.get('www-authenticate') ?? 'none'}`
      : undefined,
}

const namesAuthServer: AnswerCheck = {
  expected: 'authorization_servers with at least one address',
  differs({ text }) {
    const { authorization_servers: servers } = jsonIn(text).value as Result
    const isList = Array.isArray(servers) && servers.length > 0 && servers.every(one => URL.canParse(String(one)))
    return isList ? undefined : `authorization_servers ${JSON.stringify(servers)}`
  },
}

const decided = (
  id: string,
  what: string,
  needs: readonly string[],
  callFor: CallFor,
  ...checks: readonly AnswerCheck[]
): ClauseForm => ({
  ...{ id, section: 'Beyond the document', what, needs },
  quotes: [
    'Products in the suite, the behaviour of builder services and the behaviour of tool-protocol tools: not shown.',
  ],
  check: asking(callFor, ...checks),
})

const OPENS = 'MCP-1'
const REFUSES = 'MCP-D1'
const POINTS = 'MCP-D2'

export const mcpClauses: readonly ClauseForm[] = [
  {
    id: OPENS,
    section: 'What the service does',
    quotes: [
      'The key connects an application to the chat assistant, the language model, tool-protocol (MCP) tools and builder services.',
    ],
    what: 'The MCP server accepts an API key.',
    check: asking(opening, status(200), result('a JSON-RPC result')),
  },
  decided(REFUSES, 'The MCP server yields 401 without a credential.', [OPENS], withoutCredential, status(401)),
  decided(POINTS, 'A 401 of the MCP server names its metadata document.', [REFUSES], withoutCredential, namesMetadata),
  decided(
    'MCP-D3',
    'The metadata document of the MCP server needs no credential, and names an authorization server.',
    [POINTS],
    metadataDocument,
    ...[status(200), jsonObject, namesAuthServer],
  ),
  decided(
    'MCP-D4',
    'The MCP server answers initialize with a version of the protocol.',
    [OPENS],
    initializeWithSessions,
    knownVersion,
  ),
  decided(
    'MCP-D5',
    'The MCP server answers server/discover with its versions and capabilities.',
    [OPENS],
    discoverWithoutSessions,
    knownVersions,
  ),
  decided(
    'MCP-D6',
    'The tools of the MCP server have different names, and an inputSchema of type object.',
    [OPENS],
    listTools,
    toolList,
  ),
  decided(
    'MCP-D7',
    'An unknown method yields the JSON-RPC error -32601.',
    [OPENS],
    unknownMcpMethod,
    errorCode(rpcCodes.unknownMethod),
  ),
  decided(
    'MCP-D8',
    'A message that is not JSON yields the JSON-RPC error -32700.',
    [OPENS],
    brokenMessage,
    errorCode(rpcCodes.parse),
  ),
  decided(
    'MCP-D9',
    'The MCP server refuses web pages of other sites with status 403.',
    [OPENS],
    fromForeignPage,
    status(403),
  ),
]
