/** What several processes with one PostgreSQL share, and what each has for itself, as docs/one-for-many.md says. */
import { describe, expect, onTestFinished, test } from 'vitest'
import { type PlatformOptions, startPlatform } from '../../src/index.js'
import { postgres } from '../postgres.js'
import { hello } from '../scene.js'

const server = postgres()

/** Two platforms behind one load balancer. */
async function two() {
  const resources: PlatformOptions['resources'] = { '/notes': {} }
  const options = { state: (await server?.freshDatabase()) ?? '', resources }
  const both = [await startPlatform(options), await startPlatform(options)] as const
  onTestFinished(async () => {
    for (const platform of both) await platform.stop()
  })
  return both
}

type One = Awaited<ReturnType<typeof two>>[0]

const chat = ({ url }: One, bearer: string) =>
  fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
    body: JSON.stringify(hello),
  })

describe.runIf(server)('two processes with one PostgreSQL', () => {
  test('share users, sessions, keys, rows of resources and the outbox', async () => {
    const [one, other] = await two()
    const { accessToken } = await one.signIn({ email: 'ada@example.com' })
    expect((await chat(other, accessToken)).status).toBe(200)
    expect((await chat(other, await one.createKey({ user: 'ada@example.com' }))).status).toBe(200)
    await one.resource('/notes').insert({ title: 'Seen by both' })
    expect(await other.resource('/notes').rows()).toMatchObject([{ title: 'Seen by both' }])
    const headers = { apikey: one.anonKey, 'content-type': 'application/json' }
    const body = JSON.stringify({ email: 'ada@example.com' })
    await fetch(`${one.authUrl}/auth/v1/recover`, { method: 'POST', headers, body })
    expect(await other.outbox.messages()).toMatchObject([{ to: 'ada@example.com' }])
  })

  test('have replies, faults, holds, scopes, journal, mode and clock of their own', async () => {
    const [one, other] = await two()
    await one.reply('Said by one.')
    await one.failNext({ status: 503 })
    await one.hold({ when: { user: 'nothing' } })
    await one.switchMode('replay')
    await one.clock.advance(60_000)
    const scope = await one.scope('a test')
    await scope.reply('Said in a scope.')
    const response = await chat(other, scope.apiKey)
    expect(response.status).toBe(200)
    expect(await response.text()).not.toContain('Said')
    expect([await one.mode, await other.mode]).toEqual(['replay', 'emulate'])
    expect(await one.journal.count()).toBe(0)
    expect(await other.journal.count()).toBe(1)
    await other.expectHoldsReached()
    expect((await one.clock.now()) - (await other.clock.now())).toBeGreaterThan(50_000)
  })
})
