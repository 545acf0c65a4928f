import { expect, test } from 'vitest'
import type { JournalEntry } from '../../src/journal/index.js'
import { hello, platformWith } from '../scene.js'
import { isUnknown, mustBe, wholeNumber } from '../sentences.js'

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
