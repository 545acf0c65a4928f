import { usePlatform } from 'standin/vitest'
import supertest from 'supertest'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'

const platform = usePlatform({ env: true })

let app: typeof import('../src/desk.js').app
beforeAll(async () => {
  ;({ app } = await import('../src/desk.js'))
})

let token = ''
beforeEach(async () => {
  token = (await platform.signIn({ email: 'ada@example.com' })).accessToken
})

const ask = (question: string) => supertest(app).post('/ask').set('authorization', `Bearer ${token}`).send({ question })

test('a question is answered, and the model gets the id of the user', async () => {
  const greeting = await platform.reply('Have you tried turning it off?', { when: { user: /printer/ } })
  const { body } = await ask('My printer is on fire').expect(200)
  expect(body.answer).toBe('Have you tried turning it off?')
  expect(await greeting.count).toBe(1)
  await expect(platform).toHaveReceived({
    path: '/v1/chat/completions',
    model: 'gpt-4o-mini',
    body: { user: expect.any(String), messages: [{ role: 'system' }, { content: /printer/ }] },
  })
})

test('nothing is left over from other tests', async () => {
  expect(await platform.journal.count('/v1/*')).toBe(0)
  await expect(platform).not.toHaveReceived('/v1/chat/completions')
  const { body } = await ask('My printer is on fire').expect(200)
  expect(body.answer).not.toBe('Have you tried turning it off?')
})

test('a request without a session does not reach the model', async () => {
  await supertest(app).post('/ask').send({ question: 'x' }).expect(401)
  await expect(platform).not.toHaveReceived('/v1/*')
})

test('an expired session is refused', async () => {
  await platform.clock.advance(3_601_000)
  await ask('x').expect(401)
})

test('the app retries once, and fails after two errors', async () => {
  await platform.failNext({ status: 429, retryAfter: 0 })
  await ask('x').expect(200)
  await expect(platform).toHaveReceivedTimes(2, '/v1/chat/completions')
  await platform.failNext({ status: 503, retryAfter: 0 }, { times: 2 })
  await ask('y').expect(503, { error: 'The desk is closed.' })
  await expect(platform).toHaveReceivedLast({ status: 503, source: 'fault' })
})

test('the app passes a stream through', async () => {
  await platform.reply({ text: 'One moment please.' }, { pace: { tokensPerSecond: 200 } })
  const { text } = await supertest(app).post('/stream').send({ question: 'x' }).buffer(true)
  expect(text).toBe('One moment please.')
  expect(await platform.journal.waitFor({ stream: true })).toMatchObject({ complete: true })
})

describe('with its own rules', () => {
  const strict = usePlatform({
    strict: true,
    rules: [{ when: { user: 'hours' }, reply: { text: '9 to 5' } }],
    env: ({ url }) => ({ DESK_URL: url, OPENAI_BASE_URL: undefined }),
  })

  test('a group may have its own platform and environment variables', async () => {
    expect(strict.url).not.toBe(platform.url)
    expect(process.env.DESK_URL).toBe(strict.url)
    expect(process.env.OPENAI_BASE_URL).toBeUndefined()
  })
})

test('after the group the environment variables are restored', () => {
  expect(process.env.DESK_URL).toBeUndefined()
  expect(process.env.OPENAI_BASE_URL).toBe(`${platform.url}/v1`)
})
