import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openPlatform } from '../../src/platform.js'
import { folderWith } from '../command.js'
import { liveWith, saying } from '../recordings/live.js'
import { hello, platformWith, type Scene } from '../scene.js'
import { AN_OBJECT, isUnknown, mustBe } from '../sentences.js'

/** A request to the control API, without a credential. */
const call = (method: string, body?: unknown, headers: Record<string, string> = {}) => ({
  method,
  bearer: null,
  ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
})

const replies = '/__standin/replies'
const inScope = (scope: string) => ({ headers: { 'x-standin-scope': scope } })

const statusOf = async (response: Promise<Response>) => (await response).status

const replyIn = async ({ chat }: Pick<Scene, 'chat'>, scope = '') => {
  const response = await chat(hello, inScope(scope))
  const { choices } = (await response.json()) as { choices: readonly { message: { content: string } }[] }
  return choices[0]?.message.content
}

const rule = (text: string, more: object = {}) => ({ when: { user: 'hello' }, reply: { text }, ...more })

test('a rule can be added, used and removed over HTTP', async () => {
  const platform = await platformWith({ rules: [{ name: 'old', ...rule('old') }] })
  const made = await platform.ask(replies, call('POST', rule('new', { name: 'fresh' })))
  expect([made.status, await made.json()]).toEqual([201, { data: [{ id: 'rule-1' }] }])
  expect(await replyIn(platform)).toBe('new')
  expect(await (await platform.ask(replies, call('GET'))).json()).toEqual({
    data: [
      {
        ...{
          id: 'rule-1',
          title: 'rule "fresh"',
          place: 'at run time #1',
          scope: null,
          answered: 1,
          enabled: true,
          file: null,
        },
        rule: { name: 'fresh', ...rule('new') },
      },
      {
        ...{
          id: null,
          title: 'rule "old"',
          place: 'rules[0]',
          scope: null,
          answered: 0,
          enabled: true,
          file: null,
        },
        rule: { name: 'old', ...rule('old') },
      },
    ],
  })
  expect(await statusOf(platform.ask(`${replies}/rule-1`, call('DELETE')))).toBe(204)
  expect(await replyIn(platform)).toBe('old')
  const again = await platform.ask(`${replies}/rule-1`, call('DELETE'))
  expect([again.status, await again.json()]).toEqual([404, { error: 'There is no rule with the id "rule-1".' }])
})

test('a list of rules is added in its order', async () => {
  const platform = await platformWith()
  const made = await platform.ask(replies, call('POST', [rule('one', { times: 1 }), rule('two')]))
  expect(await made.json()).toEqual({ data: [{ id: 'rule-1' }, { id: 'rule-2' }] })
  expect([await replyIn(platform), await replyIn(platform)]).toEqual(['one', 'two'])
})

test.each<[string, Parameters<Scene['ask']>]>([
  ['body', [replies, call('POST', rule('mine', { scope: 'a' }))]],
  ['query', [`${replies}?scope=a`, call('POST', [rule('mine')])]],
  ['header', [replies, call('POST', rule('mine'), { 'x-standin-scope': 'a' })]],
])('the %s can name the scope of a rule, and other scopes do not get its reply', async (_where, [path, options]) => {
  const platform = await platformWith({ rules: [rule('all')] })
  expect(await statusOf(platform.ask(path, options))).toBe(201)
  expect([await replyIn(platform, 'a'), await replyIn(platform, 'b'), await replyIn(platform)]).toEqual([
    'mine',
    'all',
    'all',
  ])
  const listed = async (scope: string) => {
    const response = await platform.ask(`${replies}?scope=${scope}`, call('GET'))
    const { data } = (await response.json()) as { data: readonly { place: string }[] }
    return data.map(({ place }) => place)
  }
  expect([await listed('a'), await listed('b')]).toEqual([['at run time #1', 'rules[0]'], ['rules[0]']])
  expect(await statusOf(platform.ask(`${replies}?scope=b`, call('DELETE')))).toBe(204)
  expect(await replyIn(platform, 'a')).toBe('mine')
  expect(await statusOf(platform.ask(`${replies}?scope=a`, call('DELETE')))).toBe(204)
  expect(await replyIn(platform, 'a')).toBe('all')
})

test('without a scope all added rules are removed, and none from files or code', async () => {
  const platform = await platformWith({ rules: [rule('code')] })
  await platform.ask(replies, call('POST', rule('mine', { scope: 'a' })))
  await platform.ask(replies, call('POST', rule('ours')))
  expect(await statusOf(platform.ask(replies, call('DELETE')))).toBe(204)
  expect([await replyIn(platform, 'a'), await replyIn(platform)]).toEqual(['code', 'code'])
})

test.each([
  ['"x"', 400, mustBe('The request body', AN_OBJECT, 'x')],
  [{ reply: { text: 1 } }, 400, mustBe('reply.text', 'a string', 1)],
  [{ reply: { text: 'a' }, whn: {} }, 400, expect.stringContaining(`whn ${isUnknown('when')}`)],
  [[{ reply: { text: 'a' } }, { reply: { text: '{% if %}' } }], 400, expect.stringMatching(/^\[1\]\.reply\.text: /)],
  [{ reply: { file: '/etc/passwd' } }, 400, 'reply.file: A rule that is sent cannot use files. Send the text itself.'],
])('an invalid rule is refused by the name of its field, and none is added: %j', async (body, status, error) => {
  const { ask } = await platformWith()
  const response = await ask(replies, call('POST', body))
  expect([response.status, await response.json()]).toEqual([status, { error }])
  expect(await (await ask(replies, call('GET'))).json()).toEqual({ data: [] })
})

test('a reload keeps added rules and their counters, and reads the files again', async () => {
  const line = (text: string) => `- when: { user: hello }\n  replies: [{ text: ${text} 1 }, { text: ${text} 2 }]\n`
  const config = 'port: 0\nstate: memory\nreplies: [rules.yaml]\n'
  const cwd = folderWith({ 'platform.config.yaml': config, 'rules.yaml': line('old') })
  const platform = await openPlatform({ cwd })
  onTestFinished(() => platform.stop())
  const chat: Scene['chat'] = (body, { headers } = {}) =>
    fetch(`${platform.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { ...headers, authorization: `Bearer ${platform.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  await platform.rules.add({ reply: { text: 'added {{count}}' }, times: 2 }, { scope: 'a' })
  expect([await replyIn({ chat }, 'a'), await replyIn({ chat }, 'b')]).toEqual(['added 1', 'old 1'])
  writeFileSync(path.join(cwd, 'rules.yaml'), line('new'))
  await platform.reload()
  expect([await replyIn({ chat }, 'b'), await replyIn({ chat }, 'a')]).toEqual(['new 1', 'added 2'])
  expect([await replyIn({ chat }, 'b'), await replyIn({ chat }, 'a')]).toEqual(['new 2', 'new 1'])
  expect((await platform.rules.list('a')).map(({ place, answered }) => [place, answered])).toEqual([
    ['at run time #1', 2],
    ['rules.yaml:1', 1],
  ])
})

test('in proxy mode the live platform answers, and the fault of an added rule applies', async () => {
  const live = await liveWith(saying({ live: true }))
  const { ask, chat } = await platformWith({ mode: 'proxy', upstream: { baseUrl: live.url, apiKey: 'sk-live' } })
  await ask(replies, call('POST', { ...rule('x'), reply: { fault: { status: 503 } }, times: 1, scope: 'a' }))
  expect(await (await chat(hello, inScope('b'))).json()).toEqual({ live: true })
  expect(await statusOf(chat(hello, inScope('a')))).toBe(503)
  expect(await (await chat(hello, inScope('a'))).json()).toEqual({ live: true })
})
