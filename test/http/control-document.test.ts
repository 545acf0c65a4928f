import { expect, test } from 'vitest'
import { folderWith } from '../command.js'
import { checking, judging, operationsOf } from '../contract/openapi/document.js'
import { hello, platformWith, type Scene } from '../scene.js'
import { chats, tablesOf } from '../tables/apps.js'
import { declaredDocument } from './declared.js'

async function declared(options = {}) {
  const platform = await platformWith(options)
  const document = await declaredDocument('control')
  return { platform, document, operations: operationsOf(document) }
}

/** A recording that exists already. */
const recording = 'models/get-0123456789ab.yaml'

const withId = (path: string, id = '1') =>
  path
    .replace('{id}', id)
    .replace('{file}', encodeURIComponent(id))
    .replace('{name}', encodeURIComponent(recording))
    .replace('{resource}', encodeURIComponent('/things'))
    .replace('{form}', 'curl')
    .replace('{table}', 'models')

/** Folders with a recording and a file of rules. */
const withFiles = () => ({
  recordings: {
    dir: folderWith({ [recording]: 'request: { method: GET, path: /v1/models }\nresponse: { status: 200 }\n' }),
  },
  replies: [`${folderWith({ 'none.yaml': '' })}/*.yaml`],
  resources: { '/things': { data: [{ id: 1 }] } },
  mcp: { '/mcp': {} },
})

test('each path allows the declared methods, and lists them in its 405', async () => {
  const { platform, document } = await declared(withFiles())
  await (await platform.chat(hello)).text()
  for (const [path, methods] of Object.entries(document.paths)) {
    const response = await fetch(platform.url + withId(path), { method: 'PATCH' })
    const allowed = Object.keys(methods).flatMap(method => (method === 'get' ? ['GET', 'HEAD'] : method.toUpperCase()))
    expect([path, response.status, response.headers.get('allow')?.split(', ').toSorted()]).toEqual([
      path,
      405,
      allowed.toSorted(),
    ])
    expect(await response.json()).toEqual({ error: expect.stringMatching(/^PATCH is not allowed here\. Use /) })
    const idOf = Object.entries({ replies: ruleOf, holds: heldOf }).find(([part]) =>
      path.startsWith(`/__standin/${part}/`),
    )
    const id = (await idOf?.[1](platform)) ?? '1'
    // Tables take long to start. The next test has them.
    if ('get' in methods && !path.includes('/tables/'))
      expect((await fetch(platform.url + withId(path, id), { method: 'HEAD' })).status).toBe(200)
  }
})

/** The request bodies, by operation id. */
const bodies: Readonly<Record<string, object>> = {
  runSql: { text: 'select $1::int as n', values: [1] },
  findExchanges: { caller: 'apiKey', limit: 10 },
  addRules: { when: { user: 'hello' }, reply: { text: 'Hi!' }, scope: 'one' },
  repair: { id: 'answer', says: 'Hi!' },
  sendExchangeAgain: {},
  tryRules: { prompt: 'hello', scope: 'one' },
  reset: { scope: 'one' },
  startSession: { email: 'ada@example.com' },
  createTestKey: { scope: 'one' },
  createIdToken: { provider: 'google', nonce: 'once' },
  followUser: { user: 'ada@example.com', name: 'one' },
  setMode: { mode: 'replay', modes: { 'GET /v1/models': 'emulate' } },
  changeSettings: {
    pace: { firstTokenMs: 20, models: { 'gpt-4o': { tokensPerSecond: 5 } } },
    limits: null,
    random: [{ chance: 0, status: 503 }],
    clock: { advanceMs: 1000, frozen: true },
  },
  addFault: { fault: { status: 503 }, times: 2, path: '/nowhere' },
  addHold: { on: 'GET /nowhere', scope: 'one' },
  letHeldGo: { action: 'fail', status: 503, retryAfter: 1 },
  insertRow: { name: 'Atlas' },
  changeRow: { name: 'Atlas' },
}

/** Leaves something to show in every list: exchanges, a mail, a fault. */
async function eventful(platform: Scene): Promise<void> {
  const { ask, chat } = platform
  await (await chat({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'hello' }], stream: true })).text()
  await (await ask('/v1/models', { bearer: null })).text()
  await (
    await ask('/auth/v1/recover', {
      method: 'POST',
      bearer: platform.anonKey,
      headers: { apikey: platform.anonKey, 'content-type': 'application/json' },
      body: JSON.stringify({ email: 'developer@example.com' }),
    })
  ).text()
  const fault = { fault: { status: 500 }, path: '/nowhere' }
  await ask('/__standin/faults', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(fault),
  })
  await (await chat({ model: 'gpt-4o-mini', messages: [] })).text()
}

/** The id of a session to end. */
async function sessionOf({ ask, anonKey, url }: Scene): Promise<string> {
  const body = JSON.stringify({ email: `${Math.random()}@example.com`, password: 'correct horse battery' })
  const headers = { apikey: anonKey, 'content-type': 'application/json' }
  await (await ask('/auth/v1/signup', { method: 'POST', bearer: anonKey, headers, body })).text()
  const response = await fetch(`${url}/__standin/sessions`)
  return ((await response.json()) as { data: readonly [{ id: string }] }).data[0].id
}

/** The id of a rule to remove. */
async function ruleOf({ url }: Scene): Promise<string> {
  const body = JSON.stringify(bodies.addRules)
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(`${url}/__standin/replies`, { method: 'POST', body, headers })
  return ((await response.json()) as { data: readonly [{ id: string }] }).data[0].id
}

/** The id of a hold at which a request waits. */
async function heldOf({ ask, hold }: Scene): Promise<string> {
  const held = await hold({ on: 'GET /health' })
  void ask('/health').catch(() => {})
  await held.reached()
  return held.id
}

/** The id of an API key. */
async function keyOf({ url }: Scene): Promise<string> {
  const response = await fetch(`${url}/__standin/keys`)
  return ((await response.json()) as { data: readonly [{ id: string }] }).data[0].id
}

/** The id of a pending fault. */
async function faultOf({ url }: Scene): Promise<string> {
  const body = JSON.stringify(bodies.addFault)
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(`${url}/__standin/faults`, { method: 'POST', body, headers })
  return ((await response.json()) as { id: string }).id
}

test('every answer and every request body matches its declaration', async () => {
  const { platform, document, operations } = await declared({
    ...withFiles(),
    ...tablesOf('chats', chats),
    modes: { 'POST /v1/chat/completions': 'emulate' },
  })
  await eventful(platform)
  await platform.switchMode('replay', { 'POST /v1/chat/completions': 'emulate' })
  await (await platform.ask('/v1/models')).text()
  const schemaOf = checking(document)
  const judge = judging(document)
  // Operations that delete come last.
  const order = ['get', 'post', 'put', 'delete']
  for (const { path, method, operation } of operations.toSorted(
    (a, b) => order.indexOf(a.method) - order.indexOf(b.method),
  )) {
    const { operationId, requestBody } = operation
    // Only a process below exec finds this one.
    if (path === '/__standin/run') continue
    const body = bodies[operationId]
    expect([operationId, body !== undefined]).toEqual([operationId, requestBody !== undefined])
    const taken = requestBody?.content?.['application/json']?.schema
    if (taken) expect([operationId, schemaOf(taken)(body)]).toEqual([operationId, true])
    const ids: Readonly<Record<string, typeof ruleOf>> = {
      removeRule: ruleOf,
      undoChange: faultOf,
      getHold: heldOf,
      letHeldGo: heldOf,
      removeHold: heldOf,
      endSession: sessionOf,
      revokeAnyKey: keyOf,
    }
    const id = (await ids[operationId]?.(platform)) ?? '1'
    const response = await fetch(platform.url + withId(path, id), {
      method: method.toUpperCase(),
      ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    })
    expect([operationId, response.ok]).toEqual([operationId, true])
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(await judge({ path, method, operation }, response)).toBe(undefined)
  }
})

test('every error has the same form', async () => {
  const { platform, document } = await declared()
  const valid = checking(document)({ $ref: '#/components/schemas/Error' })
  for (const path of ['journal?staus=1', 'journal/17', 'nowhere', '%zz']) {
    const response = await fetch(`${platform.url}/__standin/${path}`)
    expect(response.status).toBeGreaterThanOrEqual(400)
    expect([path, valid(await response.json())]).toEqual([path, true])
  }
})

test('a message of a run that is none is refused in words', async () => {
  const { platform } = await declared()
  const headers = { 'content-type': 'application/json' }
  const answers = ['[]', '{"part":"part-1","report":"{}"}'].map(async body => {
    const response = await fetch(`${platform.url}/__standin/run`, { method: 'POST', headers, body })
    return ((await response.json()) as { error: string }).error
  })
  expect(await Promise.all(answers)).toEqual([
    'The request body must be an object, not an empty array.',
    'report.folder is missing. It must be a string.',
  ])
})
