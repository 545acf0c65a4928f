import { hash } from 'node:crypto'
import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { connect } from '../../src/index.js'
import '../../src/vitest.js'
import { control } from '../http/controlled.js'
import { listening } from '../http/live.js'
import { post, stateless } from '../mcp/by-hand.js'
import { liveWith, saying, tape } from '../recordings/live.js'
import { hello, platformWith, type Scene } from '../scene.js'

const [ada, bob] = ['ada@example.com', 'bob@example.com']

const textOf = async (answer: Response) => ((await answer.json()) as Completion).choices[0]?.message.content
interface Completion {
  readonly choices: readonly { readonly message: { readonly content: string } }[]
}

const inBaggage = (scope: string) => ({ headers: { baggage: `a=1, standin.scope=${encodeURIComponent(scope)};b=2` } })
const inHeader = (scope: string) => ({ headers: { 'x-standin-scope': scope } })

/** A server with one key for all of its users, which tells the platform who is asking. */
async function appFor({ url, apiKey }: Pick<Scene, 'url' | 'apiKey'>) {
  const server = createServer(async (request, response) => {
    const { content, user } = (await json(request)) as { content: string; user?: string }
    const { baggage } = request.headers
    const answer = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        ...{ authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
        ...(baggage !== undefined && { baggage: String(baggage) }),
      },
      body: JSON.stringify({
        ...{ model: 'gpt-4o-mini', messages: [{ role: 'user', content }] },
        ...(user !== undefined && { safety_identifier: user }),
      }),
    })
    response.end(await textOf(answer))
  })
  const app = await listening(server)
  return async (body: object, headers = {}) =>
    (await fetch(app, { method: 'POST', body: JSON.stringify(body), headers })).text()
}

test('three workers use one app, whose server has its own key, and nobody gets the answer of another', async () => {
  const scene = await platformWith()
  const ask = await appFor(scene)
  const work = async (name: string) => {
    const platform = await connect(scene.url)
    const { user } = await platform.signIn({ email: `${name}@example.com` })
    const scope = await platform.scope(name === 'cleo' ? { user: `${name}@example.com` } : { user })
    await scope.reply(`for ${name}`)
    const who = [{ user: user.id }, {}] as const
    for (let i = 0; i < 20; i++)
      expect(await ask({ content: `${name} ${i}`, ...who[i % 2] }, i % 2 === 1 ? { baggage: scope.baggage } : {})).toBe(
        `for ${name}`,
      )
    await expect(scope).toHaveReceivedTimes(20, { body: { messages: [{ content: new RegExp(`^${name} `) }] } })
    expect(await scope.journal.count()).toBe(20)
    await scope.close()
    expect(await ask({ content: 'later', user: user.id })).not.toBe(`for ${name}`)
  }
  await Promise.all(['ada', 'bob', 'cleo'].map(work))
})

const sha256 = (text: string) => hash('sha256', text)

test('a request belongs to a user by token, API key, body, baggage or header, from the moment they sign up', async () => {
  const platform = await platformWith()
  const scope = await platform.scope({ user: 'Ada@example.com' })
  await scope.reply('for Ada')
  const says = async (body = {}, options = {}) => textOf(await platform.chat({ ...hello, ...body }, options))
  expect(await says()).not.toBe('for Ada')
  expect(await says({ user: ada })).toBe('for Ada')
  const { accessToken, user } = await platform.signIn({ email: ada })
  const key = await platform.createKey({ user: ada })
  const ways = {
    token: () => says({}, { bearer: accessToken }),
    'API key': () => says({}, { bearer: key }),
    "the scope's key": () => says({}, { bearer: scope.apiKey }),
    'id in the body': () => says({ safety_identifier: user.id }),
    'hashed id': () => says({ safety_identifier: sha256(user.id) }),
    'hashed address': () => says({ safety_identifier: sha256(ada) }),
    'user in the body': () => says({ user: user.id }),
    baggage: () => says({}, inBaggage(ada)),
    header: () => says({}, { headers: scope.headers }),
    'id in a header': () => says({}, inHeader(user.id)),
  }
  for (const [way, ask] of Object.entries(ways)) expect(await ask(), way).toBe('for Ada')
  expect(await scope.journal.count()).toBe(Object.keys(ways).length + 1)
  expect([await platform.scope({ user }), await platform.scope({ user: user.id }), await platform.scope(ada)]).toEqual([
    scope,
    scope,
    scope,
  ])
})

test('the first source counts, and the journal tells of the others', async () => {
  const platform = await platformWith()
  const { accessToken } = await platform.signIn({ email: ada })
  for (const user of [ada, bob]) await platform.scope({ user })
  const sources = [
    [ada, { bearer: accessToken }],
    [bob, { body: { user: bob } }],
    ['red', inBaggage('red')],
    ['green', inHeader('green')],
  ] as const
  for (const [i, [first]] of sources.entries()) {
    const sent: readonly { bearer?: string; body?: object; headers?: object }[] = sources.slice(i).map(([, how]) => how)
    const { bearer, body } = Object.assign({}, ...sent)
    const headers = Object.assign({}, ...sent.map(how => how.headers))
    await platform.chat({ ...hello, ...body }, { bearer, headers })
    const entry = await platform.journal.last()
    expect(entry?.scope).toBe(first)
    if (sent.length === 1) expect(entry?.remark).toBeNull()
    else for (const [name] of sources.slice(i)) expect(entry?.remark).toContain(`"${name}"`)
  }
  await platform.chat(hello, { bearer: (await platform.scope('blue')).apiKey, ...inHeader('green') })
  expect(await platform.journal.last()).toMatchObject({
    scope: 'blue',
    remark: expect.stringContaining(
      '"blue" by its API key, "green" by its header x-standin-scope. The first one counts',
    ),
  })
})

test('faults, holds, misses, own paths, MCP and the auth backend follow the user', async () => {
  const platform = await platformWith({ strict: true, mcp: { '/mcp': { tools: [{ name: 'weather' }] } } })
  const [{ accessToken: bearer }, { accessToken: other }] = [
    await platform.signIn({ email: ada }),
    await platform.signIn({ email: bob }),
  ]
  const scope = await platform.scope({ user: ada })
  const statusOf = async (path: string, token = bearer, headers = {}) =>
    (await platform.ask(path, { bearer: token, headers: { apikey: platform.anonKey, ...headers } })).status
  await scope.reply({ on: 'GET /builder/:id', reply: { json: { of: 'Ada' } } })
  expect([await statusOf('/builder/1'), await statusOf('/builder/1', other)]).toEqual([200, 404])
  // The path is found although a header names another scope.
  expect(await statusOf('/builder/1', bearer, inHeader('green').headers)).toBe(200)
  await scope.reply({ on: 'GET /open', access: 'anyone', reply: { json: { of: 'Ada' } } })
  expect([await statusOf('/open'), await statusOf('/open', other)]).toEqual([200, 404])
  await scope.failNext({ status: 503 }, { path: '/auth/v1/user' })
  expect([await statusOf('/auth/v1/user', other), await statusOf('/auth/v1/user')]).toEqual([200, 503])
  await scope.mcp.tool('weather').reply('Sunny.')
  const { body, headers } = stateless('tools/call', { name: 'weather', arguments: {} })
  const asAda = { ask: (path: string, options = {}) => platform.ask(path, { ...options, bearer }) }
  expect(await (await post(asAda, body, headers)).text()).toContain('Sunny.')
  const held = await scope.hold()
  expect((await platform.chat(hello, { bearer: other })).status).toBe(424)
  await scope.expectNoMisses()
  const waiting = platform.chat(hello, { bearer })
  await held.reached()
  await held.release()
  expect((await waiting).status).toBe(424)
  await expect(scope.expectNoMisses()).rejects.toThrow('A request had no prepared answer.')
  await platform.clock.advance(7_200_000)
  expect(await statusOf('/v1/models')).toBe(401)
  expect(await scope.journal.count({ status: 401, credential: 'expired token' })).toBe(1)
  await scope.close()
  expect(await scope.journal.count()).toBe(0)
  await platform.signIn({ email: ada })
  await platform.chat({ ...hello, user: ada })
  expect((await platform.journal.last())?.scope).toBe('')
})

test('each user replays from the first recording on, and users of one name share a scope', async () => {
  let count = 0
  const live = await liveWith((request, response) => saying({ answer: ++count })(request, response))
  const { recording, replaying } = tape(live.url)
  const ask = async (platform: Scene, user: string) =>
    ((await (await platform.chat({ ...hello, user })).json()) as { answer: number }).answer
  const first = await recording({ recordings: { ignore: ['$.user'] } })
  for (const user of [ada, ada]) await ask(first, user)
  await first.chat(hello, inBaggage('red'))
  expect(live.seen.map(({ request }) => request.headers.baggage)).toEqual([undefined, undefined, 'a=1'])
  await first.stop()
  const platform = await replaying({ recordings: { ignore: ['$.user'], budget: { calls: 1 } } })
  for (const user of [ada, bob]) await platform.scope({ user })
  expect([await ask(platform, ada), await ask(platform, bob), await ask(platform, ada)]).toEqual([1, 1, 2])
  expect(() => platform.expectWithinBudget()).toThrow(`scope "${ada}"`)
  for (const user of ['cleo@example.com', 'dan@example.com']) await platform.scope({ user, name: 'both' })
  expect([await ask(platform, 'cleo@example.com'), await ask(platform, 'dan@example.com')]).toEqual([1, 2])
})

test('the control API assigns a user to a scope, and refuses what is no user', async () => {
  const platform = await platformWith()
  expect(await control(platform, 'POST /scopes', { user: ada })).toEqual({ status: 201, body: { scope: ada } })
  await control(platform, `POST /replies?scope=${ada}`, { reply: { text: 'for Ada' } })
  expect(await textOf(await platform.chat({ ...hello, user: ada }))).toBe('for Ada')
  expect(await control(platform, `DELETE /scopes/${ada}`)).toMatchObject({ status: 204 })
  expect(await textOf(await platform.chat({ ...hello, user: ada }))).not.toBe('for Ada')
  const refused = 'must be an email address, the id of a user, or a user with an id'
  const { status, body } = await control(platform, 'POST /scopes', { user: 'ada' })
  expect([status, body.error]).toEqual([400, expect.stringContaining(refused)])
  await expect(platform.scope({ user: 'ada' })).rejects.toThrow(refused)
})
