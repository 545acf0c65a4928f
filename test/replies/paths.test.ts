import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { createPathTree, type Route, routeOf } from '../../src/replies/http/route.js'
import type { RuleInput } from '../../src/replies/index.js'
import { folderWith } from '../command.js'
import { liveWith, tape } from '../recordings/live.js'
import { runs } from '../runs.js'
import { platformWith, refusalOf } from '../scene.js'
import { NEAREST } from '../sentences.js'
import '../../src/vitest.js'

const withRules = (...rules: RuleInput[]) => platformWith({ rules })

const json = (body: unknown) => ({
  method: 'POST',
  body: JSON.stringify(body),
  headers: { 'content-type': 'application/json' },
})

test('a rule on a path answers with values from the request', async () => {
  const platform = await withRules({
    on: 'POST /builder/projects/:id/deploy',
    when: { body: { target: 'staging' }, query: { dry: '1' }, header: { 'x-tenant': 'acme' } },
    reply: {
      status: 202,
      headers: { location: '/builder/deployments/{{ params.id }}-1' },
      json: { id: '{{ params.id }}', parts: '{{ body.parts }}', by: '{{ caller.kind }}' },
    },
  })
  const asked = json({ target: 'staging', parts: 3 })
  const answer = await platform.ask('/builder/projects/p%201/deploy?dry=1', {
    ...asked,
    headers: { ...asked.headers, 'x-tenant': 'acme' },
  })
  expect(answer.status).toBe(202)
  expect(answer.headers.get('location')).toBe('/builder/deployments/p%201-1')
  expect(await answer.json()).toEqual({ id: 'p 1', parts: 3, by: 'apiKey' })
})

test('addresses in headers are percent-encoded; other characters that no header may have are a 500 that names the rule', async () => {
  const said = '{{ query.name }}'
  const platform = await withRules(
    {
      on: 'GET /builder/go',
      reply: { status: 302, headers: { location: `/x/${said}`, link: `</y/${said}>; rel="a"` } },
    },
    { name: 'greeting', on: 'GET /builder/hi', reply: { headers: { 'x-greeting': `Hello ${said}` } } },
  )
  const ask = (where: string, name: string) =>
    platform.ask(`/builder/${where}?name=${encodeURIComponent(name)}`, { redirect: 'manual' })
  const { headers } = await ask('go', 'a b€ü\n%41%')
  expect(headers.get('location')).toBe('/x/a%20b%E2%82%AC%C3%BC%0A%41%25')
  expect(headers.get('link')).toBe('</y/a%20b%E2%82%AC%C3%BC%0A%41%25>; rel="a"')
  expect((await ask('hi', 'Zoë')).headers.get('x-greeting')).toBe('Hello Zoë')
  for (const name of ['€', 'a\r\nx-evil: 1']) {
    const error = expect.stringMatching(/rule "greeting" failed\. The header x-greeting would have a character/)
    const answer = await ask('hi', name)
    expect([answer.status, await answer.json()]).toEqual([500, { error }])
    expect((await platform.journal.last())?.error).toEqual(error)
  }
})

test('a fixed header with a character that no header may have is refused when rules are read', async () => {
  const wrong = withRules({ on: 'GET /builder/hi', reply: { headers: { 'x-price': '5 €' } } })
  await expect(wrong).rejects.toThrow('[0].reply.headers.x-price: The header x-price would have a character')
})

test('a path of a rule requires a credential, and an unknown path is a 404 even without one', async () => {
  const platform = await withRules(
    { on: 'GET /builder/projects', reply: { json: [] } },
    { on: 'GET /api/v1/plans', reply: { json: [] } },
    { on: 'GET /builder/status', access: 'anyone', reply: { text: 'up' } },
  )
  const anonymous = { bearer: null }
  expect((await platform.ask('/builder/projects', anonymous)).status).toBe(401)
  expect((await platform.ask('/builder/projects', { bearer: platform.anonKey })).status).toBe(401)
  expect((await platform.ask('/builder/projects')).status).toBe(200)
  expect((await platform.ask('/api/v1/plans', { bearer: platform.anonKey })).status).toBe(200)
  expect(await (await platform.ask('/builder/status', anonymous)).text()).toBe('up')
  const missing = await platform.ask('/builder/nowhere', anonymous)
  expect([missing.status, await missing.json()]).toEqual([404, { error: 'Not found.', path: '/builder/nowhere' }])
})

test('a method without a rule is a 405 that lists the allowed ones', async () => {
  const platform = await withRules(
    { on: 'GET /builder/projects', reply: { json: [] } },
    { on: 'POST /builder/projects', reply: { status: 201 } },
  )
  const answer = await platform.ask('/builder/projects', { method: 'DELETE' })
  expect(answer.status).toBe(405)
  expect(answer.headers.get('allow')).toBe('GET, HEAD, POST, OPTIONS')
  expect((await platform.ask('/builder/projects', { method: 'HEAD' })).status).toBe(200)
})

test('if no condition holds, the client gets a 404 and the journal names the nearest rule', async () => {
  const platform = await withRules({
    name: 'deploy',
    on: 'POST /builder/deploy',
    when: { body: { target: 'staging' } },
    reply: { status: 202 },
  })
  const answer = await platform.ask('/builder/deploy', json({ target: 'production' }))
  expect([answer.status, await answer.json()]).toEqual([404, { error: 'Not found.', path: '/builder/deploy' }])
  const exchange = await platform.journal.last({ path: '/builder/deploy' })
  expect(exchange?.hint).toBe(`${NEAREST} rule "deploy" (rules[0]): body.target is not "staging".`)
})

test('a literal segment takes precedence over a parameter, and a parameter over a wildcard', async () => {
  const platform = await withRules(
    { on: 'GET /files/*path', reply: { text: 'all of {{ params.path }}' } },
    { on: 'GET /files/{id}', reply: { text: 'the one called {{ params.id }}' } },
    { on: 'GET /files/latest', reply: { text: 'the latest' } },
    { on: 'GET /files/first', priority: -1, reply: { text: 'never' } },
  )
  const said = async (path: string) => (await platform.ask(path)).text()
  expect(await said('/files/latest')).toBe('the latest')
  expect(await said('/files/7')).toBe('the one called 7')
  expect(await said('/files/a/b')).toBe('all of a/b')
  expect(await said('/files/first')).toBe('the one called first')
})

test('conditions and templates see forms and their files like JSON', async () => {
  const platform = await withRules(
    {
      on: 'POST /upload',
      when: { body: { count: 2, plan: ['pro', 'team'] } },
      reply: { text: 'form {{ body.plan }}' },
    },
    { on: 'POST /upload', when: { body: { 'photo.type': 'image/*' } }, reply: { text: '{{ body.photo.filename }}' } },
    {
      on: 'POST /upload',
      when: { text: '/^<order/' },
      reply: { headers: { 'content-type': 'application/xml' }, text: '<ok/>' },
    },
  )
  const form = await platform.ask('/upload', { method: 'POST', body: new URLSearchParams({ count: '2', plan: 'pro' }) })
  expect(await form.text()).toBe('form pro')
  const parts = new FormData()
  parts.set('photo', new File(['…'], 'me.png', { type: 'image/png' }))
  expect(await (await platform.ask('/upload', { method: 'POST', body: parts })).text()).toBe('me.png')
  const xml = await platform.ask('/upload', {
    method: 'POST',
    body: '<order id="1"/>',
    headers: { 'content-type': 'text/xml' },
  })
  expect([xml.headers.get('content-type'), await xml.text()]).toEqual(['application/xml', '<ok/>'])
})

test('a text is sent as UTF-8 and labelled so, and the bytes of a file as they are', async () => {
  const headers = { 'content-type': 'text/plain; charset="iso-8859-1"; format=flowed' }
  const latin1 = Buffer.from('caf\u00e9', 'latin1')
  const name = path.join(folderWith(), 'latin1.txt')
  writeFileSync(name, latin1)
  const platform = await platformWith({
    rules: [
      { on: 'GET /text', reply: { headers, text: 'caf\u00e9' } },
      { on: 'GET /file', reply: { headers, file: name } },
    ],
  })
  const text = await platform.ask('/text')
  expect(text.headers.get('content-type')).toBe('text/plain; charset=utf-8; format=flowed')
  expect(await text.text()).toBe('caf\u00e9')
  const file = await platform.ask('/file')
  expect(file.headers.get('content-type')).toBe(headers['content-type'])
  expect(Buffer.from(await file.arrayBuffer())).toEqual(latin1)
})

test('a body that does not match its Content-Type gets a 400', async () => {
  const platform = await withRules({ on: 'POST /upload', reply: { status: 204 } })
  const send = async (type: string, body: string) =>
    refusalOf(await platform.ask('/upload', { method: 'POST', body, headers: { 'content-type': type } }))
  expect(await send('application/json', '{')).toMatchObject({ status: 400 })
  expect(await send('multipart/form-data; boundary=x', 'no parts')).toMatchObject({
    status: 400,
    body: { error: 'The request body is not the multipart form that its Content-Type says it is.' },
  })
})

test('events are streamed at their pace, and a fault cuts them like any stream', async () => {
  const events = [
    { event: 'line', data: { text: 'building' } },
    { event: 'line', data: 'done\n{{ params.id }}' },
  ]
  const platform = await withRules(
    { on: 'GET /log/:id', reply: { events }, pace: { tokensPerSecond: 1000 } },
    { on: 'GET /cut/:id', reply: { events, fault: { cut: 1 } }, pace: { tokensPerSecond: 1000 } },
  )
  const stream = await platform.ask('/log/7')
  expect(stream.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
  expect(await stream.text()).toBe('event: line\ndata: {"text":"building"}\n\nevent: line\ndata: done\ndata: 7\n\n')
  await expect(platform.ask('/cut/7').then(cut => cut.text())).rejects.toThrow()
})

test('a documented endpoint keeps its answer, and a rule can only make it fail', async () => {
  const platform = await withRules({
    on: 'GET /v1/models',
    when: { header: { 'x-broken': 'yes' } },
    reply: { fault: { status: 503 } },
  })
  expect((await platform.ask('/v1/models', { headers: { 'x-broken': 'yes' } })).status).toBe(503)
  expect((await platform.ask('/v1/models')).status).toBe(200)
  const mine = withRules({ on: 'GET /health', reply: { json: { status: 'fine' } } })
  await expect(mine).rejects.toThrow(
    "rules: [0] is for GET /health, whose answer the platform's document defines: it can only set a fault.",
  )
})

test.each([
  ['GET /__standin/x', "is below /__standin, which is Standin's own"],
  ['/x', 'is not a method and a path'],
  ['GET /:a/{a}', 'has two parameters with the same name'],
  ['GET /files/{name}.json', 'has braces in a segment'],
  ['GET /*/x', 'has something after *'],
  ['GET /q?action=list', 'has a query: use when.query for it'],
])('%s is not a route: it %s', async (on, why) => {
  await expect(withRules({ on, reply: { text: 'x' } })).rejects.toThrow(`which ${why}`)
})

test('a file is sent as the body, with its content type and every byte', async () => {
  const dir = folderWith({
    'standin.yaml': 'replies: rules.yaml\n',
    'rules.yaml': '- on: GET /logo\n  reply: { file: logo.png }\n- on: GET /doc\n  reply: { file: a.json.liquid }\n',
  })
  const bytes = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 255])
  writeFileSync(path.join(dir, 'logo.png'), bytes)
  writeFileSync(path.join(dir, 'a.json.liquid'), '{ "at": "{{ path }}" }')
  const platform = await platformWith({ config: path.join(dir, 'standin.yaml'), state: 'memory' })
  const logo = await platform.ask('/logo')
  expect(logo.headers.get('content-type')).toBe('image/png')
  expect(Buffer.from(await logo.arrayBuffer())).toEqual(bytes)
  expect(await (await platform.ask('/doc')).json()).toEqual({ at: '/doc' })
})

test('the paths of rules are listed in the index and described in the OpenAPI document', async () => {
  const rule: RuleInput = { on: 'GET /builder/projects/:id', access: ['user'], reply: { json: {} } }
  const listed = async (options: Parameters<typeof platformWith>[0]) => {
    const platform = await platformWith({ rules: [rule], ...options })
    const jsonOf = async (answer: Promise<Response>): Promise<unknown> => (await answer).json()
    return {
      index: await jsonOf(platform.ask('/api/v1', { bearer: platform.anonKey })),
      document: await jsonOf(fetch(`${platform.url}/__standin/openapi.json`)),
    }
  }
  const all = await listed({})
  const own = { method: 'GET', path: '/builder/projects/{id}', credential: ['user'] }
  expect(all.index).toMatchObject({ endpoints: [{}, {}, {}, {}, own] })
  const described = { security: [{ user: [] }], parameters: [{ name: 'id', in: 'path' }] }
  expect(all.document).toMatchObject({ paths: { '/builder/projects/{id}': { get: described } } })
})

test('a live answer on the path of a rule in a file is recorded and replayed, and requires a credential here', async () => {
  const live = await liveWith((_request, response) =>
    response.setHeader('content-type', 'application/json').end('{"from":"live"}'),
  )
  const scene = tape(live.url)
  const dir = folderWith({ 'rules.yaml': '- on: POST /builder/deploy\n  reply: { json: { from: rule } }\n' })
  const replies = path.join(dir, 'rules.yaml')
  const recording = await scene.recording({ replies })
  const deploy = (platform: typeof recording, bearer?: null) =>
    platform.ask('/builder/deploy', { ...json({ target: 'staging' }), ...(bearer === null && { bearer }) })
  expect(await (await deploy(recording)).json()).toEqual({ from: 'live' })
  expect((await deploy(recording, null)).status).toBe(401)
  await recording.stop()
  const replaying = await scene.replaying({ replies })
  expect(await (await deploy(replaying)).json()).toEqual({ from: 'live' })
})

test('a test can add a path and assert on what the app sent there', async () => {
  const platform = await platformWith()
  const busy = await platform.reply({
    on: 'POST /builder/deploy',
    reply: { status: 409, json: { error: 'Busy.' } },
    times: 1,
  })
  expect((await platform.ask('/builder/deploy', json({ target: 'staging' }))).status).toBe(409)
  expect(await busy.count).toBe(1)
  await expect(platform).toHaveReceived({ path: '/builder/deploy', body: { target: 'staging' } })
})

const page = readFileSync(new URL('../../docs/own-endpoints.md', import.meta.url), 'utf8')
const [, written = ''] = /^```yaml\n(.*?)^```/ms.exec(page) ?? []

test('the rules of the page on own endpoints answer as documented', async () => {
  const dir = folderWith({ 'rules.yaml': written })
  writeFileSync(path.join(dir, 'standin.yaml'), 'replies: rules.yaml\n')
  const platform = await platformWith({ config: path.join(dir, 'standin.yaml'), state: 'memory' })
  const session = await platform.signIn()
  const signedIn = { bearer: session.accessToken }
  expect(await (await platform.ask('/builder/projects', signedIn)).json()).toEqual([
    { id: 'p1', name: 'Blog', owner: session.user.email },
  ])
  const deployed = await platform.ask('/builder/projects/p1/deploy', { ...json({ target: 'staging' }), ...signedIn })
  expect(deployed.headers.get('location')).toBe('/builder/deployments/p1-1')
  expect(await deployed.json()).toEqual({ project: 'p1', by: session.user.email })
  expect(await (await platform.ask('/builder/deployments/p1-1/log', signedIn)).text()).toContain('deployed p1-1')
  expect((await platform.ask('/builder/logo.svg', { bearer: null })).headers.get('content-type')).toBe('image/svg+xml')
})

test('a live answer can be drafted as a rule that answers the same', async () => {
  const live = await liveWith((_request, response) => {
    response.writeHead(201, { 'content-type': 'application/json' }).end('{"id":"p1","target":"staging"}')
  })
  const platform = await platformWith({ mode: 'proxy', upstream: { baseUrl: live.url, apiKey: 'sk-live' } })
  const deploy = () => platform.ask('/builder/deploy?dry=1', json({ target: 'staging', note: 'any*' }))
  await (await deploy()).text()
  const yaml = await (await fetch(`${platform.url}/__standin/journal/1/rule`)).text()
  expect(yaml).toContain('on: POST /builder/deploy\n')
  expect(yaml).toContain('fingerprint: ')
  await platform.switchMode('emulate')
  await fetch(`${platform.url}/__standin/replies`, json(parse(yaml)))
  const answer = await deploy()
  expect([answer.status, await answer.json()]).toEqual([201, { id: 'p1', target: 'staging' }])
})

test('the path tree finds what trying every pattern finds', () => {
  const step = fc.constantFrom('a', 'b', ':x', ':y')
  const pattern = fc.tuple(fc.array(step, { minLength: 1, maxLength: 4 }), fc.boolean())
  const asked = fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 5 })
  fc.assert(
    fc.property(fc.array(pattern, { maxLength: 12 }), asked, (patterns, steps) => {
      const routes = patterns.map(([own, hasRest]) => routeOf(`GET /${[...own, ...(hasRest ? ['*'] : [])].join('/')}`))
      const fits = ({ segments }: Route) =>
        segments.every(({ kind, text }, i) => (kind === 'literal' ? steps[i] === text : steps[i] !== undefined)) &&
        (segments.length === steps.length || segments.at(-1)?.kind === 'rest')
      const tree = createPathTree<Route>()
      for (const route of routes) tree.put(route, route)
      expect(new Set(tree.find(steps))).toEqual(new Set(routes.filter(fits)))
    }),
    { numRuns: runs(1000) },
  )
})
