import { expect, onTestFinished, test } from 'vitest'
import { openPlatform, type Platform } from '../../src/platform.js'
import { platformOf } from '../keys/edited.js'
import { answerOf, sentences, signIn, signUp } from '../keys/people.js'
import { liveWith, saying, tape } from '../recordings/live.js'
import { hello, platformWith, type Scene } from '../scene.js'
import { isUnknown } from '../sentences.js'

const post = (body?: unknown, headers: Record<string, string> = {}) => ({
  method: 'POST',
  bearer: null,
  ...(body !== undefined && { body: JSON.stringify(body) }),
  headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
})

const inScope = (scope: string) => ({ headers: { 'x-standin-scope': scope } })

const counting = { when: { user: 'hello' }, replies: [{ text: 'one' }, { text: 'two' }, { text: 'three' }] }

/** The status, or what was said. */
async function heard(response: Response): Promise<string | number> {
  if (!response.ok) return response.status
  const { choices } = (await response.json()) as { choices: readonly [{ message: { content: string } }] }
  return choices[0].message.content
}

/** A platform by its own door, with an app that asks it in a scope. */
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
  const says = async (scope: string) =>
    heard(
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
  return { platform, says }
}

/** What a test leaves behind: a rule, a fault that waits, and what rules remember. */
async function leaveBehind(platform: Platform, says: (scope: string) => Promise<unknown>, scope: string) {
  await says(scope)
  await platform.rules.add({ when: { user: 'hello' }, reply: { text: `of ${scope}` }, times: 1 }, { scope })
  platform.failNext({ fault: { status: 503 }, scope })
}

test('a reset of one scope forgets all that it has left behind, and nothing of another', async () => {
  const { platform, says } = await opened()
  for (const scope of ['a', 'b']) await leaveBehind(platform, says, scope)
  await platform.reset({ scope: 'a' })
  expect([await says('a'), await says('a')]).toEqual(['one', 'two'])
  expect([await says('b'), await says('b'), await says('b')]).toEqual([503, 'of b', 'two'])
  expect([platform.journal.count({ scope: 'a' }), platform.journal.count({ scope: 'b' })]).toEqual([2, 4])
})

test('a reset without a scope forgets everything', async () => {
  const { platform, says } = await opened()
  for (const scope of ['a', '']) await leaveBehind(platform, says, scope)
  await platform.reset()
  expect(platform.journal.count()).toBe(0)
  expect([await says('a'), await says(''), await says('')]).toEqual(['one', 'one', 'two'])
  expect(platform.faultCalls.waiting()).toEqual([])
})

test('a reset of the empty scope forgets what has no scope, and nothing that has one', async () => {
  const { platform, says } = await opened()
  for (const scope of ['a', '']) await leaveBehind(platform, says, scope)
  await platform.reset({ scope: '' })
  expect([await says(''), await says(''), await says('a'), await says('a')]).toEqual(['one', 'two', 503, 'of a'])
})

test('tests that run side by side, each with resets of its own, hear what each would hear alone', async () => {
  const { platform, says } = await opened()
  const round = async (scope: string) => {
    const rounds: unknown[] = []
    for (let i = 0; i < 5; i++) {
      await platform.reset({ scope })
      const first = await says(scope)
      await leaveBehind(platform, says, scope)
      rounds.push([first, await says(scope), await says(scope), await says(scope)])
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
    chat(hello, inScope(scope)).then(heard)

test.each<[string, Parameters<Scene['ask']>]>([
  ['body', ['/__standin/reset', post({ scope: 'a' })]],
  ['query', ['/__standin/reset?scope=a', post()]],
  ['header', ['/__standin/reset', post({}, inScope('a').headers)]],
])('over HTTP the scope is named in the %s', async (_where, [path, options]) => {
  const platform = await platformWith({ rules: [counting] })
  const says = scoped(platform)
  for (const scope of ['a', 'b']) await says(scope)
  const response = await platform.ask(path, options)
  expect([response.status, await response.text()]).toEqual([204, ''])
  expect([await says('a'), await says('b')]).toEqual(['one', 'two'])
})

test.each([undefined, {}])('over HTTP without a scope everything is forgotten: body %j', async body => {
  const platform = await platformWith({ rules: [counting] })
  const says = scoped(platform)
  for (const scope of ['a', '']) await says(scope)
  expect((await platform.ask('/__standin/reset', post(body))).status).toBe(204)
  expect([await says('a'), await says('')]).toEqual(['one', 'one'])
})

test('a reset that is misspelt is refused, and nothing is forgotten', async () => {
  const platform = await platformWith({ rules: [counting] })
  const says = scoped(platform)
  await says('a')
  const response = await platform.ask('/__standin/reset', post({ scpe: 'a' }))
  expect([response.status, await response.json()]).toEqual([400, { error: `scpe ${isUnknown('scope')}` }])
  const foreign = await platform.ask('/__standin/reset', post({}, { origin: 'http://evil.example' }))
  const get = await platform.ask('/__standin/reset', { bearer: null })
  expect([foreign.status, get.status, get.headers.get('allow')]).toEqual([403, 405, 'POST'])
  expect(await says('a')).toBe('two')
})

test('after a reset the recordings of a request are played from the first one again, in that scope', async () => {
  let count = 0
  const live = await liveWith((request, response) => saying({ count: ++count })(request, response))
  const { recording, replaying } = tape(live.url)
  const recorded = await recording()
  for (let i = 0; i < 3; i++) await (await recorded.chat(hello)).text()
  await recorded.stop()
  const { chat, ask } = await replaying()
  const next = async (scope: string) => ((await (await chat(hello, inScope(scope))).json()) as { count: number }).count
  expect([await next('a'), await next('a'), await next('b')]).toEqual([1, 2, 1])
  await ask('/__standin/reset', post({ scope: 'a' }))
  expect([await next('a'), await next('b')]).toEqual([1, 2])
})

test('after a reset random faults start over in a scope, and go on in the others', async () => {
  const random = [{ status: 500, chance: 0.5 }]
  const platform = await platformWith({ faults: { random } })
  const statuses = async (scope: string) => {
    const found: number[] = []
    for (let i = 0; i < 12; i++) found.push((await platform.chat(hello, inScope(scope))).status)
    return found
  }
  const first = await statuses('a')
  expect(await statuses('b')).toEqual(first)
  const second = await statuses('b')
  expect(second).not.toEqual(first)
  await platform.ask('/__standin/reset', post({ scope: 'a' }))
  expect(await statuses('a')).toEqual(first)
  expect(await statuses('b')).not.toEqual(first)
})

test('a reset of everything brings back mode, clock and users of the start, asked for by call as in code', async () => {
  const platform = await platformWith({ state: 'memory' })
  const users = async () => (await platform.ask('/__standin/state')).json()
  const before = await users()
  const changed = async () => {
    platform.clock.advance(3_600_000)
    await platform.signIn({ email: 'ada@example.com' })
    platform.switchMode('replay')
  }
  await changed()
  expect(await users()).not.toEqual(before)
  expect((await platform.ask('/__standin/reset', post())).status).toBe(204)
  expect([platform.mode, platform.clock.state().offsetMs, await users()]).toEqual(['emulate', 0, before])
  await changed()
  await platform.reset()
  expect([platform.mode, platform.clock.state().offsetMs, await users()]).toEqual(['emulate', 0, before])
})

test('after a reload that adds and removes users and keys, a reset brings back those of the configuration that is loaded now', async () => {
  const seed = (name: string) => ({ email: `${name}@example.com`, password: 'secret-word' })
  const [ada, bob, carol] = [seed('ada'), seed('bob'), seed('carol')]
  const key = { name: 'ci', key: 'sk-local-of-the-configuration', user: carol.email }
  const scene = await platformOf({ users: [ada, bob] })
  const users = async () => {
    const { users, api_keys } = await scene.platform.exportState()
    return [...users.map(({ email }) => email), ...api_keys.map(({ name }) => name)].sort()
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

test('a reset that is to keep the state keeps users, and brings back the rest', async () => {
  const platform = await platformWith({ state: 'memory' })
  await platform.signIn({ email: 'ada@example.com' })
  platform.clock.advance(3_600_000)
  expect((await platform.ask('/__standin/reset', post({ state: false }))).status).toBe(204)
  const { users } = (await (await platform.ask('/__standin/state')).json()) as { users: readonly { email: string }[] }
  expect(users.map(({ email }) => email)).toContain('ada@example.com')
  expect(platform.clock.state().offsetMs).toBe(0)
})
