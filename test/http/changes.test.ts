import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openPlatform } from '../../src/platform.js'
import { hello, platformWith } from '../scene.js'
import { mustBe, NEEDS_LIVE, range } from '../sentences.js'
import { control } from './controlled.js'

/** A platform with a configuration file that a test can edit. */
async function edited(config: object) {
  const dir = mkdtempSync(path.join(tmpdir(), 'standin-changes-'))
  const file = path.join(dir, 'platform.config.yaml')
  const write = (written: object) => writeFileSync(file, JSON.stringify({ state: 'memory', port: 0, ...written }))
  write(config)
  const platform = await openPlatform({ cwd: dir, file })
  onTestFinished(async () => {
    await platform.stop()
    rmSync(dir, { recursive: true, force: true })
  })
  const edit = async (written: object) => {
    write(written)
    await platform.reload()
  }
  return { platform, edit }
}

test('run-time changes survive an edit of other settings; an edit of the same setting wins', async () => {
  const { platform, edit } = await edited({})
  await control(platform, 'PUT /pace', { firstTokenMs: 1, models: { 'gpt-4o': { jitter: 1 } } })
  await control(platform, 'PUT /limits', { requestsPerMinute: 50 })
  await control(platform, 'PUT /faults/random', { random: [{ chance: 0, hang: true }] })
  const changed = () =>
    Promise.all(
      ['/pace', '/limits', '/faults/random'].map(
        async path => (await control(platform, `GET ${path}`)).body.isChanged as boolean,
      ),
    )
  await edit({ version: '1.0.1' })
  expect(await changed()).toEqual([true, true, true])
  expect((await control(platform, 'GET /pace')).body.inForce).toMatchObject({ models: { 'gpt-4o': { jitter: 1 } } })
  await edit({ version: '1.0.1', limits: { requestsPerMinute: 9 } })
  expect(await changed()).toEqual([true, false, true])
  expect((await control(platform, 'GET /limits')).body.inForce.requestsPerMinute).toBe(9)
  await edit({ version: '1.0.1', models: [{ id: 'mine', pace: { jitter: 0.1 } }] })
  expect(await changed()).toEqual([false, false, true])
  await edit({ version: '1.0.1', faults: { random: [{ chance: 0.5, hang: true }] } })
  expect(await changed()).toEqual([false, false, false])
})

test('a full reset restores the configuration; a reset of one scope keeps changes that apply to all scopes', async () => {
  const platform = await platformWith({ pace: { tokensPerSecond: 500 } })
  await control(platform, 'PUT /pace', { tokensPerSecond: 600 })
  await control(platform, 'PUT /limits', { requestsPerMinute: 50 })
  await control(platform, 'POST /reset', { scope: 'one' })
  expect((await control(platform, 'GET /pace')).body.inForce.tokensPerSecond).toBe(600)
  expect((await control(platform, 'GET /limits')).body.isChanged).toBe(true)
  await control(platform, 'POST /reset')
  expect((await control(platform, 'GET /pace')).body.inForce.tokensPerSecond).toBe(500)
  expect((await control(platform, 'GET /limits')).body.isChanged).toBe(false)
})

test('random faults can be set and removed at run time', async () => {
  const platform = await platformWith()
  const always = { chance: 1, status: 503 }
  const { body } = await control(platform, 'PUT /faults/random', { random: [always] })
  expect(body).toEqual({ inForce: [{ ...always, path: '/v1/*' }], configured: [], isChanged: true })
  expect((await platform.chat(hello)).status).toBe(503)
  await control(platform, 'DELETE /faults/random')
  expect((await platform.chat(hello)).status).toBe(200)
  expect(await control(platform, 'PUT /faults/random', { random: [{ chance: 2, hang: true }] })).toEqual({
    status: 400,
    body: { error: mustBe('random[0].chance', range('a number', 0, 1), 2) },
  })
})

test('a pending fault can be deleted by its id', async () => {
  const platform = await platformWith()
  const { id } = (await control(platform, 'POST /faults', { fault: { status: 500 } })).body
  await control(platform, 'POST /faults', { fault: { status: 503 } })
  expect(await control(platform, `DELETE /faults/${id}`)).toEqual({ status: 204, body: undefined })
  expect((await platform.chat(hello)).status).toBe(503)
  expect(await control(platform, `DELETE /faults/${id}`)).toEqual({
    status: 404,
    body: { error: `There is no waiting fault with the id "${id}".` },
  })
})

test('the list of modes says why one is unavailable, and DELETE restores the configured mode', async () => {
  const platform = await platformWith({ modes: { 'GET /v1/models': 'replay' } })
  const needs = NEEDS_LIVE
  const configured = { mode: 'emulate', modes: { 'GET /v1/models': 'replay' } }
  expect((await control(platform, 'GET /mode/choices')).body).toEqual({
    data: [
      { mode: 'emulate' },
      { mode: 'proxy', reason: `The mode proxy ${needs}` },
      { mode: 'record', reason: `The mode record ${needs}` },
      { mode: 'replay' },
    ],
    configured,
  })
  await control(platform, 'PUT /mode', { mode: 'replay' })
  expect((await control(platform, 'DELETE /mode')).body).toEqual(configured)
  expect((await control(platform, 'GET /mode')).body).toEqual(configured)
})
