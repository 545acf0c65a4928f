import path from 'node:path'
import { createClient } from '@supabase/supabase-js'
import { expect, test } from 'vitest'
import ws from 'ws'
import { run, startReady } from '../command.js'
import { written } from '../keys/edited.js'
import { claimsOf, clientOf } from '../keys/people.js'
import { platformWith, type Scene } from '../scene.js'

const sessions = '/__standin/sessions'
const bare = { bearer: null } as const
const ada = { email: 'ada@example.com', password: 'correct horse battery' }
const grace = { email: 'grace@example.com', password: 'correct horse battery' }

/** Signs in, and returns what a client has then. */
async function signedIn(platform: Scene, person = ada) {
  const { auth } = clientOf(platform, platform.anonKey)
  const { data } = await auth.signInWithPassword(person)
  if (!data.session) throw new Error('The user is not signed in.')
  return { auth, token: data.session.access_token, refresh: data.session.refresh_token, userId: data.session.user.id }
}

interface Listed {
  readonly id: string
  readonly email: string
  readonly user_id: string
}

const listed = async ({ ask }: Scene, query = '') =>
  (await (await ask(sessions + query, bare)).json()) as { readonly data: readonly Listed[]; readonly total: number }

const statusWith = async ({ ask }: Scene, bearer: string) => (await ask('/v1/models', { bearer })).status

const scene = () => platformWith({ users: [ada, grace] })

test('open sessions are listed, newest first, without their tokens', async () => {
  const platform = await scene()
  const first = await signedIn(platform)
  const second = await signedIn(platform, grace)
  const { data, total } = await listed(platform)
  expect(total).toBe(2)
  expect(new Set(data.map(({ email }) => email))).toEqual(new Set([ada.email, grace.email]))
  expect(data[0]).toEqual({
    id: expect.any(String),
    user_id: expect.any(String),
    email: expect.any(String),
    phone: null,
    is_anonymous: false,
    created_at: expect.any(String),
    refreshed_at: null,
    token_expires_at: expect.any(String),
    aal: 'aal1',
    methods: ['password'],
  })
  const text = JSON.stringify(data)
  for (const { token, refresh } of [first, second]) {
    expect(text).not.toContain(token)
    expect(text).not.toContain(refresh)
  }
})

test('ending a session revokes its access token and its refresh token immediately', async () => {
  const platform = await scene()
  const gone = await signedIn(platform)
  const stays = await signedIn(platform)
  expect([await statusWith(platform, gone.token), await statusWith(platform, stays.token)]).toEqual([200, 200])
  const { sid } = { sid: JSON.parse(Buffer.from(gone.token.split('.')[1] ?? '', 'base64url').toString()).session_id }
  expect((await platform.ask(`${sessions}/${sid}`, { ...bare, method: 'DELETE' })).status).toBe(204)
  expect([await statusWith(platform, gone.token), await statusWith(platform, stays.token)]).toEqual([401, 200])
  expect((await gone.auth.refreshSession({ refresh_token: gone.refresh })).error?.code).toBe('refresh_token_not_found')
  expect((await stays.auth.refreshSession({ refresh_token: stays.refresh })).error).toBeNull()
  const again = await platform.ask(`${sessions}/${sid}`, { ...bare, method: 'DELETE' })
  expect([again.status, await again.json()]).toEqual([404, { error: `There is no session "${sid}", or it has ended.` }])
})

/** A platform whose developer has just asked to reset the password. */
async function afterRecovery() {
  const platform = await platformWith({ auth: { testOtp: '123456', external: { phone: true } } })
  const { auth } = createClient(platform.authUrl, platform.anonKey, { realtime: { transport: ws as never } })
  const { error } = await auth.resetPasswordForEmail('developer@example.com')
  expect(error).toBeNull()
  return { ...platform, auth }
}

const messagesIn = async (response: Response) =>
  ((await response.json()) as { data: readonly { id: string; recipient: string; code: string; link: string }[] }).data

test('the outbox holds the unsent email, with its code and its link', async () => {
  const { ask, url } = await afterRecovery()
  const response = await ask('/__standin/outbox', { bearer: null })
  expect(response.status).toBe(200)
  const data = await messagesIn(response)
  expect(data).toHaveLength(1)
  expect(data[0]).toMatchObject({ kind: 'recovery', recipient: 'developer@example.com', code: '123456' })
  expect(data[0]?.link).toContain(`${url}/auth/v1/verify?`)
})

test('the newest message comes first, even while the clock is frozen or moved back', async () => {
  const { ask, auth, clock } = await afterRecovery()
  const outbox = async (query = '') => messagesIn(await ask(`/__standin/outbox${query}`, { bearer: null }))
  const send = (email: string) => auth.signInWithOtp({ email })
  const [first] = await outbox()
  await clock.freeze()
  await send('one@example.com')
  await send('two@example.com')
  await clock.advance(-60_000)
  await send('three@example.com')
  const later = await outbox(`?after=${first?.id}`)
  expect(later.map(({ recipient }) => recipient)).toEqual(['three@example.com', 'two@example.com', 'one@example.com'])
})

test('the outbox finds a phone number with and without its plus', async () => {
  const { ask, auth } = await afterRecovery()
  await auth.signInWithOtp({ phone: '+15550100200' })
  for (const search of ['+1555', '1555', '+1 555 010 0200']) {
    const response = await ask(`/__standin/outbox?search=${encodeURIComponent(search)}`, { bearer: null })
    expect((await messagesIn(response)).map(({ recipient }) => recipient)).toEqual(['15550100200'])
  }
})

test('the command and the API mean the same user by an email address', async () => {
  const ada = { email: 'ada@example.com', password: 'correct-horse', user_metadata: { name: 'Ada' } }
  const { ready, dir } = await startReady({ files: written({ state: 'file:kept/state.db', users: [ada] }) })
  for (const email of [ada.email, 'grace@example.com']) {
    const { stdout } = await run(['token', '--email', email, '--config', path.join(dir, 'platform.config.yaml')])
    const { sub, role, app_metadata, user_metadata } = claimsOf(stdout.trim())
    const response = await fetch(`${ready.url}/__standin/sessions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email }),
    })
    const { access_token } = (await response.json()) as { access_token: string }
    expect(claimsOf(access_token)).toMatchObject({ sub, role, email, app_metadata, user_metadata })
  }
})
