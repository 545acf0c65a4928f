import { expect, test } from 'vitest'
import { hello, platformWith } from '../scene.js'
import { filePlace } from '../state/kinds.js'
import { said } from './asking.js'

test('replies, faults and requests of a scope stay in it, by header and by key', async () => {
  const platform = await platformWith({ rules: [{ reply: { text: 'for all' } }] })
  const [one, other] = [await platform.scope('one'), await platform.scope('other')]
  await one.reply('for one')
  await other.failNext({ status: 503 })
  expect(await said(platform, 'a', one.headers)).toBe('for one')
  expect(await said({ url: platform.url, apiKey: one.apiKey }, 'b')).toBe('for one')
  expect(await said(platform, 'c')).toBe('for all')
  await expect(said({ url: platform.url, apiKey: other.apiKey }, 'd')).rejects.toMatchObject({ status: 503 })
  expect([await one.journal.count(), await other.journal.count(), await platform.journal.count()]).toEqual([2, 1, 4])
})

test('keys of a scope still work after a full reset, and further keys belong to it', async () => {
  const platform = await platformWith()
  const one = await platform.scope('one')
  expect(await platform.scope('one')).toBe(one)
  await platform.signIn({ email: 'ada@example.com' })
  await platform.reset()
  const further = await one.createKey({ name: 'further' })
  for (const apiKey of [one.apiKey, further]) await said({ url: platform.url, apiKey }, 'a')
  expect(await one.journal.count()).toBe(2)
})

test('in a persistent state, scope keys stop working when their process ends', async () => {
  const { dir } = filePlace()
  const state = `file:${dir}/state.db`
  const first = await platformWith({ state })
  const scope = await first.scope('one')
  const keys = [scope.apiKey, await scope.createKey()]
  const kept = await first.createKey()
  await first.stop()
  const second = await platformWith({ state })
  const statusOf = async (bearer: string) => (await second.ask('/v1/models', { bearer })).status
  expect(await Promise.all([...keys, kept].map(statusOf))).toEqual([401, 401, 200])
})

test('a hundred concurrent scopes stay separate', async () => {
  const platform = await platformWith()
  const names = Array.from({ length: 100 }, (_, i) => `test ${i}`)
  const results = await Promise.all(
    names.map(async name => {
      const scope = await platform.scope(name)
      void scope.reply(`said to ${name}`)
      const text = await said({ url: platform.url, apiKey: scope.apiKey }, name)
      return {
        text,
        asked: await scope.journal.count({ body: { messages: [{ content: name }] } }),
        all: await scope.journal.count(),
      }
    }),
  )
  expect(results).toEqual(names.map(name => ({ text: `said to ${name}`, asked: 1, all: 1 })))
})

test('a request that no rule matches is a miss in its scope', async () => {
  const platform = await platformWith({
    strict: true,
    rules: [{ name: 'greeting', when: { user: 'hi' }, reply: { text: 'Hi' } }],
  })
  const [one, other] = [await platform.scope('one'), await platform.scope('other')]
  await platform.chat(hello, { headers: one.headers })
  await other.expectNoMisses()
  await expect(one.expectNoMisses()).rejects.toThrow(
    /^A request had no prepared answer\.\n\nPOST \/v1\/chat\/completions, "hello": .*rule "greeting"/,
  )
  await expect(platform.expectNoMisses()).rejects.toThrow('A request had no prepared answer.')
  await one.reset()
  await platform.expectNoMisses()
})
