/** What Standin sends fits the schemas of the protocol, whatever rules say and clients ask. */
import { specTypeSchemas as stateless } from '@modelcontextprotocol/client'
import * as sessions from '@modelcontextprotocol/sdk/types.js'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { protocolVersions, sessionVersions } from '../../src/rpc/versions.js'
import { runs } from '../runs.js'
import { platformWith, type Scene } from '../scene.js'

/** A schema of either client. */
interface FrameSchema {
  readonly '~standard': { validate(value: unknown): unknown }
}

/** The results of methods: up to 2025-11-25 by the client 1.x, since then by the client 2.x. */
const results: Readonly<Record<string, readonly [sessions: FrameSchema, stateless: FrameSchema]>> = {
  'tools/call': [sessions.CallToolResultSchema, stateless.CallToolResult],
  'tools/list': [sessions.ListToolsResultSchema, stateless.ListToolsResult],
  'resources/list': [sessions.ListResourcesResultSchema, stateless.ListResourcesResult],
  'resources/templates/list': [sessions.ListResourceTemplatesResultSchema, stateless.ListResourceTemplatesResult],
  'resources/read': [sessions.ReadResourceResultSchema, stateless.ReadResourceResult],
  'prompts/list': [sessions.ListPromptsResultSchema, stateless.ListPromptsResult],
  'prompts/get': [sessions.GetPromptResultSchema, stateless.GetPromptResult],
  'completion/complete': [sessions.CompleteResultSchema, stateless.CompleteResult],
}

const initializing: FrameSchema = sessions.InitializeResultSchema
const discovering: FrameSchema = stateless.DiscoverResult

type Frame = Readonly<Record<string, unknown>>

/** What is wrong with a frame; empty for one that is as the protocol has it. */
function mistakesIn(frame: Frame, method: string, isStateless: boolean): readonly unknown[] {
  const by = (schema: FrameSchema, value: unknown) => {
    const { issues = [] } = schema['~standard'].validate(value) as { readonly issues?: readonly unknown[] }
    return issues
  }
  const envelope = by(isStateless ? stateless.JSONRPCMessage : sessions.JSONRPCMessageSchema, frame)
  if ('method' in frame) {
    return [...envelope, ...by(isStateless ? stateless.ServerNotification : sessions.ServerNotificationSchema, frame)]
  }
  if (!('result' in frame)) return envelope
  const result = frame.result as Frame
  if (result.resultType === 'input_required')
    return [...envelope, ...Object.values(asked(result)).flatMap(one => by(stateless.ElicitRequest, one))]
  const named = results[method]?.[isStateless ? 1 : 0] ?? (isStateless ? discovering : initializing)
  const hasType = isStateless === (result.resultType === 'complete')
  return [...envelope, ...by(named, result), ...(hasType ? [] : [`resultType is ${result.resultType}`])]
}

const asked = ({ inputRequests }: Frame) => inputRequests as Readonly<Record<string, unknown>>

const look = { type: 'object', properties: { at: { type: 'string' } } }
const server = {
  tools: [
    { name: 'look', title: 'Look', description: 'Looks.', inputSchema: look, annotations: { readOnlyHint: true } },
    {
      name: 'measure',
      outputSchema: { type: 'object', properties: { celsius: { type: 'number' } }, required: ['celsius'] },
    },
  ],
  resources: [
    { uri: 'docs://text', text: 'Read me.', mimeType: 'text/plain' },
    { uri: 'docs://bytes', blob: 'AAEC', size: 3 },
  ],
  resourceTemplates: [{ uriTemplate: 'docs://{name}' }],
  prompts: [{ name: 'greet', description: 'Greets.', arguments: [{ name: 'who', required: true }] }],
  completions: { greet: { who: ['Ada', 'Grace'] } },
}

const meta = { _meta: { progressToken: 'p' } }
const calls: readonly (readonly [method: string, params: Frame])[] = [
  ...['tools/list', 'resources/list', 'resources/templates/list', 'prompts/list'].map(method => [method, {}] as const),
  ['tools/call', { name: 'look', arguments: { at: 'it' }, ...meta }],
  ['tools/call', { name: 'look', arguments: { at: 5 } }],
  ['tools/call', { name: 'measure', ...meta }],
  ['tools/call', { name: 'lost' }],
  ['resources/read', { uri: 'docs://text' }],
  ['resources/read', { uri: 'docs://bytes' }],
  ['resources/read', { uri: 'docs://other' }],
  ['prompts/get', { name: 'greet', arguments: { who: 'Ada' } }],
  ['prompts/get', { name: 'greet' }],
  ['completion/complete', { ref: { type: 'ref/prompt', name: 'greet' }, argument: { name: 'who', value: 'A' } }],
]

const word = fc.string({ minLength: 1 }).filter(text => !/\{[{%]/.test(text))
const base64 = fc.uint8Array().map(bytes => Buffer.from(bytes).toString('base64'))
const block = fc.oneof(
  fc.record({ type: fc.constant('text'), text: word }),
  fc.record({ type: fc.constantFrom('image', 'audio'), data: base64, mimeType: fc.constant('image/png') }),
  fc.record({ type: fc.constant('resource_link'), uri: fc.constant('docs://text'), name: word }),
  fc.record({ type: fc.constant('resource'), resource: fc.record({ uri: fc.constant('docs://text'), text: word }) }),
)
const onTheWay = {
  progress: fc.array(fc.record({ message: word }), { maxLength: 2 }),
  log: fc.array(fc.record({ data: word, level: fc.constantFrom('info', 'error') }), { maxLength: 2 }),
}
const reply = fc.oneof(
  fc.record({ text: word, isError: fc.boolean(), ...onTheWay }, { requiredKeys: ['text'] }),
  fc.record({ content: fc.array(block), ...onTheWay }, { requiredKeys: ['content'] }),
  fc.record({ structuredContent: fc.dictionary(fc.constantFrom('a', 'b'), fc.oneof(word, fc.integer())) }),
  fc.record({ error: fc.record({ code: fc.integer({ min: -32099, max: -32000 }), message: word }) }),
  fc.constant({
    text: 'Thanks.',
    ask: { who: { elicitation: { message: 'Who?', requestedSchema: { type: 'object', properties: {} } } } },
  }),
)

/** Sends a request, and gives back every message of the answer. */
async function framesOf(platform: Scene, body: Frame, headers: Record<string, string>): Promise<readonly Frame[]> {
  const answer = await platform.ask('/mcp', {
    method: 'POST',
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...body }),
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
  })
  const text = await answer.text()
  if (!answer.headers.get('content-type')?.includes('event-stream')) return [JSON.parse(text)]
  return [...text.matchAll(/^data: (.+)$/gm)].map(([, data = '']) => JSON.parse(data))
}

const VERSION = 'io.modelcontextprotocol/protocolVersion'
const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities'

/** A request of the stateless version, with all that belongs to it. */
function statelessCall(platform: Scene, method: string, params: Frame): Promise<readonly Frame[]> {
  const own = { [VERSION]: '2026-07-28', [CAPABILITIES]: { elicitation: {} } }
  const name = params.name ?? params.uri
  const headers = {
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': method,
    ...(name !== undefined && { 'mcp-name': String(name) }),
  }
  return framesOf(platform, { method, params: { ...params, _meta: { ...(params._meta as object), ...own } } }, headers)
}

test('every frame fits the schemas of its version', async () => {
  const platform = await platformWith({ mcp: server })
  const headers = new Map<string, Record<string, string>>()
  for (const protocolVersion of sessionVersions) {
    const params = { protocolVersion, capabilities: {}, clientInfo: { name: 'by hand', version: '1' } }
    const answer = await platform.ask('/mcp', {
      ...{ method: 'POST', headers: { 'content-type': 'application/json' } },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }),
    })
    headers.set(protocolVersion, { 'mcp-session-id': answer.headers.get('mcp-session-id') ?? '' })
    expect(mistakesIn((await answer.json()) as Frame, 'initialize', false)).toEqual([])
  }
  for (const frame of await statelessCall(platform, 'server/discover', {}))
    expect(mistakesIn(frame, 'server/discover', true)).toEqual([])

  const input = [fc.constantFrom(...protocolVersions), fc.option(reply)] as const
  const everyCallFits = fc.asyncProperty(...input, async (version, said) => {
    const given = said && (await platform.mcp.tool('look').reply(said))
    const session = headers.get(version)
    for (const [method, params] of calls) {
      const frames = await (session
        ? framesOf(platform, { method, params }, session)
        : statelessCall(platform, method, params))
      for (const frame of frames) expect([frame, mistakesIn(frame, method, !session)]).toEqual([frame, []])
    }
    await given?.remove()
  })
  await fc.assert(everyCallFits, { numRuns: runs(100) })
})
