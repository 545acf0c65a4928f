import path from 'node:path'
import { expect, test } from 'vitest'
import { developmentUser } from '../../src/core/secrets.js'
import { run, startReady } from '../command.js'
import { written } from '../keys/edited.js'
import { adminOf, answerOf, claimsOf, type Place, sentences, signIn, userOf } from '../keys/people.js'
import { platformWith } from '../scene.js'
import { isUnknown, mustBe, oneOf } from '../sentences.js'

interface MintedToken {
  readonly token: string
  readonly expires_at: string
}

const post = ({ url }: Pick<Place, 'url'>, body: unknown) =>
  fetch(`${url}/__standin/tokens`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

async function mint(place: Pick<Place, 'url'>, body: object = {}): Promise<MintedToken> {
  const response = await post(place, body)
  expect(response.status).toBe(201)
  return (await response.json()) as MintedToken
}

test('by default a token is for the development user, with a session, and comes with its expiry', async () => {
  const platform = await platformWith()
  const { token, expires_at } = await mint(platform)
  const claims = claimsOf(token)
  expect(claims).toMatchObject({ email: developmentUser.email, session_id: expect.any(String) })
  expect(Date.parse(expires_at)).toBe((claims.exp ?? 0) * 1000)
  expect(await answerOf(platform, token)).toBe('open')
  expect(await userOf(platform, token)).toBe((await signIn(platform, developmentUser)).id)
})

test('a user who does not exist yet is created as confirmed, and used again the next time', async () => {
  const platform = await platformWith()
  const [first, second] = [
    await mint(platform, { email: 'Grace@example.com' }),
    await mint(platform, { role: 'user', email: 'grace@example.com' }),
  ]
  expect(claimsOf(second.token).sub).toBe(claimsOf(first.token).sub)
  expect((await adminOf(platform).getUserById(String(claimsOf(first.token).sub))).data.user).toMatchObject({
    email: 'grace@example.com',
    email_confirmed_at: expect.any(String),
    app_metadata: { provider: 'email', providers: ['email'] },
  })
})

test('the command and the API mean the same user by an email address', async () => {
  const ada = { email: 'ada@example.com', password: 'correct-horse', user_metadata: { name: 'Ada' } }
  const { ready, dir } = await startReady({ files: written({ state: 'file:kept/state.db', users: [ada] }) })
  for (const email of [ada.email, 'grace@example.com']) {
    const { stdout } = await run(['token', '--email', email, '--config', path.join(dir, 'platform.config.yaml')])
    const [byCommand, byCall] = [claimsOf(stdout.trim()), claimsOf((await mint(ready, { email })).token)]
    const { sub, role, email: address, app_metadata, user_metadata } = byCommand
    expect(byCall).toMatchObject({ sub, role, email: address, app_metadata, user_metadata })
  }
})

test("the anon and the service key are the platform's own, unless the caller sets a lifetime", async () => {
  const platform = await platformWith()
  const keys = await Promise.all(['anon', 'service'].map(role => mint(platform, { role })))
  expect(keys.map(({ token }) => token)).toEqual([platform.anonKey, platform.serviceKey])
  for (const { token, expires_at } of keys) expect(Date.parse(expires_at) / 1000).toBe(claimsOf(token).exp)
  const brief = await mint(platform, { role: 'service', expiresIn: 60 })
  expect(await answerOf(platform, brief.token, '/api/v1')).toBe('open')
  platform.clock.advance(61_000)
  expect(await answerOf(platform, brief.token, '/api/v1')).toBe(sentences.expired)
})

test.each(['anon', 'service', 'user'])('a token of the role %s can be created as expired', async role => {
  const platform = await platformWith()
  const { token, expires_at } = await mint(platform, { role, expiresIn: -60 })
  expect(Date.parse(expires_at)).toBeLessThan(Date.now())
  expect(await answerOf(platform, token, '/api/v1')).toBe(sentences.expired)
})

const seconds = 'a whole number of seconds from -9999999999 to 9999999999'

test.each([
  [{ role: 'admin' }, mustBe('role', oneOf('anon', 'service', 'user'), 'admin')],
  [{ email: 'ada' }, mustBe('email', 'an email address', 'ada')],
  [
    { role: 'anon', email: 'ada@example.com' },
    mustBe('email', 'left out if role is anon or service', 'ada@example.com'),
  ],
  [{ expiresIn: '1h' }, mustBe('expiresIn', seconds, '1h')],
  [{ expires_in: 60 }, `expires_in ${isUnknown('expiresIn')}`],
])('%j is refused with an error that names the field, and creates no user', async (body, error) => {
  const platform = await platformWith()
  const response = await post(platform, body)
  expect([response.status, await response.json()]).toEqual([400, { error }])
  expect((await adminOf(platform).listUsers()).data.users).toHaveLength(1)
})

test('with a live auth backend no user token can be created, but the keys of this platform can', async () => {
  const platform = await platformWith({ auth: { mode: 'proxy' }, upstream: { authUrl: 'https://live.test' } })
  const response = await post(platform, { email: 'ada@example.com' })
  expect([response.status, await response.json()]).toEqual([
    409,
    { error: 'auth.mode is proxy: users and their tokens are those of the live backend.' },
  ])
  expect((await mint(platform, { role: 'anon' })).token).toBe(platform.anonKey)
})
