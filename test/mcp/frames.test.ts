/** For any rule and request, what Standin sends fits the specification's own schema of the version. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isStateless, protocolVersions } from '../../src/core/json-rpc.js'
import { runs } from '../runs.js'
import { platformWith, type Scene } from '../scene.js'
import { clientByHand, framesIn, post, stateless } from './by-hand.js'
import { type Frame, mistakesIn } from './specification.js'

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
  prompts: [{ name: 'greet', description: 'Greets.', arguments: [{ name: 'who', required: true }] }, { name: 'meet' }],
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
  ['prompts/get', { name: 'meet' }],
  ['resources/read', { uri: 'docs://two' }],
  ['ping', {}],
  ['logging/setLevel', { level: 'debug' }],
  ['lost/method', {}],
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
const questions = fc.record(
  {
    user: fc.record({ elicitation: fc.constant({ message: 'Who?', requestedSchema: look }) }),
    model: fc.record({
      sampling: fc.constant({ messages: [{ role: 'user', content: { type: 'text', text: 'Who?' } }] }),
    }),
    roots: fc.constant({ roots: {} }),
  },
  { requiredKeys: [] },
)
const reply = fc.oneof(
  fc.record({ text: word, isError: fc.boolean(), ...onTheWay }, { requiredKeys: ['text'] }),
  fc.record({ content: fc.array(block), ...onTheWay }, { requiredKeys: ['content'] }),
  fc.record({ structuredContent: fc.dictionary(fc.constantFrom('a', 'b'), fc.oneof(word, fc.integer())) }),
  // Error codes that servers may choose; the protocol uses those from -32020 on.
  fc.record({ error: fc.record({ code: fc.integer({ min: -32019, max: -32000 }), message: word }) }),
  fc.record({ text: fc.constant('Thanks.'), ask: fc.oneof(questions, fc.array(questions, { maxLength: 2 })) }),
  fc.record({
    text: fc.constant('Changed.'),
    changed: fc.subarray(['tools' as const, 'resources' as const, 'prompts' as const]),
    updated: fc.subarray(['docs://text', 'docs://bytes']),
  }),
)

/** Kinds of content, some of which only newer versions have. */
const blocks = [
  { type: 'text', text: 'It.' },
  { type: 'audio', data: 'AAEC', mimeType: 'audio/wav' },
  { type: 'resource_link', uri: 'docs://text', name: 'text' },
]
const rules = [
  { on: 'prompts/get meet', reply: { messages: blocks.map(content => ({ role: 'user', content })) } },
  {
    on: 'resources/read docs://two',
    reply: { contents: ['a', 'b'].map(name => ({ uri: `docs://${name}`, text: name })) },
  },
  { on: 'completion/complete greet', when: { arguments: { who: 'G' } }, reply: { values: ['Grace'], hasMore: true } },
]

/** Opens the stream of notifications about changes. */
async function listening(platform: Scene, { call, headers }: Awaited<ReturnType<typeof clientByHand>>) {
  const kinds = ['toolsListChanged', 'promptsListChanged', 'resourcesListChanged'].map(kind => [kind, true])
  const notifications = { ...Object.fromEntries(kinds), resourceSubscriptions: ['docs://text'] }
  const listen = stateless('subscriptions/listen', { notifications })
  if (!('mcp-session-id' in headers)) return post(platform, listen.body, listen.headers)
  await call('resources/subscribe', { uri: 'docs://text' })
  return platform.ask('/mcp', { headers: { ...headers, accept: 'text/event-stream' } })
}

test.each(protocolVersions)('every frame fits the schema of %s', async version => {
  const platform = await platformWith({ mcp: server, rules })
  const client = await clientByHand(platform, version)
  const fits = (frames: readonly Frame[], method: string) => {
    for (const frame of frames) expect([frame, mistakesIn(frame, version, method)]).toEqual([frame, []])
  }
  fits(
    client.begun ? [client.begun] : await client.call('server/discover', {}),
    isStateless(version) ? 'server/discover' : 'initialize',
  )
  const stream = framesIn(await listening(platform, client))

  for (const [method, params] of calls) fits(await client.call(method, params), method)
  const everyReplyFits = fc.asyncProperty(reply, async said => {
    const given = await platform.mcp.tool('look').reply(said)
    fits(await client.call('tools/call', { name: 'look', ...meta }), 'tools/call')
    await given.remove()
  })
  await fc.assert(everyReplyFits, { numRuns: runs(200) })

  await platform.mcp.tool('look').reply({ text: 'Changed.', changed: ['tools'], updated: ['docs://text'] })
  await client.call('tools/call', { name: 'look' })
  await platform.reset()
  const received: Frame[] = []
  for await (const frame of stream) received.push(frame)
  fits(received, 'subscriptions/listen')
  expect(received.map(({ method }) => method)).toEqual(
    expect.arrayContaining(['notifications/tools/list_changed', 'notifications/resources/updated']),
  )
})
