import { usePlatform } from 'standin/vitest'
import supertest from 'supertest'
import { beforeAll, expect, test } from 'vitest'

const platform = usePlatform({ env: true })

let app: typeof import('../src/desk.js').app
beforeAll(async () => {
  ;({ app } = await import('../src/desk.js'))
})

test('the code from the email signs in', async () => {
  await supertest(app).post('/login').send({ email: 'ada@example.com' }).expect(202)
  const { code } = await platform.outbox.waitFor({ to: 'ada@example.com' })
  const { body } = await supertest(app).post('/login').send({ email: 'ada@example.com', code }).expect(200)
  await supertest(app).post('/ask').set('authorization', `Bearer ${body.token}`).send({ question: 'x' }).expect(200)
  await expect(platform).toHaveReceived({ path: '/auth/v1/verify', method: 'POST', status: 200 })
})

test('an expired code does not sign in', async () => {
  expect(await platform.outbox.messages()).toEqual([])
  await supertest(app).post('/login').send({ email: 'ada@example.com' }).expect(202)
  const { code } = await platform.outbox.waitFor({ to: 'ada@example.com' })
  await platform.clock.advance(86_400_000)
  await supertest(app).post('/login').send({ email: 'ada@example.com', code }).expect(401, { error: 'otp_expired' })
})
