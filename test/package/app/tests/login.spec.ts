import { usePlatform } from 'standin/vitest'
import supertest from 'supertest'
import { beforeAll, expect, test } from 'vitest'

const platform = usePlatform({ env: true })

let app: typeof import('../src/desk.js').app
beforeAll(async () => {
  ;({ app } = await import('../src/desk.js'))
})

test('a code from the mail signs in', async () => {
  await supertest(app).post('/login').send({ email: 'ada@example.com' }).expect(202)
  const { code } = await platform.outbox.waitFor({ to: 'ada@example.com' })
  const { body } = await supertest(app).post('/login').send({ email: 'ada@example.com', code }).expect(200)
  await supertest(app).post('/ask').set('authorization', `Bearer ${body.token}`).send({ question: 'x' }).expect(200)
  expect(platform).toHaveReceived({ path: '/auth/v1/verify', method: 'POST', status: 200 })
})

test('a code that is too old does not', async () => {
  expect(await platform.outbox.messages()).toEqual([])
  await supertest(app).post('/login').send({ email: 'ada@example.com' }).expect(202)
  const { code } = await platform.outbox.waitFor({ to: 'ada@example.com' })
  platform.clock.advance(86_400_000)
  await supertest(app).post('/login').send({ email: 'ada@example.com', code }).expect(401, { error: 'otp_expired' })
})
