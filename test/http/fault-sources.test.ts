import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { Exchange } from '../../src/core/exchange.js'
import type { Fault } from '../../src/core/fault.js'
import { createChances, createFaults, FaultCalls } from '../../src/faults/index.js'
import { openPlatform } from '../../src/platform.js'
import { folderWith } from '../command.js'
import { exchangeWith } from '../exchanges.js'
import { hello, platformWith } from '../scene.js'
import { isUnknown, mustBe, oneOf, range } from '../sentences.js'

const withFault = (fault: string) => ({ headers: { 'x-standin-fault': fault } })
/** Open to anyone on the auth backend. */
const jwks = '/auth/v1/.well-known/jwks.json'
const statusOf = async (response: Promise<Response>) => (await response).status

// By header.

test('a wrong credential is refused before the fault header is read', async () => {
  const { ask } = await platformWith()
  for (const fault of ['status=503', 'nonsense', 'hang']) {
    expect(await statusOf(ask('/v1/models', { bearer: 'sk-local-nobody', ...withFault(fault) }))).toBe(401)
  }
})

test('the fault header takes precedence over an invalid request', async () => {
  const { chat } = await platformWith()
  expect(await statusOf(chat({ model: 'nobody' }, withFault('status=503')))).toBe(503)
  const delayed = await chat({ model: 'nobody' }, withFault('delayMs=5'))
  expect([delayed.status, await delayed.json()]).toEqual([400, { error: expect.stringContaining('messages') }])
})

test.each([
  ['status=200', mustBe('status', range('an HTTP status', 400, 599), 200)],
  ['stauts=503', `stauts ${isUnknown('status')}`],
  ['reset', mustBe('reset', oneOf('before', 'mid-body'), true)],
  ['', 'it is no fault: it must say what goes wrong, such as status or delayMs.'],
  ['status=503; cut=3', 'cut is not possible together with status.'],
  ['reset=before; truncate', 'truncate is not possible together with reset: before.'],
  ['end=3; cut=3', 'end is not possible together with cut.'],
  ['delayMs=5; retryAfter=5', 'retryAfter is only for a fault with status.'],
])('an invalid fault header is refused with the reason: %s', async (fault, sentence) => {
  const { ask } = await platformWith()
  for (const path of ['/v1/models', jwks]) {
    const response = await ask(path, { ...withFault(fault) })
    expect(response.status).toBe(400)
    const { error, msg } = (await response.json()) as { error?: string; msg?: string }
    expect(error ?? msg).toBe(`Header x-standin-fault: ${sentence}`)
  }
})

// By call.

test('pending faults wait in line for the requests that they match', async () => {
  const { ask, chat, failNext } = await platformWith()
  await failNext({ status: 500 }, { path: '/v1/models' })
  await failNext({ status: 502 }, { method: 'POST' })
  await failNext({ status: 503 }, { path: '/v1/*' })
  expect(await statusOf(chat(hello))).toBe(502)
  expect(await statusOf(ask('/health'))).toBe(200)
  expect(await statusOf(ask('/v1/models'))).toBe(500)
  expect(await statusOf(ask('/v1/models'))).toBe(503)
  expect(await statusOf(ask('/v1/models'))).toBe(200)
})

test('a request that is refused, or has a fault header, does not use up a pending fault', async () => {
  const { ask, chat, failNext } = await platformWith()
  await failNext({ status: 503 })
  expect(await statusOf(ask('/v1/models', { bearer: null }))).toBe(401)
  expect(await statusOf(ask('/nowhere'))).toBe(404)
  expect(await statusOf(ask('/v1/models', { method: 'OPTIONS' }))).toBe(204)
  expect(await statusOf(chat(hello, withFault('status=418')))).toBe(418)
  expect(await statusOf(ask(jwks))).toBe(200)
  expect(await statusOf(chat(hello))).toBe(503)
})

// By call over HTTP.

const post = (body: unknown, headers = {}) => ({
  method: 'POST',
  bearer: null,
  body: typeof body === 'string' ? body : JSON.stringify(body),
  headers: { 'content-type': 'application/json', ...headers },
})

test('faults can be added, listed and taken back over HTTP', async () => {
  const { ask, chat } = await platformWith()
  const call = { fault: { status: 503, message: 'Later.' }, times: 2, path: '/v1/*', method: 'POST' }
  const made = await ask('/__standin/faults', post(call))
  expect(made.status).toBe(201)
  const { id } = (await made.json()) as { id: string }
  const failed = await chat(hello)
  expect([failed.status, await failed.json()]).toEqual([503, { error: 'Later.' }])
  const says = 'the next request POST /v1/*: status=503'
  const situation = await (await ask('/__standin/situation', { bearer: null })).json()
  expect(situation).toMatchObject({ data: [{ what: 'mode' }, { what: 'faults', says, undo: id }] })
  expect(await statusOf(ask(`/__standin/situation/${id}`, { method: 'DELETE', bearer: null }))).toBe(204)
  expect(await statusOf(chat(hello))).toBe(200)
})

// By rule, at random, and which comes first.

/** A request as the line passes it on. */
const exchange = (body = '', path = '/v1/chat/completions', fault?: string) =>
  exchangeWith({ path, headers: fault === undefined ? {} : { 'x-standin-fault': fault }, body: Buffer.from(body) })

const always = (fault: Fault) => ({ ...fault, chance: 1, path: '/v1/*' })

/** Chooses the fault of a request, in the order in which the line asks. */
function chooserWith(random: Parameters<typeof createFaults>[0]['random'], seed = 1) {
  const calls = new FaultCalls()
  const faults = createFaults({ random, seed, calls, chances: createChances() })
  const choose = (request: Exchange, ruled?: Fault) =>
    faults.requested(request) ?? faults.ruledOrRandom(request, { fault: ruled })
  return { calls, choose }
}

test('the header comes before failNext, failNext before the rule, the rule before random faults', () => {
  const { calls, choose } = chooserWith([always({ status: 504 })])
  calls.add({ fault: { status: 502 }, times: 1 })
  const rule = { status: 503 }
  expect(choose(exchange('', undefined, 'status=501'), rule)).toEqual({ fault: { status: 501 }, by: 'x-standin-fault' })
  expect(choose(exchange(), rule)).toEqual({ fault: { status: 502 }, by: 'one-shot' })
  expect(choose(exchange(), rule)).toEqual({ fault: rule })
  expect(choose(exchange())).toMatchObject({ fault: { status: 504 }, by: 'faults.random[0]' })
})

test('random faults apply to the platform and to the auth backend', async () => {
  const random = [
    { status: 503, chance: 1 },
    { status: 429, chance: 1, path: '/auth/v1/*' },
  ]
  const { ask, chat } = await platformWith({ faults: { random } })
  expect(await statusOf(ask('/health'))).toBe(200)
  expect(await statusOf(ask('/v1/models'))).toBe(503)
  expect(await statusOf(chat(hello))).toBe(503)
  expect(await statusOf(ask(jwks))).toBe(429)
})

// Over a reload.

test('pending faults survive a reload, and the other settings are read again', async () => {
  const cwd = folderWith({ 'platform.config.yaml': 'port: 0\nstate: memory\n' })
  const platform = await openPlatform({ cwd })
  onTestFinished(() => platform.stop())
  platform.faultCalls.add({ fault: { status: 503 }, times: 1 })
  writeFileSync(
    path.join(cwd, 'platform.config.yaml'),
    'port: 0\nstate: memory\nfaults: { random: [{ status: 502, chance: 1 }] }\n',
  )
  await platform.reload()
  const ask = () => fetch(`${platform.url}/v1/models`, { headers: { authorization: `Bearer ${platform.apiKey}` } })
  expect(await statusOf(ask())).toBe(503)
  expect(await statusOf(ask())).toBe(502)
})
