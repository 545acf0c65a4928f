import { expect, test } from 'vitest'
import { clientOf } from '../keys/people.js'
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

test('one user can be signed out everywhere, and no other user with them', async () => {
  const platform = await scene()
  const mine = [await signedIn(platform), await signedIn(platform)]
  const other = await signedIn(platform, grace)
  const response = await platform.ask(`${sessions}?user=${mine[0]?.userId}`, { ...bare, method: 'DELETE' })
  expect(response.status).toBe(204)
  for (const { token } of mine) expect(await statusWith(platform, token)).toBe(401)
  expect(await statusWith(platform, other.token)).toBe(200)
  expect((await listed(platform)).data.map(({ email }) => email)).toEqual([grace.email])
  await platform.ask(sessions, { ...bare, method: 'DELETE' })
  expect(await statusWith(platform, other.token)).toBe(401)
  expect((await listed(platform)).total).toBe(0)
})

test('sessions can be searched by the email address of their user, and paged through', async () => {
  const platform = await platformWith({ users: [ada, grace] })
  for (let i = 0; i < 5; i++) await signedIn(platform)
  await signedIn(platform, grace)
  expect(await listed(platform, '?search=GRACE')).toMatchObject({ total: 1, data: [{ email: grace.email }] })
  expect((await listed(platform, '?search=ada&limit=2&offset=4')).data).toHaveLength(1)
  expect((await listed(platform, '?limit=2&offset=4')).data).toHaveLength(2)
  expect((await listed(platform, '?search=nobody')).total).toBe(0)
})
