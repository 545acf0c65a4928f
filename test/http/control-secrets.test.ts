import { expect, test } from 'vitest'
import { hello, platformWith } from '../scene.js'
import { declaredDocument } from './declared.js'
import { liveWith } from './live.js'

const secrets = {
  apiKey: 'sk-planted-key-of-the-configuration-1234',
  upstreamKey: 'live-planted-key-of-the-upstream-5678',
  jwtSecret: 'planted-secret-that-signs-whatever-is-signed',
  controlToken: 'planted-control-token-9876',
  unknownKey: 'sk-proj-Zk3v9Qx7Lm2Tn8Rb5Wd1Yc6Hf4Js0Pg',
  jwt: `eyJhbGciOiJIUzI1NiJ9.${Buffer.from('{"sub":"planted-in-a-token"}').toString('base64url')}.cGxhbnRlZC1zaWduYXR1cmU`,
  pem: `-----BEGIN PRIVATE KEY-----\nMIGHplantedAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg\n-----END PRIVATE KEY-----`,
}

/** Secret only because of where they appear. */
const inPlace = {
  password: 'planted-password-of-ada',
  passwordHash: '$2a$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy',
  inHeader: 'planted-value-of-a-secret-header',
  inQuery: 'planted-value-of-a-secret-parameter',
}

const json = { 'content-type': 'application/json' }

/** A platform that knows these secrets, and has received each of them in every place where one may appear. */
async function platformWithSecrets() {
  const platform = await platformWith({
    apiKeys: [{ key: secrets.apiKey, name: 'planted' }],
    auth: { jwtSecret: secrets.jwtSecret },
    upstream: { apiKey: secrets.upstreamKey },
    controlToken: secrets.controlToken,
    users: [{ email: 'ada@example.com', password: inPlace.password }],
    strict: true,
    rules: [
      { name: 'greeting', when: { user: 'hello' }, reply: { text: 'You said: {{user}}' } },
      { name: 'nearly', when: { user: 'planted', model: 'gpt-4o' }, reply: { text: 'never' } },
    ],
    modes: { 'GET /v1/models': 'replay' },
  })
  const { ask, chat, anonKey, serviceKey } = platform
  const all = [...Object.values(secrets), anonKey, serviceKey]
  const headers = { ...json, cookie: `session=${inPlace.inHeader}`, 'x-api-key': inPlace.inHeader }
  for (const secret of all) {
    const request = { ...hello, messages: [{ role: 'user', content: `hello ${secret}` }], user: secret }
    for (const stream of [false, true]) await (await chat({ ...request, stream }, { headers })).text()
    await (await chat({ ...hello, messages: [{ role: 'user', content: `planted ${secret}` }] })).text()
    await (await chat({ ...hello, model: secret })).text()
    await (await chat({}, { body: `{ "no JSON": "${secret}` })).text()
    await (await ask(`/v1/models?api_key=${inPlace.inQuery}&q=${encodeURIComponent(secret)}`)).text()
    await (await ask(`/nowhere/${encodeURIComponent(secret)}`, { bearer: encodeURIComponent(secret) })).text()
  }
  const signIn = { email: 'ada@example.com', password: inPlace.password }
  const auth = (path: string, body: object, key = anonKey) =>
    ask(`/auth/v1/${path}`, {
      method: 'POST',
      bearer: key,
      headers: { ...json, apikey: key },
      body: JSON.stringify(body),
    })
  await auth('signup', { ...signIn, email: 'grace@example.com', data: { long: 'x'.repeat(70_000) } })
  await auth('admin/users', { email: 'alan@example.com', password_hash: inPlace.passwordHash }, serviceKey)
  const answer = await auth('token?grant_type=password', signIn)
  const session = (await answer.json()) as { access_token: string; refresh_token: string }
  await (await ask('/v1/models', { bearer: session.access_token })).text()
  await auth('token?grant_type=refresh_token', { refresh_token: session.refresh_token })
  const { access_token: accessToken, refresh_token: refreshToken } = session
  return { ...platform, planted: { ...secrets, ...inPlace, anonKey, serviceKey, accessToken, refreshToken } }
}

/** Routes that return secrets on purpose: the keys that `connect()` gives a test. */
const handsOutSecrets = new Set(['/__standin/credentials'])

/** Every text that the control API returns, by route. */
async function everythingFrom(url: string): Promise<ReadonlyMap<string, string>> {
  const control = async (path: string, init: RequestInit = {}) =>
    (await fetch(`${url}/__standin/${path}`, { headers: json, ...init })).text()
  const texts = new Map<string, string>()
  const { paths } = await declaredDocument('control')
  const { data } = JSON.parse(await control('journal?limit=1000')) as { data: readonly { id: string }[] }
  expect(data.length).toBeGreaterThan(60)
  for (const [path, methods] of Object.entries(paths)) {
    if (!('get' in methods) || handsOutSecrets.has(path)) continue
    const ids = path.includes('{id}') ? data.map(({ id }) => id) : ['']
    for (const id of ids) {
      for (const form of path.includes('{form}') ? ['curl', 'test', 'rule'] : ['']) {
        const one = path.replace('/__standin/', '').replace('{id}', id).replace('{form}', form)
        texts.set(one, await control(one))
      }
    }
  }
  texts.set('journal?limit', await control('journal?limit=1000'))
  texts.set('find', await control('journal/find', { method: 'POST', body: '{}' }))
  const followed = await fetch(`${url}/__standin/journal?follow&limit=1000`)
  let stream = ''
  for await (const piece of followed.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    stream += piece
    if (stream.match(/^event: exchange/gm)?.length === data.length && stream.endsWith('\n\n')) break
  }
  return texts.set('follow', stream)
}

test('no route returns a secret, wherever it was planted', async () => {
  const { url, planted } = await platformWithSecrets()
  const texts = await everythingFrom(url)
  const found = Object.entries(planted).flatMap(([name, secret]) => {
    const forms = [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)]
    const routes = [...texts].filter(([, text]) => forms.some(form => text.includes(form)))
    return routes.map(([route]) => `${name} in ${route}`)
  })
  expect(found).toEqual([])
})

test('a sign-in code is hidden, and an error code is shown', async () => {
  const { ask, url, anonKey } = await platformWith()
  await ask('/auth/v1/verify', {
    method: 'POST',
    bearer: anonKey,
    headers: { ...json, apikey: anonKey, 'x-supabase-api-version': '2024-01-01' },
    body: JSON.stringify({ type: 'recovery', token: '987654', code: '987654', email: 'developer@example.com' }),
  })
  const entry = await (await fetch(`${url}/__standin/journal/1`)).text()
  expect(entry).not.toContain('987654')
  expect(JSON.parse(entry)).toMatchObject({
    request: { body: { type: 'recovery', token: '[token]', code: '[code]' } },
    response: { body: { code: 'otp_expired' } },
  })
})

const anEnvFile = `PORT=3000\nDB_PASSWORD=Zq7Xw7Lm3Pk9Rt5Vb2\nKEY=${secrets.unknownKey}\n`
const spelt = { live: secrets.upstreamKey, unknown: secrets.unknownKey, password: 'Zq7Xw7Lm3Pk9Rt5Vb2' }
const spoken = `The key is ${spelt.live}, not ${spelt.unknown}. ${anEnvFile}`

/** The ways in which platforms and apps send a text in pieces. */
const streams: Readonly<Record<string, (piece: string) => string>> = {
  'chat completions': content => event({ choices: [{ index: 0, delta: { content }, finish_reason: null }] }),
  'arguments of a tool': piece =>
    event({
      choices: [{ index: 0, delta: { tool_calls: [{ index: 0, function: { arguments: inJson(piece) } }] } }],
    }),
  Responses: delta => event({ type: 'response.output_text.delta', output_index: 0, delta }),
  Anthropic: text => event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }),
  "an API of one's own": token => event({ id: 7, result: [{ token }] }),
  'lines of the AI SDK': text => `0:${JSON.stringify(text)}\n`,
  'plain text': text => `data: ${inJson(text)}\n\n`,
}

const event = (value: object) => `data: ${JSON.stringify(value)}\n\n`
const inJson = (text: string) => JSON.stringify(text).slice(1, -1)

test.each(Object.keys(streams))(
  'a secret that a stream of %s spells in pieces is hidden wherever it is shown',
  async name => {
    const pieces = spoken.match(/.{1,7}/gs) ?? []
    const events = pieces.map(piece => streams[name]?.(piece) ?? '')
    const ofSecrets = pieces.filter(piece => Object.values(spelt).some(secret => secret.includes(piece)))
    const live = await liveWith((_request, response) =>
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(`${events.join('')}data: [DONE]\n\n`),
    )
    const platform = await platformWith({ mode: 'proxy', upstream: { baseUrl: live.url, apiKey: spelt.live } })
    const sent = await (await platform.chat({ ...hello, stream: true })).text()
    const control = async (path: string) => (await fetch(`${platform.url}/__standin/${path}`)).text()
    const shown = [await control('journal?limit=1'), await control('journal?brief'), await control('journal/1/test')]
    const placeholder = /\[[a-z]+(?:-[a-z\d]+)+\]/g
    for (const piece of ofSecrets) {
      expect(sent).toContain(piece)
      for (const text of shown) expect(text.replace(placeholder, '')).not.toContain(piece)
    }
    expect(shown[0]?.match(placeholder)).toEqual(['[upstream-api-key]', '[key-1]', '[db-password]', '[key-1]'])
  },
)

test('a draft of a stream repeats what may be shown of it', async () => {
  const pieces = [
    'The key is ',
    spelt.unknown.slice(0, 9),
    spelt.unknown.slice(9, 20),
    `${spelt.unknown.slice(20)} now.`,
  ]
  const events = pieces.map(content => event({ choices: [{ index: 0, delta: { content }, finish_reason: null }] }))
  const end = event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })
  const live = await liveWith((_request, response) =>
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(`${events.join('')}${end}data: [DONE]\n\n`),
  )
  const platform = await platformWith({ mode: 'proxy', upstream: { baseUrl: live.url, apiKey: spelt.live } })
  await (await platform.chat({ ...hello, stream: true })).text()
  const draft = await (await fetch(`${platform.url}/__standin/journal/1/rule`)).text()
  expect(draft).toContain('The key is [key-1] now.')
})

test('a secret of a form is hidden in the answer that repeats it', async () => {
  const password = 'korrekt-pferd-batterie'
  const live = await liveWith((request, response) =>
    response.writeHead(200, { 'content-type': 'text/html' }).end(`<p>No user with ${password} at ${request.url}</p>`),
  )
  const { ask, url } = await platformWith({ mode: 'proxy', upstream: { baseUrl: live.url, apiKey: spelt.live } })
  const bodies = {
    'application/x-www-form-urlencoded': `user=ada&password=${password}`,
    'application/json': JSON.stringify({ user: 'ada', login: { password } }),
    'multipart/form-data; boundary=X': `--X\r\nContent-Disposition: form-data; name="password"\r\n\r\n${password}\r\n--X--`,
  }
  for (const [type, body] of Object.entries(bodies))
    expect(
      await (await ask('/builder/login', { method: 'POST', headers: { 'content-type': type }, body })).text(),
    ).toContain(password)
  const journal = await (await fetch(`${url}/__standin/journal`)).text()
  expect(journal).not.toContain(password)
  expect(journal.match(/No user with \[password\]/g)).toHaveLength(3)
})

test('a credential of any length and content is journaled without it', async () => {
  const live = await liveWith((_request, response) =>
    response.writeHead(200, { 'set-cookie': `b=${'('.repeat(12_000)}` }).end('{"ok":true}'),
  )
  const { ask, url } = await platformWith({ mode: 'proxy', upstream: { baseUrl: live.url, apiKey: spelt.live } })
  for (const sign of ['<', '(', '\\', '%25', 'aA1'])
    await (await ask('/v1/models', { headers: { cookie: `a=${sign.repeat(12_000 / sign.length)}` } })).text()
  for (const path of ['journal', 'journal?brief', 'journal/1', 'journal/1/curl'])
    expect((await fetch(`${url}/__standin/${path}`)).status).toBe(200)
})
