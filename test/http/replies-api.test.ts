import { expect, test } from 'vitest'
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
