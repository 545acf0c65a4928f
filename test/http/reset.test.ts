import { expect, onTestFinished, test } from 'vitest'
import { openPlatform, type Platform } from '../../src/platform.js'
import type { Abilities } from '../../src/testing/abilities.js'
import { platformOf } from '../keys/edited.js'
import { adminOf, answerOf, sentences, signIn, signUp } from '../keys/people.js'
import { hello, platformWith, type Scene } from '../scene.js'
import { control } from './controlled.js'

const post = (body?: unknown, headers: Record<string, string> = {}) => ({
  method: 'POST',
  bearer: null,
  ...(body !== undefined && { body: JSON.stringify(body) }),
  headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
})

const inScope = (scope: string) => ({ headers: { 'x-standin-scope': scope } })

const counting = { when: { user: 'hello' }, replies: [{ text: 'one' }, { text: 'two' }, { text: 'three' }] }

/** The text of a reply, or the status of an error. */
async function textOrStatus(response: Response): Promise<string | number> {
  if (!response.ok) return response.status
  const { choices } = (await response.json()) as { choices: readonly [{ message: { content: string } }] }
  return choices[0].message.content
}

/** A platform, and an app that sends requests in a scope. */
async function opened() {
  const platform = await openPlatform({
    cwd: process.cwd(),
    file: false,
    flags: [
      { path: ['port'], value: 0, origin: '--port' },
      { path: ['state'], value: 'memory', origin: '--state' },
    ],
    rules: [counting],
  })
  onTestFinished(() => platform.stop())
  const replyIn = async (scope: string) =>
    textOrStatus(
      await fetch(`${platform.url}/v1/chat/completions`, {
        method: 'POST',
        headers: {
          ...inScope(scope).headers,
          authorization: `Bearer ${platform.apiKey}`,
          'content-type': 'application/json',
        },
        body: JSON.stringify(hello),
      }),
    )
  return { platform, replyIn }
}

/** Leaves behind what a test may: a rule, a pending fault, and the counters of rules. */
async function leaveBehind(platform: Platform, replyIn: (scope: string) => Promise<unknown>, scope: string) {
  await replyIn(scope)
  await platform.rules.add({ when: { user: 'hello' }, reply: { text: `of ${scope}` }, times: 1 }, { scope })
  await control(platform, 'POST /faults', { fault: { status: 503 }, scope })
}

test('a reset of one scope clears everything in it, and nothing in another', async () => {
  const { platform, replyIn } = await opened()
  for (const scope of ['a', 'b']) await leaveBehind(platform, replyIn, scope)
  await platform.reset({ scope: 'a' })
  expect([await replyIn('a'), await replyIn('a')]).toEqual(['one', 'two'])
  expect([await replyIn('b'), await replyIn('b'), await replyIn('b')]).toEqual([503, 'of b', 'two'])
  expect([platform.journal.count({ scope: 'a' }), platform.journal.count({ scope: 'b' })]).toEqual([2, 4])
})

test('a reset without a scope clears everything', async () => {
  const { platform, replyIn } = await opened()
  for (const scope of ['a', '']) await leaveBehind(platform, replyIn, scope)
  await platform.reset()
  expect(platform.journal.count()).toBe(0)
  expect([await replyIn('a'), await replyIn(''), await replyIn('')]).toEqual(['one', 'one', 'two'])
  expect(platform.faultCalls.waiting()).toEqual([])
})

test('tests that run in parallel, each with its own resets, get the same replies as alone', async () => {
  const { platform, replyIn } = await opened()
  const round = async (scope: string) => {
    const rounds: unknown[] = []
    for (let i = 0; i < 5; i++) {
      await platform.reset({ scope })
      const first = await replyIn(scope)
      await leaveBehind(platform, replyIn, scope)
      rounds.push([first, await replyIn(scope), await replyIn(scope), await replyIn(scope)])
    }
    return rounds
  }
  const scopes = ['a', 'b', 'c', 'd', 'e', 'f']
  const all = await Promise.all(scopes.map(round))
  expect(all).toEqual(scopes.map(scope => Array(5).fill(['one', 503, `of ${scope}`, 'three'])))
})

const scoped =
  ({ chat }: Pick<Scene, 'chat'>) =>
  (scope: string) =>
    chat(hello, inScope(scope)).then(textOrStatus)

test.each<[string, Parameters<Scene['ask']>]>([
  ['body', ['/__standin/reset', post({ scope: 'a' })]],
  ['query', ['/__standin/reset?scope=a', post()]],
  ['header', ['/__standin/reset', post({}, inScope('a').headers)]],
])('over HTTP the %s can name the scope', async (_where, [path, options]) => {
  const platform = await platformWith({ rules: [counting] })
  const replyIn = scoped(platform)
  for (const scope of ['a', 'b']) await replyIn(scope)
  const response = await platform.ask(path, options)
  expect([response.status, await response.text()]).toEqual([204, ''])
  expect([await replyIn('a'), await replyIn('b')]).toEqual(['one', 'two'])
})

test('a full reset restores the mode, the clock and the users of the start, over HTTP and in code', async () => {
  const platform = await platformWith({ state: 'memory' })
  const users = async () => (await platform.ask('/__standin/users')).json()
  const before = await users()
  const changed = async () => {
    await platform.clock.advance(3_600_000)
    await platform.signIn({ email: 'ada@example.com' })
    await platform.switchMode('replay')
  }
  await changed()
  expect(await users()).not.toEqual(before)
  expect((await platform.ask('/__standin/reset', post())).status).toBe(204)
  expect([await platform.mode, (await platform.clock.state()).offsetMs, await users()]).toEqual(['emulate', 0, before])
  await changed()
  await platform.reset()
  expect([await platform.mode, (await platform.clock.state()).offsetMs, await users()]).toEqual(['emulate', 0, before])
})

test('a reset after a reload restores the users and keys of the current configuration', async () => {
  const seed = (name: string) => ({ email: `${name}@example.com`, password: 'secret-word' })
  const [ada, bob, carol] = [seed('ada'), seed('bob'), seed('carol')]
  const key = { name: 'ci', key: 'sk-local-of-the-configuration', user: carol.email }
  const scene = await platformOf({ users: [ada, bob] })
  const users = async () => {
    const { data } = await adminOf(scene.platform).listUsers()
    const answer = await (await fetch(`${scene.platform.url}/__standin/keys`)).json()
    const keys = (answer as { data: readonly { name: string }[] }).data
    return [...data.users.map(({ email }) => email), ...keys.map(({ name }) => name)].sort()
  }
  await signUp(scene.platform, 'of-a-test@example.com')
  await scene.reload({ users: [bob, carol], apiKeys: [key] })
  await scene.platform.reset()
  expect(await users()).toEqual(['bob@example.com', 'carol@example.com', 'ci'])
  const { token } = await signIn(scene.platform, carol)
  await scene.platform.reset()
  expect(await answerOf(scene.platform, token)).toBe(sentences.ended)
  expect(await answerOf(scene.platform, key.key)).toBe('open')
})

test('a reset with state: false keeps the users, and restores the rest', async () => {
  const platform = await platformWith({ state: 'memory' })
  await platform.signIn({ email: 'ada@example.com' })
  await platform.clock.advance(3_600_000)
  expect((await platform.ask('/__standin/reset', post({ state: false }))).status).toBe(204)
  const { data } = (await (await platform.ask('/__standin/users')).json()) as { data: readonly { email: string }[] }
  expect(data.map(({ email }) => email)).toContain('ada@example.com')
  expect((await platform.clock.state()).offsetMs).toBe(0)
})

test('a reset of a scope restores its rows of resources, and no others', async () => {
  const platform = await platformWith({ resources: { '/things': { data: [{ id: 1 }] } } })
  const scope = await platform.scope('a')
  await scope.resource('/things').insert({ id: 2 })
  await platform.resource('/things').insert({ id: 3 })
  const idsIn = async (one: Abilities) => (await one.resource('/things').rows()).map(({ id }) => id)
  await scope.reset()
  expect([await idsIn(scope), await idsIn(platform)]).toEqual([[1], [1, 3]])
  await platform.reset()
  expect(await idsIn(platform)).toEqual([1])
})
