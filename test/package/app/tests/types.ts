/** What editors offer, and what the compiler refuses; nothing here is executed. */
import { createServer } from 'node:http'
import { after, afterEach, before, beforeEach } from 'node:test'
import express from 'express'
import { type ConnectedPlatform, connect, type Platform, type SharedPlatform, startPlatform } from 'standin'
import { assertReceived, createUsePlatform } from 'standin/test-runner'
import { usePlatform } from 'standin/vitest'
import { expect } from 'vitest'

export async function right(platform: Platform): Promise<readonly string[]> {
  await platform.reply({ when: { user: /x/ }, reply: { text: 'y' }, times: 1 })
  const given = await platform.reply(['one', { json: { two: 2 } }], { name: 'numbers' })
  const entries = await platform.journal.waitFor({ status: '4xx', model: /gpt/ }, { count: 2 })
  const [{ session }, mail] = await Promise.all([platform.signIn(), platform.outbox.waitFor({ channel: 'sms' })])
  await (await platform.scope('a')).failNext({ status: 429 }, { when: { user: 'x' } })
  usePlatform({ env: ({ env, url }) => ({ ...env, MY_URL: url }), mode: 'replay', reset: { state: false } })
  createServer(platform.handler)
  express().use('/ai', platform.handler)
  createUsePlatform({ beforeAll: before, beforeEach, afterEach, afterAll: after })({ env: true })
  await expect(await platform.scope('a')).toHaveReceivedTimes(1, ({ request }) => request.bytes > 0)
  await expect(platform).toHaveCalledTool('get_weather', { city: 'Oslo' })
  await expect(platform).not.toHaveHandled('truncation')
  await (await platform.scope('a')).mcp.tool('get_weather').reply({ structuredContent: { celsius: -3 } }, { times: 1 })
  return [given.id, session.access_token, platform.env.OPENAI_API_KEY, mail.code ?? '', ...entries.map(({ id }) => id)]
}

export async function elsewhere(): Promise<number> {
  const connected = await connect('http://127.0.0.1:4100', { controlToken: 'secret' })
  const got: Promise<void> = expect(connected).toHaveReceived({ path: '/v1/*' })
  const called: Promise<void> = expect(connected).toHaveCalledTool('get_weather')
  const received: Promise<void> = assertReceived(await connected.scope('a'), '/v1/*')
  const platforms: readonly SharedPlatform[] = [connected, await startPlatform()]
  await Promise.all([got, called, received, ...platforms.map(either => either.failNext({ status: 503 }))])
  return connected.journal.count({ status: '4xx' })
}

export async function wrongElsewhere(connected: ConnectedPlatform): Promise<void> {
  // @ts-expect-error: it is a promise here
  const count: number = connected.journal.count()
  // @ts-expect-error: there is no such part of an exchange
  await connected.journal.find({ modle: String(count) })
}

export async function wrong(platform: Platform): Promise<void> {
  // @ts-expect-error: there is no such part of an exchange
  await platform.journal.count({ modle: 'x' })
  // @ts-expect-error: there is no such fault
  await platform.failNext({ stauts: 500 })
  // @ts-expect-error: there is no such condition
  await platform.reply({ when: { usr: 'x' }, reply: { text: 'y' } })
  // @ts-expect-error: there is no such option
  await startPlatform({ prot: 1 })
  // @ts-expect-error: there is no such part of an exchange
  await expect(platform).toHaveReceived({ pth: '/v1/*' })
  // @ts-expect-error: arguments are an object
  await expect(platform).toHaveCalledTool('get_weather', 'Oslo')
  // @ts-expect-error: the count comes first
  await expect(platform).toHaveReceivedTimes('/v1/*')
}
