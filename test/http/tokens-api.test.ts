import path from 'node:path'
import { expect, test } from 'vitest'
import { developmentUser } from '../../src/core/secrets.js'
import { run, startReady } from '../command.js'
import { written } from '../keys/edited.js'
import { adminOf, answerOf, claimsOf, type Place, sentences, signIn, userOf } from '../keys/people.js'
import { platformWith } from '../scene.js'
import { isUnknown, mustBe, oneOf } from '../sentences.js'

interface Minted {
  readonly token: string
  readonly expires_at: string
}

const posted = ({ url }: Pick<Place, 'url'>, body: unknown) =>
  fetch(`${url}/__standin/tokens`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

async function minted(place: Pick<Place, 'url'>, body: object = {}): Promise<Minted> {
  const response = await posted(place, body)
  expect(response.status).toBe(201)
  return (await response.json()) as Minted
}

test('a token without more is that of the development user, with a session, and says when it expires', async () => {
  const platform = await platformWith()
  const { token, expires_at } = await minted(platform)
  const claims = claimsOf(token)
  expect(claims).toMatchObject({ email: developmentUser.email, session_id: expect.any(String) })
  expect(Date.parse(expires_at)).toBe((claims.exp ?? 0) * 1000)
  expect(await answerOf(platform, token)).toBe('open')
  expect(await userOf(platform, token)).toBe((await signIn(platform, developmentUser)).id)
})

test('a user who does not exist yet is created, confirmed, and the same the next time', async () => {
  const platform = await platformWith()
  const [first, second] = [
    await minted(platform, { email: 'Grace@example.com' }),
    await minted(platform, { role: 'user', email: 'grace@example.com' }),
  ]
  expect(claimsOf(second.token).sub).toBe(claimsOf(first.token).sub)
  expect((await adminOf(platform).getUserById(String(claimsOf(first.token).sub))).data.user).toMatchObject({
    email: 'grace@example.com',
    email_confirmed_at: expect.any(String),
    app_metadata: { provider: 'email', providers: ['email'] },
  })
})

test('the command and the call mean the same user by an address', async () => {
  const ada = { email: 'ada@example.com', password: 'correct-horse', user_metadata: { name: 'Ada' } }
  const { ready, dir } = await startReady({ files: written({ state: 'file:kept/state.db', users: [ada] }) })
  for (const email of [ada.email, 'grace@example.com']) {
    const { stdout } = await run(['token', '--email', email, '--config', path.join(dir, 'platform.config.yaml')])
    const [byCommand, byCall] = [claimsOf(stdout.trim()), claimsOf((await minted(ready, { email })).token)]
    const { sub, role, email: address, app_metadata, user_metadata } = byCommand
    expect(byCall).toMatchObject({ sub, role, email: address, app_metadata, user_metadata })
  }
})

test('the anon and the service key are those of the platform, or live as long as is asked', async () => {
  const platform = await platformWith()
  const keys = await Promise.all(['anon', 'service'].map(role => minted(platform, { role })))
  expect(keys.map(({ token }) => token)).toEqual([platform.anonKey, platform.serviceKey])
  for (const { token, expires_at } of keys) expect(Date.parse(expires_at) / 1000).toBe(claimsOf(token).exp)
  const brief = await minted(platform, { role: 'service', expiresIn: 60 })
  expect(await answerOf(platform, brief.token, '/api/v1')).toBe('open')
  platform.clock.advance(61_000)
  expect(await answerOf(platform, brief.token, '/api/v1')).toBe(sentences.expired)
})

test.each(['anon', 'service', 'user'])('a token of the role %s may have expired already', async role => {
  const platform = await platformWith()
  const { token, expires_at } = await minted(platform, { role, expiresIn: -60 })
  expect(Date.parse(expires_at)).toBeLessThan(Date.now())
  expect(await answerOf(platform, token, '/api/v1')).toBe(sentences.expired)
})

test('a token lives from the moment that the clock shows', async () => {
  const platform = await platformWith()
  platform.clock.freeze()
  platform.clock.set(Date.UTC(2031, 0, 1))
  expect((await minted(platform, { expiresIn: 60 })).expires_at).toBe('2031-01-01T00:01:00.000Z')
})

const seconds = 'a whole number of seconds from -9999999999 to 9999999999'

test.each([
  [{ role: 'admin' }, mustBe('role', oneOf('anon', 'service', 'user'), 'admin')],
  [{ email: 'ada' }, mustBe('email', 'an email address', 'ada')],
  [{ email: 7 }, mustBe('email', 'an email address', 7)],
  [{ email: `${'a'.repeat(250)}@example.com` }, expect.stringMatching(/^email .* an email address, not "a+…\.$/)],
  [
    { role: 'anon', email: 'ada@example.com' },
    mustBe('email', 'left out if role is anon or service', 'ada@example.com'),
  ],
  [{ expiresIn: '1h' }, mustBe('expiresIn', seconds, '1h')],
  [{ expiresIn: 1e10 }, mustBe('expiresIn', seconds, 10000000000)],
  [{ expiresIn: 0.5 }, mustBe('expiresIn', 'a whole number of seconds', 0.5)],
  [{ expires_in: 60 }, `expires_in ${isUnknown('expiresIn')}`],
])('%j is refused in a sentence that names the field, and creates no user', async (body, error) => {
  const platform = await platformWith()
  const response = await posted(platform, body)
  expect([response.status, await response.json()]).toEqual([400, { error }])
  expect((await adminOf(platform).listUsers()).data.users).toHaveLength(1)
})

test('users of a live backend have their tokens from there; the keys of this platform are its own', async () => {
  const platform = await platformWith({ auth: { mode: 'proxy' }, upstream: { authUrl: 'https://live.test' } })
  const response = await posted(platform, { email: 'ada@example.com' })
  expect([response.status, await response.json()]).toEqual([
    409,
    { error: 'auth.mode is proxy: users and their tokens are those of the live backend.' },
  ])
  expect((await minted(platform, { role: 'anon' })).token).toBe(platform.anonKey)
})

test('tokens are made by POST alone, and not for pages of another origin', async () => {
  const { ask } = await platformWith()
  const response = await ask('/__standin/tokens', { bearer: null })
  expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST'])
  const foreign = await ask('/__standin/tokens', {
    method: 'POST',
    bearer: null,
    headers: { origin: 'http://a.example' },
  })
  expect(foreign.status).toBe(403)
})
