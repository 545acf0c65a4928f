import { expect, test } from 'vitest'
import { developmentUser } from '../../../src/core/secrets.js'
import { forAll } from '../../command.js'
import { declaredDocument } from '../../http/declared.js'
import { hello, platformWith, type Scene } from '../../scene.js'
import { type Document, documentOf, judging, operationsOf, type Placed } from './document.js'

const json = (body: unknown, method = 'POST') => ({
  method,
  body: JSON.stringify(body),
  headers: { 'content-type': 'application/json' },
})

/** Calls an operation of the document and checks the answer against it. */
async function asking(platform: Scene, described?: Document) {
  const document = described ?? (await documentOf(platform))
  const judge = judging(document)
  const operations = operationsOf(document)
  return async (id: string, path: string, init: Parameters<Scene['ask']>[1] = {}) => {
    const placed = operations.find(({ operation }) => operation.operationId === id) as Placed
    const response = await platform.ask(path, init)
    const copy = response.clone()
    expect(await judge(placed, response)).toBe(undefined)
    return copy
  }
}

const functions = [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }]
const custom = [{ type: 'custom', custom: { name: 'write' } }]

const bodies: Readonly<Record<string, object>> = {
  'a text': hello,
  'several choices': { ...hello, n: 3 },
  'a stream': { ...hello, stream: true },
  'a stream of several choices with usage': { ...hello, n: 2, stream: true, stream_options: { include_usage: true } },
  'log probabilities': { ...hello, logprobs: true, top_logprobs: 2 },
  'log probabilities of a stream': { ...hello, stream: true, logprobs: true, top_logprobs: 2 },
  'a tool call': { ...hello, tools: functions, tool_choice: 'required' },
  'a tool call in a stream': { ...hello, stream: true, tools: functions, tool_choice: 'required' },
  'a call of a custom tool': { ...hello, tools: custom, tool_choice: 'required' },
  'a call of a custom tool in a stream': { ...hello, stream: true, tools: custom, tool_choice: 'required' },
  'a deprecated function call': {
    ...hello,
    functions: [{ name: 'look' }],
    function_call: { name: 'look' },
  },
  'a deprecated function call in a stream': {
    ...hello,
    stream: true,
    functions: [{ name: 'look' }],
    function_call: { name: 'look' },
  },
  'a text that is cut': { ...hello, max_tokens: 1 },
}

/** For tests that only request completions. */
const askUsual = forAll(async until => asking(await platformWith({}, until)))

test.each(Object.entries(bodies))('a completion fits the schema in the document: %s', async (_what, body) => {
  const ask = await askUsual()
  const response = await ask('createChatCompletion', '/v1/chat/completions', json(body))
  expect(response.status).toBe(200)
})

const said = [
  { text: 'a text', reasoning: 'a thought' },
  { refusal: 'not this' },
  { text: 'a text', usage: { cachedTokens: 3, reasoningTokens: 2 } },
  { text: 'a text', finishReason: 'content_filter' },
  { text: 'a text in pieces', fault: { fail: 1 } },
] as const

test.each(said)('the reply of a rule fits the schema in the document: %j', async reply => {
  const platform = await platformWith({ rules: [{ when: {}, reply }] })
  const ask = await asking(platform)
  for (const stream of [false, true]) {
    const body = { ...hello, stream, ...(stream && { stream_options: { include_usage: true } }) }
    const response = await ask('createChatCompletion', '/v1/chat/completions', json(body))
    expect(response.status).toBe(200)
  }
})

test('the other endpoints and the refusals of all four fit their schemas', async () => {
  const platform = await platformWith({ limits: { bodyBytes: 10_000 } })
  const ask = await asking(platform)
  const statuses: (readonly [string, number])[] = []
  const note = async (id: string, path: string, init: Parameters<Scene['ask']>[1] = {}) => {
    statuses.push([id, (await ask(id, path, init)).status])
  }
  await note('getHealth', '/health')
  await note('getIndex', '/api/v1', { bearer: platform.anonKey })
  await note('getIndex', '/api/v1', { bearer: null })
  await note('listModels', '/v1/models')
  await note('listModels', '/v1/models', { bearer: 'wrong' })
  await note('createChatCompletion', '/v1/chat/completions', { ...json(hello), bearer: null })
  await note('createChatCompletion', '/v1/chat/completions', json({}))
  await note('createChatCompletion', '/v1/chat/completions', json('x'.repeat(10_001)))
  await note('createChatCompletion', '/v1/chat/completions', { method: 'POST', body: 'hello' })
  for (const status of [404, 429, 500, 502, 504]) {
    await note('listModels', '/v1/models', { headers: { 'x-standin-fault': `status=${status}` } })
  }
  expect(statuses.map(([, status]) => status)).toEqual([
    ...[200, 200, 401, 200, 401, 401, 400, 413, 415],
    ...[404, 429, 500, 502, 504],
  ])
})

/** Request bodies for operations of the auth backend, by operation id. */
const auth = (refresh: string) =>
  ({
    signUp: { email: 'grace@example.com', password: 'correct horse' },
    signIn: { refresh_token: refresh },
    updateUser: { data: { theme: 'dark' } },
    recoverPassword: { email: developmentUser.email },
    sendCode: { email: developmentUser.email },
    sendMagicLink: { email: developmentUser.email },
    resend: { type: 'signup', email: developmentUser.email },
    createUser: { email: 'joan@example.com' },
    updateUserById: { user_metadata: { theme: 'dark' } },
    invite: { email: 'mary@example.com' },
    generateLink: { type: 'magiclink', email: developmentUser.email },
  }) as Readonly<Record<string, object>>

const queries: Readonly<Record<string, string>> = {
  signIn: '?grant_type=refresh_token',
  linkIdentity: '?provider=github&skip_http_redirect=true',
}

/** A session of the development user. */
async function sessionOf({ url, anonKey }: Scene) {
  const { email, password } = developmentUser
  const response = await fetch(`${url}/auth/v1/token?grant_type=password`, {
    ...json({ email, password }),
    headers: { apikey: anonKey },
  })
  return (await response.json()) as { access_token: string; refresh_token: string; user: { id: string } }
}

test('every operation of the auth backend answers as documented', async () => {
  const platform = await platformWith({ auth: { external: { github: {} } } })
  const { identities } = (await platform.signInWith('github')).user
  const begun = await fetch(`${platform.url}/auth/v1/authorize?provider=github`, { redirect: 'manual' })
  const waiting = new URL(begun.headers.get('location') ?? '').search
  const document = await documentOf(platform)
  const judge = judging(document)
  const session = await sessionOf(platform)
  // Signing out and deleting come last, or later operations would lose the session.
  const last = ['signOut', 'deleteUser']
  const operations = operationsOf(document, 'auth').toSorted(
    (a, b) => last.indexOf(a.operation.operationId) - last.indexOf(b.operation.operationId),
  )
  const wrong: string[] = []
  for (const placed of operations) {
    const { operationId: id, security, responses, requestBody } = placed.operation
    const isUser = security.some(one => 'user' in one)
    const ownId = id === 'unlinkIdentity' ? (identities[1]?.identity_id ?? '') : session.user.id
    const path = placed.path.replace('{id}', ownId).replace(/\{\w+\}/, session.user.id)
    const body = auth(session.refresh_token)[id] ?? {}
    for (const [bearer, key] of [
      [isUser ? session.access_token : platform.serviceKey, platform.serviceKey],
      [null, platform.anonKey],
      [null, 'wrong'],
    ] as const) {
      const query = id === 'chooseAccount' ? waiting : queries[id]
      const response = await fetch(`${platform.url}${path}${query ?? ''}`, {
        method: placed.method.toUpperCase(),
        redirect: 'manual',
        headers: { apikey: key, ...(bearer && { authorization: `Bearer ${bearer}` }) },
        ...(requestBody && { body: JSON.stringify(body) }),
      })
      const isGood = bearer !== null && (id in auth('') || !requestBody) && /^2/.test(Object.keys(responses)[0] ?? '')
      if (isGood && !response.ok) wrong.push(`${id} ${response.status} ${await response.clone().text()}`)
      wrong.push(...[(await judge(placed, response)) ?? []].flat())
    }
  }
  expect(wrong).toEqual([])
})

test('answers to a link, to a verified code and to an unconfirmed sign-up are as documented', async () => {
  const platform = await platformWith({ auth: { mailerAutoconfirm: false } })
  const ask = await asking(platform)
  const key = { headers: { apikey: platform.anonKey }, bearer: null }
  const post = (body: object) => ({ ...json(body), ...key })
  const waiting = await ask('signUp', '/auth/v1/signup', post({ email: 'ada@example.com', password: 'correct horse' }))
  expect(await waiting.json()).not.toHaveProperty('access_token')
  const { data } = (await (await platform.ask('/__standin/outbox')).json()) as { data: readonly [{ code: string }] }
  const verified = await ask(
    'verify',
    '/auth/v1/verify',
    post({ type: 'signup', email: 'ada@example.com', token: data[0].code }),
  )
  expect(verified.status).toBe(200)
  const link = await ask('followLink', '/auth/v1/verify?type=signup&token=nothing', { ...key, redirect: 'manual' })
  expect(link.status).toBe(303)
})

test('what the dashboard needs before anyone signs in is as declared', async () => {
  for (const options of [{}, { mcp: { '/mcp': {} }, state: 'memory' }, { users: [], apiKeys: [] }]) {
    const ask = await asking(await platformWith(options), await declaredDocument('dashboard'))
    expect((await ask('getConfig', '/dashboard/api/config', { bearer: null })).status).toBe(200)
  }
})

test('creating and revoking keys over REST answers as declared', async () => {
  const platform = await platformWith()
  const ask = await asking(platform, await declaredDocument('dashboard'))
  const { access_token: bearer } = await sessionOf(platform)
  const path = '/dashboard/api/keys'
  const made = await ask('createKey', path, { ...json({ name: 'mine' }), bearer })
  const { id } = (await made.json()) as { id: string }
  const answers = [
    await ask('listKeys', path, { bearer }),
    await ask('revokeKey', `${path}/${id}`, { method: 'DELETE', bearer }),
    await ask('revokeKey', `${path}/nobody`, { method: 'DELETE', bearer }),
    await ask('createKey', path, { ...json({}), bearer }),
    await ask('listKeys', path, { bearer: null }),
    await ask('listKeys', path, { bearer: platform.apiKey }),
  ]
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 404, 400, 401, 401])
})
