import { expect, test } from 'vitest'
import type { JournalEntry } from '../../src/journal/index.js'
import { hello, platformWith } from '../scene.js'
import { isUnknown, mustBe, TRUE_OR_FALSE, wholeNumber } from '../sentences.js'

interface Page {
  readonly data: readonly JournalEntry[]
  readonly next?: string
}

/** A platform that has received requests for these paths, in this order. */
async function platformAfter(...paths: readonly string[]) {
  const platform = await platformWith({
    rules: [{ name: 'greeting', when: { user: 'hello' }, reply: { text: 'Hi!' } }],
  })
  for (const path of paths) await (await platform.ask(path)).text()
  const control = (path: string, init: RequestInit = {}) => fetch(`${platform.url}/__standin/${path}`, init)
  const call = async (path: string, body?: unknown) => {
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
    const response = await control(path, body === undefined ? {} : init)
    return { status: response.status, body: (await response.json()) as Page & { error: string; count: number } }
  }
  return { ...platform, control, call, page: async (query = '') => (await call(`journal${query}`)).body }
}

const pathsOf = ({ data }: Page) => data.map(({ request }) => request.path)

test('the journal lists requests, newest last, and where each answer came from', async () => {
  const { chat, page } = await platformAfter('/health')
  await (await chat(hello)).json()
  const { data, next } = await page()
  expect(pathsOf({ data })).toEqual(['/health', '/v1/chat/completions'])
  expect(next).toBeUndefined()
  expect(data[1]).toMatchObject({
    caller: { kind: 'apiKey', name: 'development' },
    request: { method: 'POST', body: hello },
    source: 'rule "greeting"',
    status: 200,
    complete: true,
  })
})

test.each([
  ['?path=/v1/*', ['/v1/models']],
  ['?status=4xx&complete=true', ['/nope']],
  ['?caller=apiKey', ['/v1/models']],
  ['?method=get&path=/nope', ['/nope']],
  ['?scope=', ['/health', '/v1/models', '/nope']],
  ['?after=1&before=3', ['/v1/models']],
])('query parameters filter the journal: %s', async (query, paths) => {
  const { page } = await platformAfter('/health', '/v1/models', '/nope')
  expect(pathsOf(await page(query))).toEqual(paths)
})

test('a text filter that looks like a number or a boolean is still text', async () => {
  const { chat, page } = await platformAfter()
  await (await chat({ ...hello, messages: [{ role: 'user', content: 'is 17 true' }] })).json()
  expect((await page('?text=17')).data).toHaveLength(1)
  expect((await page('?text=true')).data).toHaveLength(1)
})

test.each([
  ['?staus=404', `staus ${isUnknown('status')}`],
  ['?limit=0', mustBe('limit', wholeNumber(1, 1000), '0')],
  ['?follow&before=3', 'before cannot be combined with follow.'],
])('a wrong parameter is refused by name: %s', async (query, error) => {
  const { call } = await platformAfter()
  expect(await call(`journal${query}`)).toEqual({ status: 400, body: { error } })
})

test('going back page by page shows everything once', async () => {
  const { page } = await platformAfter('/a', '/b', '/c', '/d', '/e')
  const last = await page('?limit=2')
  const middle = await page(`?limit=2&before=${last.next}`)
  const first = await page(`?limit=2&before=${middle.next}`)
  expect([first, middle, last].map(pathsOf)).toEqual([['/a'], ['/b', '/c'], ['/d', '/e']])
  expect(first.next).toBeUndefined()
})

test('going forward page by page shows everything once, with a filter as well', async () => {
  const { page } = await platformAfter('/a', '/health', '/b', '/health', '/c')
  const first = await page('?limit=2&status=404&after=0')
  const last = await page(`?limit=2&status=404&after=${first.next}`)
  expect([first, last].map(pathsOf)).toEqual([['/a', '/b'], ['/c']])
  expect(last.next).toBeUndefined()
})

test('an exchange has an address of its own until it is cleared', async () => {
  const { page, call, control } = await platformAfter('/health')
  const { data } = await page()
  const id = data[0]?.id ?? ''
  expect((await call(`journal/${id}`)).body).toEqual(data[0])
  expect((await control(`journal/${id}`, { method: 'HEAD' })).status).toBe(200)
  expect((await control('journal', { method: 'DELETE' })).status).toBe(204)
  expect(await call(`journal/${id}`)).toEqual({
    status: 404,
    body: { error: expect.stringMatching(/^Exchange 1 is no longer kept\./) },
  })
})

test.each(['-1', 'x'])('a malformed id is a 404: %s', async id => {
  const { control } = await platformAfter('/health')
  for (const path of [`journal/${id}`, `journal/${id}/curl`]) {
    const response = await control(path)
    expect([response.status, Object.keys((await response.json()) as object)]).toEqual([404, ['error']])
  }
})

test('a test can count and find exchanges', async () => {
  const { call } = await platformAfter('/health', '/nope', '/health')
  expect((await call('journal/count', { path: '/health', status: '2xx' })).body).toEqual({ count: 2 })
  expect((await call('journal/count', {})).body).toEqual({ count: 3 })
  expect(pathsOf((await call('journal/find', { status: 404 })).body)).toEqual(['/nope'])
  expect((await call('journal/find', { path: '/health', limit: 1 })).body).toMatchObject({
    data: [{ id: '3' }],
    next: '3',
  })
})

test.each([
  ['journal/count', { staus: 404 }, `staus ${isUnknown('status')}`],
  ['journal/find', { complete: 'true' }, mustBe('complete', TRUE_OR_FALSE, 'true')],
])('a wrong filter is refused by the name of its field: %s %j', async (path, body, error) => {
  const { call } = await platformAfter()
  expect(await call(path, body)).toEqual({ status: 400, body: { error } })
})

test('clearing one scope keeps the others', async () => {
  const { ask, page, control } = await platformAfter('/health')
  for (const scope of ['one', 'two']) await ask('/v1/models', { headers: { 'x-standin-scope': scope } })
  const scopes = async () => (await page()).data.map(({ scope }) => scope)
  expect((await page('?scope=one')).data).toMatchObject([{ scope: 'one', request: { path: '/v1/models' } }])
  expect((await control('journal?scope=one', { method: 'DELETE' })).status).toBe(204)
  expect(await scopes()).toEqual(['', 'two'])
  expect((await control('journal?scoop=two', { method: 'DELETE' })).status).toBe(400)
  expect(await scopes()).toEqual(['', 'two'])
})

test('a body that is nested too deeply is shown as text, without its secrets', async () => {
  const { ask, control, page } = await platformAfter()
  const deep = `${'{"a":'.repeat(20_000)}"sk-local-StandinDevelopmentKeyDoNotDeploy41E9kt"${'}'.repeat(20_000)}`
  const body = `{"model":"gpt-4o-mini","messages":[],"metadata":${deep}}`
  const headers = { 'content-type': 'application/json' }
  await (await ask('/v1/chat/completions', { method: 'POST', headers, body })).text()
  const [entry] = (await page()).data
  expect(entry?.request.body).toMatch(/^\{"model":"gpt-4o-mini".*\{"a":/)
  const command = await control(`journal/${entry?.id}/curl`)
  expect(command.status).toBe(200)
  expect(await command.text()).not.toContain('sk-local-Standin')
})
