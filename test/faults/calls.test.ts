import { expect, onTestFinished, test } from 'vitest'
import { FaultCalls } from '../../src/faults/index.js'
import { ProblemsError } from '../../src/index.js'
import { exchangeWith } from '../exchanges.js'
import { hello, platformWith } from '../scene.js'
import { isUnknown, mustBeSuch } from '../sentences.js'

const statusOf = async (response: Promise<Response>) => (await response).status

const inScope = (scope: string) => ({ headers: { 'x-standin-scope': scope } })

const saying = (content: string) => ({ ...hello, messages: [{ role: 'user', content }] })

test('a fault with conditions only hits matching requests', async () => {
  const { ask, chat, failNext } = await platformWith()
  await failNext({ status: 503 }, { when: { user: /^weather/, stream: false } })
  expect(await statusOf(ask('/v1/models'))).toBe(200)
  expect(await statusOf(chat(hello))).toBe(200)
  expect(await statusOf(chat({ ...saying('weather?'), stream: true }))).toBe(200)
  expect(await statusOf(chat(saying('weather?')))).toBe(503)
  expect(await statusOf(chat(saying('weather?')))).toBe(200)
})

test('an invalid chat request matches no conditions and gets its usual 400', async () => {
  const { chat, failNext } = await platformWith()
  await failNext({ status: 503 }, { when: { not: { user: 'x' } } })
  expect(await statusOf(chat({ model: 5 }))).toBe(400)
  expect(await statusOf(chat(hello))).toBe(503)
})

test('a fault with a scope only hits requests in that scope, one without hits any request', async () => {
  const { chat, failNext } = await platformWith()
  await failNext({ status: 503 }, { scope: 'a' })
  await failNext({ status: 500 })
  expect(await statusOf(chat(hello, inScope('b')))).toBe(500)
  expect(await statusOf(chat(hello, inScope('b')))).toBe(200)
  expect(await statusOf(chat(hello))).toBe(200)
  expect(await statusOf(chat(hello, inScope('a')))).toBe(503)
  expect(await statusOf(chat(hello, inScope('a')))).toBe(200)
})

test('faults of a scope are listed and cleared separately', () => {
  const calls = new FaultCalls()
  const fault = { status: 503 }
  calls.add({ fault, times: 1, scope: 'a' })
  calls.add({ fault, times: 1, scope: 'b' })
  calls.add({ fault, times: 1 })
  const ids = (scope?: string) => calls.waiting(scope).map(({ id }) => id)
  expect([ids(), ids('a'), ids('')]).toEqual([['fault-1', 'fault-2', 'fault-3'], ['fault-1'], ['fault-3']])
  calls.clear('a')
  expect(ids()).toEqual(['fault-2', 'fault-3'])
  calls.clear('')
  expect(ids()).toEqual(['fault-2'])
  expect(calls.take(exchangeWith({ scope: 'a' }), () => true)).toBeUndefined()
  expect(calls.take(exchangeWith({ scope: 'b' }), () => true)).toEqual(fault)
})

test('draws for a fault do not depend on other scopes, and start again after a clear', () => {
  const fault = { status: 503, chance: 0.5 }
  const drawnFor = (others: number) => {
    const calls = new FaultCalls()
    const drawn: string[] = []
    const draw = () => calls.take(exchangeWith({ scope: 'a' }), (_fault, entry) => drawn.push(entry) < 0)
    for (let i = 0; i < others; i++) calls.add({ fault, times: 1, scope: 'b' })
    for (let i = 0; i < 2; i++) calls.add({ fault, times: 1, scope: 'a' })
    draw()
    calls.clear('a')
    calls.add({ fault, times: 1, scope: 'a' })
    draw()
    return drawn
  }
  expect(drawnFor(0)).toEqual(['fault-1', 'fault-2', 'fault-1'])
  expect(drawnFor(3)).toEqual(drawnFor(0))
})

test('failNext rejects invalid conditions', async () => {
  const { failNext, chat } = await platformWith()
  const failing = (when: object) => failNext({ status: 503 }, { when: when as never })
  await expect(failing({ usr: 'x' })).rejects.toThrow(ProblemsError)
  await expect(failing({ usr: 'x' })).rejects.toThrow(`when.usr ${isUnknown('user')}`)
  await expect(failing({ user: '/(/' })).rejects.toThrow(mustBeSuch('when.user', 'a valid regular expression'))
  expect(await statusOf(chat(hello))).toBe(200)
})

const faults = '/__standin/faults'
const call = (method: string, body?: object, headers = {}) => ({
  method,
  bearer: null,
  ...(body && { body: JSON.stringify(body) }),
  headers: { 'content-type': 'application/json', ...headers },
})

test('over HTTP a fault takes conditions and a scope, from the body, the query or a header', async () => {
  const { ask, chat } = await platformWith()
  const fault = { status: 503 }
  const when = { user: '/^weather/' }
  expect(await statusOf(ask(faults, call('POST', { fault, when, scope: 'a', times: 2 })))).toBe(201)
  expect(await statusOf(ask(`${faults}?scope=b`, call('POST', { fault })))).toBe(201)
  expect(await statusOf(ask(faults, call('POST', { fault }, { 'x-standin-scope': 'c' })))).toBe(201)
  expect(await statusOf(chat(hello, inScope('a')))).toBe(200)
  expect(await statusOf(chat(saying('weather'), inScope('a')))).toBe(503)
  expect(await statusOf(chat(hello, inScope('c')))).toBe(503)
  expect(await statusOf(ask('/__standin/reset?scope=a', call('POST')))).toBe(204)
  expect(await statusOf(chat(saying('weather'), inScope('a')))).toBe(200)
  expect(await statusOf(chat(hello, inScope('b')))).toBe(503)
})

test('the number of waiting faults is limited, and a used one frees a place', () => {
  const calls = new FaultCalls(undefined, 2)
  const call = { fault: { status: 503 }, times: 1 }
  for (const scope of ['a', 'b']) calls.add({ ...call, scope })
  expect(() => calls.add({ ...call, scope: 'c' })).toThrow(/^At most 2 faults can be waiting\. Remove some:/)
  calls.take(exchangeWith({ scope: 'a' }), () => true)
  calls.add({ ...call, scope: 'c' })
  expect(calls.waiting().map(({ scope }) => scope)).toEqual(['b', 'c'])
})

test('the names of earlier releases are accepted, and a note says the new ones', async () => {
  const { journal, failNext, chat } = await platformWith()
  // Another warning of this process may come first.
  const noted = new Promise<void>(resolve => {
    const listen = ({ message }: Error) => message.includes('stallAfterChunks is called stall now.') && resolve()
    process.on('warning', listen)
    onTestFinished(() => void process.off('warning', listen))
  })
  await failNext({ stallAfterChunks: 2, stallMs: 1 })
  await noted
  await (await chat({ ...hello, stream: true })).text()
  expect((await journal.last())?.source).toContain('fault stall=2; stallMs=1')
})
