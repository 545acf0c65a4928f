import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { expect, onTestFinished, test } from 'vitest'
import type { RuleInput } from '../../src/replies/index.js'
import '../../src/vitest.js'
import { platformWith, type Scene } from '../scene.js'
import { eventsIn, post, session, stateless } from './by-hand.js'
import { connected } from './everything.js'

const weather = {
  name: 'get_weather',
  description: 'The weather in a city.',
  inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
}

const withRules = (...rules: RuleInput[]) => platformWith({ mcp: { tools: [weather] }, rules })

const saying = (text: string, more: object = {}): RuleInput => ({
  on: 'tools/call get_weather',
  reply: { text, ...more },
})

const inOslo = { name: 'get_weather', arguments: { city: 'Oslo' } }

test.each([
  ['2024-11-05', '2024-11-05'],
  ['2025-03-26', '2025-03-26'],
  ['2025-06-18', '2025-06-18'],
  ['2025-11-25', '2025-11-25'],
  ['2019-01-01', '2025-11-25'],
])('a client that offers version %s gets %s', async (asked, answered) => {
  expect((await session(await withRules(saying('Sunny.')), asked)).frame.result.protocolVersion).toBe(answered)
})

test.each([
  ['auto', '2026-07-28'],
  ['legacy', '2025-11-25'],
  [{ pin: '2026-07-28' }, '2026-07-28'],
] as const)('client 2.x works in mode %j, with version %s', async (mode, version) => {
  const platform = await withRules(saying('Sunny in {{ arguments.city }}, says {{ version }}.'))
  const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode } })
  const transport = new StreamableHTTPClientTransport(new URL(`${platform.url}/mcp`), {
    requestInit: { headers: { authorization: `Bearer ${platform.apiKey}` } },
  })
  await client.connect(transport)
  onTestFinished(() => client.close())
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['get_weather'])
  expect((await client.callTool(inOslo)).content).toEqual([{ type: 'text', text: `Sunny in Oslo, says ${version}.` }])
})

test('arguments that do not fit the schema are refused with the name of the field', async () => {
  const platform = await withRules(saying('Sunny.'))
  const { client } = await connected(platform)
  const call = client.callTool({ name: 'get_weather', arguments: { city: 5 } })
  await expect(call).rejects.toMatchObject({ code: -32602, message: expect.stringContaining('city') })
  const unknown = client.callTool({ name: 'get_wether', arguments: {} })
  await expect(unknown).rejects.toMatchObject({ code: -32602, message: expect.stringContaining('get_weather') })
})

test('with strict, a call without a rule is an error that names the nearest rule', async () => {
  const rule = { on: 'tools/call get_weather', name: 'bergen', when: { arguments: { city: 'Bergen' } } }
  const platform = await platformWith({
    ...{ strict: true, mcp: { tools: [weather] } },
    rules: [{ ...rule, reply: { text: 'Rain.' } }],
  })
  const { client } = await connected(platform)
  await expect(client.callTool(inOslo)).rejects.toMatchObject({
    message: expect.stringMatching(/No rule matches tools\/call get_weather.*rule "bergen".*arguments.city/),
  })
})

test('progress and log lines come before the result', async () => {
  const more = { progress: [{ message: 'asking' }, { message: 'reading' }], log: [{ data: 'asked' }] }
  const platform = await withRules(saying('Sunny.', more))
  const { client } = await connected(platform)
  const steps: unknown[] = []
  const onprogress = (step: unknown) => void steps.push(step)
  await client.callTool(inOslo, undefined, { onprogress })
  expect(steps).toEqual([
    { progress: 1, total: 2, message: 'asking' },
    { progress: 2, total: 2, message: 'reading' },
  ])
})

/** The rest of a stream, resumed after the last event that the client has seen. */
async function resumed(platform: Scene, headers: Record<string, string>, seen: string) {
  const last = [...seen.matchAll(/^id: (.*)$/gm)].at(-1)?.[1] ?? ''
  const again = await platform.ask('/mcp', {
    headers: { ...headers, accept: 'text/event-stream', 'last-event-id': last },
  })
  return again.text()
}

const callOf = (method: string, params: object = {}) => ({ jsonrpc: '2.0', id: 2, method, params })

test('a client resumes a stream that was cut with Last-Event-ID', async () => {
  const platform = await withRules(saying('Sunny.', { log: [{ data: 'asked' }], protocolFault: 'cut-stream' }))
  const { headers } = await session(platform)
  const cut = await (await post(platform, callOf('tools/call', inOslo), headers)).text()
  expect(cut).toContain('asked')
  expect(cut).not.toContain('Sunny')
  const rest = await resumed(platform, headers, cut)
  expect(rest).toContain('Sunny.')
  expect(rest).not.toContain('asked')
})

test('clients resume a stream that was cut before its first message', async () => {
  const platform = await withRules(saying('Sunny.', { protocolFault: 'cut-stream' }))
  const { client } = await connected(platform)
  expect((await client.callTool(inOslo)).content).toEqual([{ type: 'text', text: 'Sunny.' }])
  await platform.reply({ on: 'initialize', reply: { protocolFault: 'cut-stream' } })
  expect((await connected(platform)).client.getServerVersion()?.name).toBe('standin')
})

test('a session belongs to its caller, and ends with DELETE or when it expires', async () => {
  const platform = await withRules(saying('Sunny.'))
  const ping = { jsonrpc: '2.0', id: 2, method: 'ping' }
  const { headers } = await session(platform)
  expect((await post(platform, ping, headers)).status).toBe(200)
  const { accessToken } = await platform.signIn()
  const foreign = { ...headers, authorization: `Bearer ${accessToken}` }
  expect((await post(platform, ping, foreign)).status).toBe(404)
  expect((await platform.ask('/mcp', { method: 'DELETE', headers })).status).toBe(204)
  expect((await post(platform, ping, headers)).status).toBe(404)
  expect((await post(platform, ping)).status).toBe(400)
  const other = await session(platform)
  await platform.clock.advance(31 * 60_000)
  expect((await post(platform, ping, other.headers)).status).toBe(404)
})

test('a test sets the replies of a tool and sees its calls, and the journal names them', async () => {
  const platform = await withRules(saying('Sunny.'))
  const { client } = await connected(platform)
  const tool = platform.mcp.tool('get_weather')
  const given = await tool.reply(['Rain.', { isError: true, text: 'No more.' }])
  expect(await client.callTool(inOslo)).toMatchObject({ content: [{ text: 'Rain.' }] })
  expect(await client.callTool(inOslo)).toMatchObject({ isError: true })
  await given.remove()
  expect(await client.callTool(inOslo)).toMatchObject({ content: [{ text: 'Sunny.' }] })
  expect((await tool.calls()).map(call => call.arguments)).toEqual([
    { city: 'Oslo' },
    { city: 'Oslo' },
    { city: 'Oslo' },
  ])
  await client.listTools()
  const journal = `${platform.url}/__standin/journal?call=${encodeURIComponent('tools/call get_*')}`
  for (const form of ['', '&brief=true']) {
    const { data } = (await (await fetch(journal + form)).json()) as { data: { call: string }[] }
    expect(data.map(({ call }) => call)).toEqual(Array(3).fill('tools/call get_weather'))
  }
  expect((await platform.journal.find()).at(-1)?.source).toBe('MCP server /mcp')
})

test('toHaveCalledTool checks the calls of a tool, separately for each scope', async () => {
  const platform = await withRules(saying('Sunny.'))
  const scope = await platform.scope('a')
  await scope.mcp.tool('get_weather').reply('Rain.')
  const { client } = await connected({ url: platform.url, apiKey: scope.apiKey })
  expect(await client.callTool(inOslo)).toMatchObject({ content: [{ text: 'Rain.' }] })
  await expect(platform).toHaveCalledTool('get_weather', { city: expect.stringMatching(/^O/) })
  await expect(scope).toHaveCalledTool('get_weather')
  await expect(await platform.scope('b')).not.toHaveCalledTool('get_weather')
  const wrong = () => expect(platform).toHaveCalledTool('get_weather', { city: 'Bergen' })
  await expect(wrong()).rejects.toThrow(/^expect\(platform\).toHaveCalledTool[\s\S]*Bergen[\s\S]*nearest is POST \/mcp/)
})

test("a 401 has the platform's error body and names the protected resource metadata", async () => {
  const platform = await withRules(saying('Sunny.'))
  const url = `${platform.url}/.well-known/oauth-protected-resource/mcp`
  for (const path of ['/mcp', `/mcp?access_token=${platform.apiKey}&apikey=${platform.apiKey}`]) {
    const refused = await platform.ask(path, { method: 'POST', body: '{}', bearer: null })
    expect(refused.status).toBe(401)
    expect(refused.headers.get('www-authenticate')).toBe(`Bearer resource_metadata="${url}"`)
    expect(await refused.json()).toEqual({ error: expect.any(String) })
  }
  expect(await (await fetch(url)).json()).toMatchObject({ resource: `${platform.url}/mcp` })
  const foreign = await post(platform, '{}', { origin: 'https://evil.example' })
  expect(foreign.status).toBe(403)
})

test('the resource metadata names the auth backend if its tokens are accepted; the backend says that OAuth is disabled', async () => {
  const { url } = await platformWith({
    mcp: { '/both': {}, '/keys': { access: ['apiKey'] }, '/open': { access: 'anyone' } },
  })
  const named = async (path: string) => {
    const document = await (await fetch(`${url}/.well-known/oauth-protected-resource${path}`)).json()
    return (document as { authorization_servers?: string[] }).authorization_servers
  }
  expect([await named('/both'), await named('/keys'), await named('/open')]).toEqual([
    [`${url}/auth/v1`],
    undefined,
    undefined,
  ])
  const own = await fetch(`${url}/auth/v1/.well-known/oauth-authorization-server`)
  expect([own.status, await own.json()]).toMatchObject([404, { msg: 'OAuth server is disabled' }])
})

test.each([
  ['unauthorized', 401],
  ['insufficient-scope', 403],
  ['session-lost', 404],
  ['version-refused', 400],
] as const)('the fault %s causes a %i once', async (protocolFault, status) => {
  const platform = await withRules(
    { on: 'tools/call get_weather', times: 1, reply: { protocolFault } },
    saying('Sunny.'),
  )
  const { headers } = await session(platform)
  const call = { jsonrpc: '2.0', id: 2, method: 'tools/call', params: inOslo }
  expect((await post(platform, call, headers)).status).toBe(status)
  const next = await session(platform)
  expect(await (await post(platform, call, next.headers)).text()).toContain('Sunny.')
})

test('wrong-id answers with another id, and malformed-json with broken JSON', async () => {
  const platform = await withRules()
  const { headers } = await session(platform)
  const call = { jsonrpc: '2.0', id: 2, method: 'tools/call', params: inOslo }
  const tool = platform.mcp.tool('get_weather')
  await tool.reply({ text: 'Sunny.', protocolFault: 'wrong-id' })
  const other = (await (await post(platform, call, headers)).json()) as { id: number }
  expect(other).toMatchObject({ result: { content: [{ text: 'Sunny.' }] } })
  expect(other.id).not.toBe(call.id)
  await tool.reply({ text: 'Sunny.', protocolFault: 'malformed-json' })
  const broken = await (await post(platform, call, headers)).text()
  expect(broken).toMatch(/^{.*Sunny/)
  expect(() => JSON.parse(broken)).toThrow(SyntaxError)
})

test('a rule can make subscriptions/listen fail, at once or in the open stream', async () => {
  const platform = await withRules()
  const { body, headers } = stateless('subscriptions/listen', { notifications: { toolsListChanged: true } })
  const listen = () => post(platform, body, headers)
  const on = 'subscriptions/listen'
  await platform.reply({ on, times: 1, reply: { error: { code: -32050, message: 'Not now.' } } })
  expect(await (await listen()).json()).toMatchObject({ id: 1, error: { code: -32050 } })
  await platform.reply({ on, times: 1, reply: { protocolFault: 'unauthorized' } })
  expect((await listen()).status).toBe(401)
  await platform.reply({ on, times: 1, reply: { fault: { status: 503 } } })
  expect((await listen()).status).toBe(503)
  await platform.reply({ on, times: 1, reply: { fault: { cut: 1 } } })
  await expect((await listen()).text()).rejects.toThrow('terminated')
})

const whichCity = {
  message: 'Which city?',
  requestedSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
}

test.each([
  [{ action: 'accept', content: { name: 'Lima' } }, /^Asked, accept\.$/],
  [{ action: 'decline' }, /^Asked, decline\.$/],
  [{ action: 'accept', content: { name: 5 } }, /^-32602 .*name .* a string, not 5/],
  [{ action: 'accept' }, /^-32602 .*name is missing/],
])('an elicitation answered with %j results in %s, with and without a session', async (answer, expected) => {
  const ask = { city: { elicitation: whichCity } }
  const platform = await withRules(saying('Asked, {{ answers.city.action }}.', { ask }))
  for (const mode of ['legacy', 'auto'] as const) {
    const capabilities = { elicitation: {} }
    const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode }, capabilities })
    client.setRequestHandler('elicitation/create', async () => answer as never)
    const transport = new StreamableHTTPClientTransport(new URL(`${platform.url}/mcp`), {
      requestInit: { headers: { authorization: `Bearer ${platform.apiKey}` } },
    })
    await client.connect(transport)
    onTestFinished(() => client.close())
    const said = await client.callTool(inOslo).then(
      ({ content }) => (content as { text: string }[])[0]?.text,
      ({ code, message }) => `${code} ${message}`,
    )
    expect(said).toMatch(expected)
  }
})

test('an elicitation answer with an unknown action is refused', async () => {
  const platform = await withRules(saying('Asked.', { ask: { city: { elicitation: whichCity } } }))
  const inputResponses = { city: { action: 'agree' } }
  const { body, headers } = stateless('tools/call', { ...inOslo, inputResponses }, { elicitation: {} })
  const answer = await post(platform, body, headers)
  expect(await answer.json()).toMatchObject({
    error: { code: -32602, message: expect.stringContaining('the answer to city must have the action accept') },
  })
})

const askingForCity = { ask: { city: { elicitation: whichCity } } }
const able = { elicitation: {} }

test.each([
  [{ protocolFault: 'unauthorized' }, 401],
  [{ protocolFault: 'session-lost' }, 404],
  [{ fault: { status: 503 } }, 503],
] as const)('a rule with ask and %j is a %i at once', async (fault, status) => {
  const platform = await withRules({ ...saying('Asked.', { ...askingForCity, ...fault }), name: 'city' })
  const { headers } = await session(platform, '2025-11-25', able)
  expect((await post(platform, callOf('tools/call', inOslo), headers)).status).toBe(status)
})

test.each(['cut-stream', 'malformed-json', 'wrong-id'] as const)(
  'the fault %s of a rule with ask affects the result, and the journal names the rule',
  async protocolFault => {
    const platform = await withRules({ ...saying('Asked.', { ...askingForCity, protocolFault }), name: 'city' })
    const { headers } = await session(platform, '2025-11-25', able)
    const asking = await post(platform, callOf('tools/call', inOslo), headers)
    let seen = ''
    for await (const event of eventsIn(asking)) {
      seen += `${event}\n\n`
      const [, id] = /"id":"(standin-\d+)"/.exec(event) ?? []
      if (id) await post(platform, { jsonrpc: '2.0', id, result: { action: 'decline' } }, headers)
    }
    const result = /^data: (.*Asked\..*)$/m.exec(seen)?.[1]
    if (protocolFault === 'wrong-id') expect(JSON.parse(result ?? '').id).not.toBe(2)
    if (protocolFault === 'malformed-json') expect(() => JSON.parse(result ?? '')).toThrow(SyntaxError)
    if (protocolFault === 'cut-stream') expect(result).toBeUndefined()
    expect(await resumed(platform, headers, seen.replace(/id: .*\n.*\n.*Asked.*/, ''))).toContain('Asked.')
    expect((await platform.journal.waitFor({ body: { method: 'tools/call' } })).source).toContain('city')
  },
)
