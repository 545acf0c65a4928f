import { expect, test } from 'vitest'
import { type Backend, backendWith, newcomer } from './backend.js'

/** The statuses with which the auth backend and the platform answer a token. */
async function statusesFor(backend: Backend, bearer: string) {
  const platform = await fetch(`${backend.url}/v1/models`, { headers: { authorization: `Bearer ${bearer}` } })
  const body = JSON.parse(await platform.text())
  if (platform.status === 401) expect(body).toEqual({ error: expect.any(String) })
  return [(await backend.ask('/user', { bearer })).status, platform.status]
}

const changes: readonly [string, (backend: Backend, who: Awaited<ReturnType<typeof newcomer>>) => Promise<unknown>][] =
  [
    ['signed out', ({ ask }, { access_token }) => ask('/logout', { method: 'POST', bearer: access_token })],
    ['banned', ({ admin }, { user }) => admin.updateUserById(user.id, { ban_duration: '1h' })],
    ['deleted', ({ admin }, { user }) => admin.deleteUser(user.id)],
    ['soft-deleted', ({ admin }, { user }) => admin.deleteUser(user.id, true)],
    ['given a new password', ({ admin }, { user }) => admin.updateUserById(user.id, { password: 'battery staple' })],
  ]

test.each(changes)('the token of a user who was %s is refused at once', async (_what, change) => {
  const backend = await backendWith()
  const who = await newcomer(backend)
  expect(await statusesFor(backend, who.access_token)).toEqual([200, 200])
  await change(backend, who)
  expect(await statusesFor(backend, who.access_token)).toEqual([403, 401])
})

test('a new password keeps the session that set it and ends all others', async () => {
  const backend = await backendWith()
  const { email, password, access_token } = await newcomer(backend)
  const { data } = await backend.client().auth.signInWithPassword({ email, password })
  await backend.ask('/user', { method: 'PUT', body: { password: 'battery staple' }, bearer: access_token })
  expect(await statusesFor(backend, access_token)).toEqual([200, 200])
  expect(await statusesFor(backend, data.session?.access_token ?? '')).toEqual([403, 401])
})

test('the anon key of the gateway grants no access to the platform', async () => {
  const backend = await backendWith()
  expect((await statusesFor(backend, backend.anonKey))[1]).toBe(401)
})
