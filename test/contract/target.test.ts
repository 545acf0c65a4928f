/** A target is called with care: within a budget, waiting when it asks for that, and without revealing its secrets. */
import type { RequestListener } from 'node:http'
import { expect, test } from 'vitest'
import { type Call, clauses, createTarget, judgeAll, type TargetOptions, wantedOf } from '../../src/contract/index.js'
import { liveWith } from '../recordings/live.js'
import { jwtLike } from './tokens.js'

const health: Call = { to: 'platform', method: 'GET', path: '/health', headers: {} }
const path = (path: string): Call => ({ ...health, path })

const json = { 'content-type': 'application/json' }
const fine: RequestListener = (_, response) => void response.writeHead(200, json).end('{}')

const targetOf = async (answer: RequestListener, options: Partial<TargetOptions> = {}) => {
  const live = await liveWith(answer)
  return { ...createTarget({ url: live.url, ...options }), seen: live.seen }
}

test('all requests go below the base address, which may have a path of its own', async () => {
  const live = await liveWith(
    ({ url }, response) => void response.writeHead(404, json).end(JSON.stringify({ error: 'No.', path: url })),
  )
  const target = createTarget({ url: `${live.url}/ai/`, apiKey: 'sk-one', anonKey: 'sk-two' })
  const findings = await judgeAll({ target, table: clauses, wanted: wantedOf(clauses, 'ERR-1.*,ERR-2,ERR-3') })
  expect(live.seen.map(({ request }) => request.url)).toEqual([
    '/ai/v1/there-is-no-such-path',
    '/ai/api/v1/there-is-no-such-path',
    '/ai/there-is-no-such-path',
    '/ai/health/there-is-no-such-path',
    '/ai/v1/there-is-no-such-path',
  ])
  expect(findings.map(({ verdict }) => verdict.kind)).toEqual(Array.from({ length: 7 }, () => 'held'))
})

/** The verdicts on these clauses, by their ids. */
async function verdictsOn(only: string, answer: RequestListener, options: Partial<TargetOptions>) {
  const target = await targetOf(answer, options)
  const findings = await judgeAll({ target, table: clauses, wanted: wantedOf(clauses, only) })
  return Object.fromEntries(
    findings.map(({ clause, verdict }) => [clause.id, verdict.kind === 'skipped' ? verdict.why : verdict.kind]),
  )
}

const nowhere: RequestListener = ({ url }, response) =>
  void response.writeHead(404, json).end(JSON.stringify({ error: 'No.', path: url }))
const aboutIndex = 'EP-2,INDEX-*,AUTH-1.1,AUTH-1.2,AUTH-1.5,AUTH-3.2,AUTH-6.1,AUTH-6.2,AUTH-D6'

test('a missing API index is one breach, not one for each credential', async () => {
  const verdicts = await verdictsOn(aboutIndex, nowhere, { apiKey: 'sk-one', anonKey: jwtLike('anon') })
  const { 'EP-2': there, ...others } = verdicts
  expect(there).toBe('broken')
  expect(Object.keys(others)).toHaveLength(12)
  expect(new Set(Object.values(others))).toEqual(new Set(['EP-2 is broken']))
})

test('an API index that answers 404 to callers without its key breaks the clauses about them', async () => {
  const hidden: RequestListener = (request, response) =>
    request.headers.authorization === 'Bearer sk-two'
      ? void response.writeHead(200, json).end('{"status":"ok","endpoints":[]}')
      : nowhere(request, response)
  expect(await verdictsOn('EP-2,AUTH-6.1,AUTH-6.2', hidden, { anonKey: 'sk-two' })).toEqual({
    ...{ 'EP-2': 'held', 'AUTH-6.1': 'broken', 'AUTH-6.2': 'broken' },
  })
})

test('one string as both keys is not a breach', async () => {
  const same = 'the API key and the anon key are the same'
  expect(await verdictsOn('AUTH-D5,AUTH-D6', fine, { apiKey: 'sk-one', anonKey: 'sk-one' })).toEqual({
    ...{ 'AUTH-D5': same, 'AUTH-D6': same },
  })
})

test('the status of an error is judged even if its format is wrong', async () => {
  const refusing =
    (status: number): RequestListener =>
    (_, response) =>
      void response.writeHead(status, json).end('{"message":"Bad request."}')
  const options = { apiKey: 'sk-one', model: 'one' }
  expect(await verdictsOn('ERR-5,CHAT-D6', refusing(422), options)).toEqual({ 'ERR-5': 'broken', 'CHAT-D6': 'broken' })
  expect(await verdictsOn('ERR-5,CHAT-D6', refusing(400), options)).toEqual({
    'ERR-5': 'broken',
    'CHAT-D6': 'the status is right, but the body is not an error object (ERR-5)',
  })
})

test('a rate limit breaks no clause, and clauses that it stops are skipped', async () => {
  const target = await targetOf(
    (_, response) => void response.writeHead(429, { ...json, 'retry-after': '0' }).end('{"error":"Slow down."}'),
  )
  const findings = await judgeAll({
    target,
    table: clauses,
    wanted: wantedOf(clauses, 'EP-1,AUTH-6.1,AUTH-6.2,ERR-1.*'),
  })
  const kinds = new Set(findings.map(({ verdict }) => verdict.kind))
  expect([...kinds]).toEqual(['skipped'])
})

test('a rate limit must have the format of every error', async () => {
  const target = await targetOf((_, response) => void response.writeHead(429, json).end('{"message":"Slow down."}'), {
    ...{ apiKey: 'sk-one', model: 'one' },
  })
  const findings = await judgeAll({ target, table: clauses, wanted: wantedOf(clauses, 'ERR-5') })
  expect(findings.map(({ verdict }) => verdict.kind)).toEqual(['broken'])
})

test('a target that asks for a short wait is called again, and every try is counted', async () => {
  let left = 2
  const target = await targetOf((_, response) => {
    if (left-- > 0) return void response.writeHead(429, { 'retry-after': '0' }).end()
    response.writeHead(200, json).end('{}')
  })
  expect(await target.ask(health)).toMatchObject({ status: 200 })
  expect(target.calls()).toBe(3)
})

test('a target that asks for a long wait is not called again', async () => {
  const target = await targetOf((_, response) => void response.writeHead(429, { 'retry-after': '86400' }).end())
  expect(await target.ask(health)).toMatchObject({ status: 429 })
  expect(target.calls()).toBe(1)
})

test('an answer that does not arrive or does not end counts as unanswered', async () => {
  const silent = await targetOf(() => {}, { timeoutMs: 100 })
  expect(await silent.ask(health)).toEqual({ kind: 'unanswered', why: 'none within 0.1 s' })
  const endless = await targetOf((_, response) => void response.writeHead(200).write('{"status"'), { timeoutMs: 300 })
  expect(await endless.ask(health)).toEqual({ kind: 'unanswered', why: 'none within 0.3 s' })
  const cut = await targetOf((_, response) => {
    response.writeHead(200).write('{"status"', () => response.destroy())
  })
  expect(await cut.ask(health)).toMatchObject({ kind: 'unanswered', why: /^the answer broke off/ })
})

test('an endless answer is cut off', async () => {
  const target = await targetOf((_, response) => {
    response.on('error', () => {})
    const pour = (): void => {
      while (!response.destroyed && response.write('x'.repeat(65_536)));
      if (!response.destroyed) response.once('drain', pour)
    }
    pour()
  })
  expect(await target.ask(health)).toMatchObject({ kind: 'unanswered', why: /larger than 4000000 bytes/ })
})

test('a redirect counts as an answer, and credentials are not sent to its target', async () => {
  const elsewhere = await liveWith(fine)
  const target = await targetOf((_, response) => void response.writeHead(302, { location: elsewhere.url }).end())
  expect(await target.ask(health)).toMatchObject({ status: 302 })
  expect(elsewhere.seen).toHaveLength(0)
})

test('a target that fails to answer three times is not called any more', async () => {
  const { url, close } = await liveWith(fine)
  await close()
  const target = createTarget({ url, apiKey: 'sk-one', anonKey: 'sk-two' })
  await judgeAll({ target, table: clauses, wanted: clauses })
  expect(target.calls()).toBe(3)
  expect(target.unreachable()).toBe('ECONNREFUSED')
})

test('a stopped run sends no more requests', async () => {
  const controller = new AbortController()
  const target = await targetOf(fine, { signal: controller.signal })
  await target.ask(health)
  controller.abort()
  await expect(target.ask(path('/api/v1'))).rejects.toThrow('it was stopped')
})

test('max_tokens is left out if the target does not know it, and only its own clause is broken', async () => {
  const asked: string[] = []
  const live = await liveWith((_, response) => {
    const body = live.seen.at(-1)?.body ?? ''
    asked.push(body)
    const status = body.includes('max_tokens') ? 400 : 200
    response.writeHead(status, json).end(JSON.stringify(status === 400 ? { error: 'max_tokens is not known.' } : {}))
  })
  const target = createTarget({ url: live.url, apiKey: 'sk-one', model: 'one' })
  const wanted = wantedOf(clauses, 'EP-3,CHAT-1,CHAT-D5')
  const findings = await judgeAll({ target, table: clauses, wanted })
  expect(findings.map(({ clause, verdict }) => [clause.id, verdict.kind])).toEqual([
    ['EP-3', 'held'],
    ['CHAT-1', 'held'],
    ['CHAT-D5', 'broken'],
  ])
  expect(asked).toHaveLength(2)
})

test('every call to the model asks for a single token, and almost all others only read', async () => {
  const live = await liveWith(fine)
  const target = createTarget({ url: live.url, apiKey: 'sk-one', anonKey: 'sk-two', model: 'one' })
  await judgeAll({ target, table: clauses, wanted: clauses })
  const asked = live.seen.filter(({ request }) => request.url === '/v1/chat/completions' && request.method === 'POST')
  const bodies = asked.map(({ body }) => body).filter(body => body.startsWith('{"'))
  const meant = bodies.filter(body => JSON.parse(body).max_tokens !== undefined)
  expect(meant.every(body => JSON.parse(body).max_tokens === 1)).toBe(true)
  const methods = new Set(live.seen.map(({ request }) => `${request.method} ${request.url?.split('?')[0]}`))
  expect([...methods].filter(method => !/^(GET|OPTIONS) /.test(method)).sort()).toEqual([
    'POST /v1/chat/completions',
    'POST /v1/there-is-no-such-path',
  ])
})

test('a secret at the border of what a report shows is hidden as a whole', async () => {
  const apiKey = 'sk-live-0123456789abcdef'
  const target = await targetOf((_, response) => void response.writeHead(500).end(`${'x'.repeat(390)}${apiKey}`), {
    apiKey,
  })
  const { answered } = target.shown(health, await target.ask(health))
  expect(answered).toContain('xxx[api-key]')
  expect(answered).not.toContain('sk-live')
})
